package source

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/simd"
)

// independent draws from normals, restricted to the domain.
type independent struct {
	r          int
	normals    func(b *data.Batch) (normals, error)
	restricted restricted
	free       unrestricted[float64]
	singles    unrestricted[float32]
}

type normals struct {
	mean  []float64 // (b, d), or (d) for all rows
	sd    []float64 // (d)
	scale []float64 // (b), nil: all 1
}

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

func (c *independent) Complete(b *data.Batch, x, logProposal []float64, rng *Stream) error {
	n, err := c.normals(b)
	s := &c.restricted
	if err != nil {
		return err
	}
	if !s.domain.Bounded() {
		return c.free.complete(b, x, logProposal, n, rng.Normals)
	}
	clear(x[len(b.Rows)*c.r*b.D:]) // padding
	return n.each(b, &s.deviations, func(i int, mask, mean []float64) error {
		if err := s.row(b.X[i*b.D:(i+1)*b.D], mask, mean); err != nil {
			return err
		}
		return s.draw(x[i*c.r*b.D:(i+1)*c.r*b.D], logProposal[i*c.r:(i+1)*c.r], rng)
	})
}

// CompleteSingle has no restrictions.
func (c *independent) CompleteSingle(b *data.Batch, x, logProposal []float32, rng *Stream) error {
	n, err := c.normals(b)
	if err != nil {
		return err
	}
	return c.singles.complete(b, x, logProposal, n, rng.Singles)
}

// RHat is for rows where rejection fails.
func (c *independent) RHat(b *data.Batch, rng *Stream) ([]float64, error) {
	rhat, s := make([]float64, len(b.Rows)), &c.restricted
	if !s.domain.Bounded() {
		return rhat, nil
	}
	n, err := c.normals(b)
	if err != nil {
		return nil, err
	}
	return rhat, n.each(b, &s.deviations, func(i int, mask, mean []float64) (err error) {
		if err = s.row(b.X[i*b.D:(i+1)*b.D], mask, mean); err == nil && s.several {
			rhat[i], err = s.rest.rhat(s.x, rng)
		}
		return err
	})
}

type unrestricted[T graph.Float] struct {
	deviations deviations
	gaps       simd.Gaps
	row        []T
	mean, sd   []T // of the missing cells
	z          []T // of all draws of a row
}

// complete writes each row r times.
func (f *unrestricted[T]) complete(b *data.Batch, x, logs []T, n normals, draw func([]T)) error {
	r, d := len(logs)/b.Size, b.D
	if f.z == nil {
		f.row, f.mean, f.sd, f.z = make([]T, d), make([]T, d), make([]T, d), make([]T, r*d)
	}
	clear(x[len(b.Rows)*r*d:]) // padding
	return n.each(b, &f.deviations, func(i int, mask, mean []float64) error {
		f.gaps.Set(mask)
		gaps, constant := len(f.gaps), 0.0
		for k, j := range f.gaps {
			constant -= f.deviations.log[j]
			f.mean[k], f.sd[k] = T(mean[j]), T(f.deviations.sd[j])
		}
		convert(f.row, b.X[i*d:i*d+d])
		draws := f.z[:r*gaps]
		draw(draws)
		log := logs[i*r : i*r+r]
		for k := range log {
			var square T
			for _, z := range draws[k*gaps : k*gaps+gaps] {
				square += z * z
			}
			log[k] = T(constant) - square/2
		}
		simd.Mul(draws, draws, f.sd[:gaps])
		simd.Add(draws, draws, f.mean[:gaps])
		simd.Scatter(x[i*r*d:(i+1)*r*d], f.row, draws, f.gaps)
		return nil
	})
}

func convert[T graph.Float](to []T, from []float64) {
	switch to := any(to).(type) {
	case []float32:
		simd.Narrow(to, from)
	case []float64:
		copy(to, from)
	}
}

// newProposal draws from N(0, sd²), the fixed p' of Marg-IW. The paper uses sd = 4.
func newProposal(s Setting) (Source, error) {
	d := s.Model.Dim()
	return NewNormals(make([]float64, d), slices.Repeat([]float64{s.ProposalSD}, d), s), nil
}

// NewNormals draws from N(mean_j, sd_j²), restricted to the setting's domain, for rows a x + σ ε
// from N(mean_j, a² sd_j² + σ²) with equal sd_j; ProposalSD is ignored.
func NewNormals(mean, sd []float64, s Setting) Source {
	var scale []float64
	return &independent{r: s.Draws, restricted: restricted{domain: s.Domain}, normals: func(b *data.Batch) (normals, error) {
		if b.Noise == nil {
			return normals{mean: mean, sd: sd}, nil
		}
		scale = scale[:0]
		for i, a := range b.Signal {
			scale = append(scale, math.Hypot(a, b.Noise[i]/sd[0]))
		}
		return normals{mean, sd, scale}, nil
	}}
}

var halfLog2Pi = 0.5 * math.Log(2*math.Pi) // constant of a normal log density
