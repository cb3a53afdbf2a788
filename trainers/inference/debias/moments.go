package debias

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// moments are what one step needs of an equation at θ = (location, packed P): the rows'
// gradients and the Hessian of their mean. The location is μ, or η = Pμ.
type moments struct {
	d        int
	n        int     // rows taken
	total    float64 // as often as they count, or the sum of their weights
	squares  float64 // sum of the squares of their weights; as total without
	gradient []float64
	rows     *mat.Dense    // each row's gradient times its weight, (n, θ); nil if not kept
	outer    *outer        // of many rows in place of these; centred
	hessian  *mat.SymDense // expected under MCAR, or of the rows themselves
	observed *mat.SymDense // of the rows themselves, where the Hessian is expected; nil: not asked for
	variance *mat.SymDense // of a row's gradient by the model; nil: not known, or the Hessian itself
}

// parameters is the length of θ for d columns.
func parameters(d int) int { return d + d*(d+1)/2 }

// keptGradients is how many numbers the rows' gradients have at most that are kept.
var keptGradients = 1 << 22 // tests change it

// tooMany tells whether the gradients of n rows are not kept, but their products are summed.
func tooMany(n, size int) bool { return n > 2*size && n*size > keptGradients }

// newMoments has room for what errors by the rows need of n rows' gradients, if it is asked for.
func newMoments(d, n int, keep bool, workers int) *moments {
	size := parameters(d)
	m := &moments{d: d, gradient: make([]float64, size), hessian: mat.NewSymDense(size, nil)}
	switch {
	case keep && tooMany(n, size):
		m.outer = newOuter(size, workers)
	case keep:
		m.rows = mat.NewDense(n, size, nil)
	}
	return m
}

// take adds a row's gradient as often as it counts, or times its sampling weight: by the
// location, and by each cell (j, k) of P, two of which an off-diagonal coordinate moves.
func (m *moments) take(count float64, sampled bool, location []float64, cell func(j, k int) float64) {
	var g []float64
	switch {
	case m.rows != nil:
		g = m.rows.RawRowView(m.n)
	case m.outer != nil:
		g = m.outer.next()
	default:
		g = make([]float64, len(m.gradient))
	}
	at := copy(g, location)
	for j := range m.d {
		g[at] = cell(j, j)
		at++
		for k := j + 1; k < m.d; k++ {
			g[at] = cell(j, k) + cell(k, j)
			at++
		}
	}
	floats.AddScaled(m.gradient, count, g)
	m.n++
	m.total += count
	if !sampled {
		m.squares += count
		return
	}
	m.squares += count * count
	floats.Scale(count, g)
}

// average turns the sum of gradients into their mean, when all rows are taken.
func (m *moments) average() {
	if m.outer != nil {
		m.outer.centre(m.gradient, m.n)
	}
	floats.Scale(1/m.total, m.gradient)
}

// setLocation writes a block (d, d) to that of the location.
func setLocation(h *mat.SymDense, block mat.Matrix) {
	d, _ := block.Dims()
	for j := range d {
		for k := j; k < d; k++ {
			h.SetSym(j, k, (block.At(j, k)+block.At(k, j))/2)
		}
	}
}

// symmetric is the symmetric part of a.
func symmetric(a *mat.Dense) *mat.SymDense {
	d, _ := a.Dims()
	s := mat.NewSymDense(d, nil)
	setLocation(s, a)
	return s
}
