package engine

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"missingscore/internal/panics"
	"missingscore/internal/simd"
	"missingscore/losses"
	"missingscore/trainers/source"
)

// With a normal model and an objective that weights coordinates (losses.RowWeighted) the loss
// depends on the rows through losses.WeightedMoments. A step on these takes d³ operations.

const (
	// mostWeighted is the size that moments may always have; above it at most the size of the rows.
	mostWeighted = 1 << 21
	// weightedRead is the number of moments read in the time of one row.
	weightedRead = 16
)

// condenseWeighted returns the weighted moments of rows; nil if a row's loss has another form or if
// moments would be slower or larger than the rows.
func condenseWeighted(p Problem, rows []int, counts []float64, workers int) *condensed {
	d, n := p.Table.D, len(rows)
	centre, shared := make([]float64, d), true
	ok := eachWeighted(p, rows, counts, func(r *weightedRow) {
		floats.AddScaled(centre, 1/float64(n), r.x)
		for _, g := range r.g {
			shared = shared && g == r.g[0]
		}
	})
	sets := d
	if shared {
		sets = 1
	}
	if !ok || 2*d > n || sets*d > weightedRead*n || sets*d*d > max(mostWeighted, n*d) {
		return nil
	}
	m := &losses.WeightedMoments{Centre: centre, Quadratic: make([]losses.Moments, sets), Slope: make([]losses.Moments, d)}
	pool := panics.NewGroup()
	for w := range workers { // one worker per coordinate, in the order of the rows
		pool.Go(func() error {
			b := &weightedBlock{m: m, z: make([]float64, togetherCondensed*d), g: make([]float64, togetherCondensed*d), part: make([]float64, togetherCondensed*d)}
			for j := w; j < d; j += workers {
				b.slopes = append(b.slopes, j)
				m.Slope[j].First = make([]float64, d)
				if j < sets {
					b.quadratics = append(b.quadratics, j)
					m.Quadratic[j] = losses.Moments{First: make([]float64, d), Second: make([]float64, d*d)}
				}
			}
			eachWeighted(p, rows, counts, b.add)
			b.multiply()
			for _, j := range b.quadratics {
				mirror(m.Quadratic[j].Second, d)
			}
			return nil
		})
	}
	if err := pool.Wait(); err != nil {
		panic(err)
	}
	return &condensed{weighted: m}
}

func (e *Engine) byMoments(m *losses.WeightedMoments, weight float64) (Step, error) {
	p := e.programs[m]
	if p == nil {
		normal, err := source.NormalModel(e.Model, "a step on moments")
		if err != nil {
			return Step{}, err
		}
		if p, err = m.Program(normal); err != nil {
			return Step{}, err
		}
		e.programs[m] = p
	}
	p.Input(losses.InputWeight)[0] = weight
	if err := p.Run(); err != nil {
		return Step{}, err
	}
	s := Step{Loss: p.Output(losses.OutputReported)[0], EffectiveSize: math.NaN()}
	for _, q := range e.params {
		s.Grads = append(s.Grads, p.Grad(q))
	}
	return s, nil
}

// weightedRow is a row with 0 for missing cells, its mask, g and g' (d), and its count.
type weightedRow struct {
	x, mask, g, slope []float64
	count             float64
}

// eachWeighted visits rows in order. ok is false if the loss of a row has another form.
func eachWeighted(p Problem, rows []int, counts []float64, visit func(r *weightedRow)) (ok bool) {
	t, d := p.Table, p.Table.D
	numbers := make([]float64, 4*d)
	r := &weightedRow{x: numbers[:d], mask: numbers[d : 2*d], g: numbers[2*d : 3*d], slope: numbers[3*d:]}
	weights := p.Objective.(losses.RowWeighted).RowWeights()
	for _, row := range rows {
		simd.Seen(r.x, r.mask, t.Values[row*d:(row+1)*d], t.Observed[row*d:(row+1)*d])
		if r.count = countOf(counts, row); !weights(r.x, r.mask, r.g, r.slope) {
			return false
		}
		visit(r)
	}
	return true
}

// weightedBlock holds rows that are multiplied together.
type weightedBlock struct {
	m                  *losses.WeightedMoments
	slopes, quadratics []int     // coordinates
	n                  int       // number of rows
	z, g, part         []float64 // (n, d): centred rows, and g times the count
}

func (b *weightedBlock) add(r *weightedRow) {
	d := len(r.x)
	z, g := b.z[b.n*d:(b.n+1)*d], b.g[b.n*d:(b.n+1)*d]
	floats.SubTo(z, r.x, b.m.Centre)
	floats.ScaleTo(g, r.count, r.g)
	for _, j := range b.quadratics {
		add(&b.m.Quadratic[j], g[j], z)
	}
	for _, j := range b.slopes {
		if r.slope[j] != 0 {
			add(&b.m.Slope[j], r.count*r.slope[j], z)
		}
	}
	if b.n++; b.n == togetherCondensed {
		b.multiply()
	}
}

func (b *weightedBlock) multiply() {
	d := len(b.m.Centre)
	for _, j := range b.quadratics {
		for i := range b.n {
			floats.ScaleTo(b.part[i*d:(i+1)*d], math.Sqrt(b.g[i*d+j]), b.z[i*d:(i+1)*d])
		}
		blas64.Syrk(blas.Trans, 1, blas64.General{Rows: b.n, Cols: d, Stride: d, Data: b.part}, 1, blas64.Symmetric{N: d, Stride: d, Data: b.m.Quadratic[j].Second, Uplo: blas.Upper})
	}
	b.n = 0
}

// mirror copies the upper triangle of a (d, d) matrix to the lower one.
func mirror(x []float64, d int) {
	for a := range d {
		for b := range a {
			x[a*d+b] = x[b*d+a]
		}
	}
}

func add(m *losses.Moments, w float64, z []float64) {
	m.Number += w
	floats.AddScaled(m.First, w, z)
}
