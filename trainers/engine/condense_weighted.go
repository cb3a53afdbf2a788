package engine

import (
	"math"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	representing "missingscore/data/moments"
	"missingscore/internal/panics"
	"missingscore/internal/simd"
	"missingscore/losses"
)

// An objective that weights the coordinates of a row (losses.RowWeighted) has for a normal model,
// s_j = η_j − p_jᵀx, the loss
//
//	Σ_i a_i Σ_j g_ij (s_j(x_i)² − 2P_jj) + 2 g'_ij s_j(x_i)
//
// which depends on the rows by the moments Σ a g_j (x, 1)(x, 1)ᵀ and Σ a g'_j (x, 1) of every
// coordinate j. The first are those of at most d + 1 rows that count G_j/(d + 1), G_j = Σ a g_j
// (condense.go), with g = 1 at j and 0 elsewhere; the second those of one row for each sign of g',
// with g = 0. Where all coordinates of a row share one g, so do these rows.

// condenseWeighted makes rows with the same weighted moments; nil where a row's loss has another
// form, and where too few rows are saved.
func (e *Engine) condenseWeighted(rows []int) *condensed {
	d, n := e.Table.D, len(rows)
	centre, shared := make([]float64, d), true
	ok := e.eachWeighted(rows, func(r *weightedRow) {
		floats.AddScaled(centre, 1/float64(n), r.x)
		for _, g := range r.g {
			shared = shared && g == r.g[0]
		}
	})
	sets := d
	if shared {
		sets = 1
	}
	if !ok || 2*(sets*(d+1)+2*d) > n {
		return nil
	}
	moments := e.weightedMoments(rows, centre, sets)
	out := weightedRows{condensed: roomFor(e.Table, sets*(d+1)+2*d)}
	for j, m := range moments {
		if j < sets {
			out.addQuadratic(m, centre, j, shared)
		}
		out.addLinear(m.up, centre, j, 1)
		out.addLinear(m.down, centre, j, -1)
	}
	out.objective = e.Objective.(losses.RowWeighted).Given(out.g, out.slope)
	return out.condensed
}

// weightedRow is a row with 0 where a cell is missing, its mask, g and g' (d), and how often it counts.
type weightedRow struct {
	x, mask, g, slope []float64
	count             float64
}

// eachWeighted visits rows one after the other. It is not ok where the loss of one has another form.
func (e *Engine) eachWeighted(rows []int, visit func(r *weightedRow)) (ok bool) {
	t, d := e.Table, e.Table.D
	numbers := make([]float64, 4*d)
	r := &weightedRow{x: numbers[:d], mask: numbers[d : 2*d], g: numbers[2*d : 3*d], slope: numbers[3*d:]}
	weights := e.Objective.(losses.RowWeighted).RowWeights()
	for _, row := range rows {
		simd.Seen(r.x, r.mask, t.Values[row*d:(row+1)*d], t.Observed[row*d:(row+1)*d])
		if r.count = countOf(e.Counts, row); !weights(r.x, r.mask, r.g, r.slope) {
			return false
		}
		visit(r)
	}
	return true
}

// weightedSums are Σ w, Σ w z and Σ w zzᵀ, z the row less a centre.
type weightedSums struct {
	number float64
	first  []float64
	second *mat.SymDense
}

// coordinateMoments are those of one coordinate: by g, by g' where it is positive, and by −g'
// where it is negative.
type coordinateMoments struct{ quadratic, up, down weightedSums }

// weightedMoments are those of every coordinate, the quadratic ones of the first so many. Each
// is summed by one worker, in the order of the rows.
func (e *Engine) weightedMoments(rows []int, centre []float64, sets int) []coordinateMoments {
	d := e.Table.D
	moments := make([]coordinateMoments, d)
	var pool errgroup.Group
	for w := range len(e.workers) {
		pool.Go(func() error {
			return panics.Caught(func() error {
				for j := w; j < d; j += len(e.workers) {
					moments[j].up.first, moments[j].down.first = make([]float64, d), make([]float64, d)
					if j < sets {
						moments[j].quadratic = weightedSums{first: make([]float64, d), second: mat.NewSymDense(d, nil)}
					}
				}
				e.sumWeighted(rows, centre, func(j int) *coordinateMoments {
					if j%len(e.workers) != w {
						return nil
					}
					return &moments[j]
				})
				return nil
			})
		})
	}
	if err := pool.Wait(); err != nil {
		panic(err)
	}
	return moments
}

// sumWeighted adds the rows to the moments of those coordinates that have any.
func (e *Engine) sumWeighted(rows []int, centre []float64, of func(j int) *coordinateMoments) {
	d := e.Table.D
	z, g := make([]float64, togetherCondensed*d), make([]float64, togetherCondensed*d)
	part, n := make([]float64, togetherCondensed*d), 0
	multiply := func() {
		for j := range d {
			m := of(j)
			if m == nil || m.quadratic.second == nil {
				continue
			}
			for i := range n {
				floats.ScaleTo(part[i*d:(i+1)*d], math.Sqrt(g[i*d+j]), z[i*d:(i+1)*d])
			}
			blas64.Syrk(blas.Trans, 1, blas64.General{Rows: n, Cols: d, Stride: d, Data: part}, 1, m.quadratic.second.RawSymmetric())
		}
		n = 0
	}
	e.eachWeighted(rows, func(r *weightedRow) {
		x := z[n*d : (n+1)*d]
		floats.SubTo(x, r.x, centre)
		for j, weight := range r.g {
			g[n*d+j] = r.count * weight
			m := of(j)
			if m == nil {
				continue
			}
			if m.quadratic.second != nil {
				m.quadratic.add(r.count*weight, x)
			}
			if slope := r.count * r.slope[j]; slope > 0 {
				m.up.add(slope, x)
			} else if slope < 0 {
				m.down.add(-slope, x)
			}
		}
		if n++; n == togetherCondensed {
			multiply()
		}
	})
	multiply()
}

// add adds a row to Σ w and Σ w z.
func (s *weightedSums) add(w float64, z []float64) {
	s.number += w
	floats.AddScaled(s.first, w, z)
}

// mean is that of the rows by their weights.
func (s *weightedSums) mean(centre []float64) []float64 {
	m := make([]float64, len(centre))
	return floats.AddScaledTo(m, centre, 1/s.number, s.first)
}

// weightedRows are condensed rows with their g and g' (rows, d).
type weightedRows struct {
	*condensed
	g, slope []float64
}

// addQuadratic appends rows with g = 1 at j, or everywhere.
func (r *weightedRows) addQuadratic(m coordinateMoments, centre []float64, j int, everywhere bool) {
	s := m.quadratic
	if s.number == 0 {
		return
	}
	d := len(centre)
	covariance := mat.NewSymDense(d, nil)
	for a := range d {
		for b := a; b < d; b++ {
			covariance.SetSym(a, b, s.second.At(a, b)/s.number-s.first[a]/s.number*(s.first[b]/s.number))
		}
	}
	rows := representing.Representatives(s.mean(centre), covariance)
	n, _ := rows.Dims()
	for i := range n {
		g := r.append(rows.RawRowView(i), s.number/float64(n))
		for k := range g {
			if everywhere || k == j {
				g[k] = 1
			}
		}
	}
}

// addLinear appends a row with that slope at j.
func (r *weightedRows) addLinear(s weightedSums, centre []float64, j int, slope float64) {
	if s.number > 0 {
		r.append(s.mean(centre), s.number)
		r.slope[len(r.slope)-len(centre)+j] = slope
	}
}

// append appends a row without a gap whose weights are 0, which it gives.
func (r *weightedRows) append(x []float64, count float64) (g []float64) {
	d := len(x)
	observed := make([]bool, d)
	for j := range observed {
		observed[j] = true
	}
	r.add(observed, x, count)
	r.g, r.slope = append(r.g, make([]float64, d)...), append(r.slope, make([]float64, d)...)
	return r.g[len(r.g)-d:]
}
