package source

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/internal/stream"
)

// independent draws the missing cells of rows from independent normals, restricted to
// the domain where that has a boundary.
type independent struct {
	r          int
	restricted restricted
	free       unrestricted[float64]
	singles    unrestricted[float32]
	generator  stream.Singles
}

func newIndependent(r int, s *domain.Domain) independent {
	return independent{r: r, restricted: restricted{domain: s}}
}

// normals are those of a batch: row i's missing cells are N(mean_ij, scale_i² sd_j²).
type normals struct {
	mean  []float64 // (b, d), or (d) for all rows
	sd    []float64 // (d)
	scale []float64 // (b), nil for 1
}

// deviations are those of one row's normals.
type deviations struct {
	sd  []float64
	log []float64 // log σ_j + ½ log 2π
}

func (d *deviations) set(sd []float64, scale float64) {
	d.sd, d.log = append(d.sd[:0], sd...), d.log[:0]
	floats.Scale(scale, d.sd)
	for _, v := range d.sd {
		d.log = append(d.log, math.Log(v)+halfLog2Pi)
	}
}

// each calls f for the filled rows of a batch.
func (n normals) each(b *data.Batch, d *deviations, f func(i int, mask, mean []float64) error) error {
	d.set(n.sd, 1)
	for i, row := range b.Rows {
		if n.scale != nil {
			d.set(n.sd, n.scale[i])
		}
		mean := n.mean
		if len(mean) > b.D {
			mean = mean[i*b.D : (i+1)*b.D]
		}
		if err := f(i, b.Mask[i*b.D:(i+1)*b.D], mean); err != nil {
			return fmt.Errorf("row %d of the table: %w", row+1, err)
		}
	}
	return nil
}

// complete writes the rows of a batch r times each and draws their gaps.
func (c *independent) complete(b *data.Batch, x, logProposal []float64, n normals, rng *Stream) error {
	if s := &c.restricted; s.domain.Bounded() {
		clear(x[len(b.Rows)*c.r*b.D:]) // padding
		return n.each(b, &s.deviations, func(i int, mask, mean []float64) error {
			s.row(b.X[i*b.D:(i+1)*b.D], mask, mean)
			return s.draw(x[i*c.r*b.D:(i+1)*c.r*b.D], logProposal[i*c.r:(i+1)*c.r], rng)
		})
	}
	return c.free.complete(b, x, logProposal, n, rng.Normals)
}

// rhat is Chained's RHat.
func (c *independent) rhat(b *data.Batch, n normals, rng *Stream) ([]float64, error) {
	rhat := make([]float64, len(b.Rows))
	s, x := &c.restricted, make([]float64, b.D)
	if !s.domain.Bounded() {
		return rhat, nil
	}
	return rhat, n.each(b, &s.deviations, func(i int, mask, mean []float64) (err error) {
		s.row(b.X[i*b.D:(i+1)*b.D], mask, mean)
		rhat[i], err = s.rhat(x, rng)
		return err
	})
}

// completeSingle is complete for float32 and where nothing is restricted.
func (c *independent) completeSingle(b *data.Batch, x, logProposal []float32, n normals, rng *Stream) error {
	c.generator.From(rng)
	return c.singles.complete(b, x, logProposal, n, c.generator.Normals)
}
