package diagnose

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// atOnce rows are multiplied at a time.
const atOnce = 512

// pairSums are, of some columns in units that keep them small, sums over the rows that have
// both of two columns, (d, d): their number, those of one column in the rows of another, of
// its squares, and of products.
type pairSums struct {
	d                              int
	number, own, squares, products []float64
}

// gathered are some rows of some columns: values in units of the columns, 0 where missing,
// masks and squares, (n, d).
type gathered struct {
	d, n                 int
	value, mask, squares []float64
	complete             bool // no cell is missing
}

func newGathered(d int) *gathered {
	return &gathered{d: d, value: make([]float64, atOnce*d), mask: make([]float64, atOnce*d), squares: make([]float64, atOnce*d)}
}

// gather reads rows from a first one on.
func (g *gathered) gather(e *examined, columns []int, first int) {
	t := e.after
	g.n, g.complete = min(atOnce, t.N-first), true
	for i := range g.n {
		values, seen := t.Values[(first+i)*t.D:(first+i+1)*t.D], t.Observed[(first+i)*t.D:(first+i+1)*t.D]
		value, mask := g.value[i*g.d:(i+1)*g.d], g.mask[i*g.d:(i+1)*g.d]
		for k, j := range columns {
			if value[k], mask[k] = 0, 0; seen[j] {
				value[k], mask[k] = (values[j]-e.units[j].mean)/e.units[j].sd, 1
			} else {
				g.complete = false
			}
		}
	}
}

func (g *gathered) matrix(x []float64) blas64.General {
	return blas64.General{Rows: g.n, Cols: g.d, Stride: g.d, Data: x[:g.n*g.d]}
}

// pairs takes the sums of columns as they are modelled.
func (e *examined) pairs(columns []int) pairSums {
	d := len(columns)
	square := func() []float64 { return make([]float64, d*d) }
	s := pairSums{d: d, number: square(), own: square(), squares: square(), products: square()}
	g, to := newGathered(d), func(x []float64) blas64.General { return blas64.General{Rows: d, Cols: d, Stride: d, Data: x} }
	for first := 0; first < e.after.N; first += atOnce {
		g.gather(e, columns, first)
		if g.complete {
			s.addComplete(g)
			continue
		}
		for i, v := range g.value[:g.n*d] {
			g.squares[i] = v * v
		}
		value, mask := g.matrix(g.value), g.matrix(g.mask)
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, mask, mask, 1, to(s.number))
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, value, mask, 1, to(s.own))
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, g.matrix(g.squares), mask, 1, to(s.squares))
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, value, value, 1, to(s.products))
	}
	return s
}

// addComplete adds rows without a gap, whose sums for a column are the same with all others.
func (s *pairSums) addComplete(g *gathered) {
	d := s.d
	sums, products := make([]float64, d), blas64.Symmetric{Uplo: blas.Upper, N: d, Stride: d, Data: make([]float64, d*d)}
	for i := range g.n {
		floats.Add(sums, g.value[i*d:(i+1)*d])
	}
	blas64.Syrk(blas.Trans, 1, g.matrix(g.value), 0, products)
	for a := range d {
		for b := range d {
			s.number[a*d+b] += float64(g.n)
			s.own[a*d+b] += sums[a]
			s.squares[a*d+b] += products.Data[a*d+a]
			s.products[a*d+b] += products.Data[min(a, b)*d+max(a, b)]
		}
	}
}

// unexplained is 1 − r² of two columns over the rows that have both, 1 where these are few.
func (s *pairSums) unexplained(a, b int) float64 {
	at, back := a*s.d+b, b*s.d+a
	n := s.number[at]
	if n < fewestRows {
		return 1
	}
	x, y := s.own[at], s.own[back]
	covariance, u, v := s.products[at]-x*y/n, s.squares[at]-x*x/n, s.squares[back]-y*y/n
	if !(u > 0 && v > 0) {
		return 1
	}
	return 1 - covariance*covariance/(u*v)
}

// correlation is that of columns at some places, if each of rows has all of them and they are
// enough (enoughComplete); else nil.
func (s *pairSums) correlation(places []int, rows int) *mat.SymDense {
	if len(places) < 2 || !enoughComplete(rows, len(places)) {
		return nil
	}
	r, n := mat.NewSymDense(len(places), nil), float64(rows)
	for k, a := range places {
		if s.number[a*s.d+a] != n {
			return nil
		}
		for l, b := range places[:k+1] {
			r.SetSym(k, l, s.products[a*s.d+b]-s.own[a*s.d+a]*s.own[b*s.d+b]/n)
		}
	}
	return correlationOf(r)
}

// correlationOf makes a correlation of a matrix of covariances.
func correlationOf(c *mat.SymDense) *mat.SymDense {
	sd := make([]float64, c.SymmetricDim())
	for k := range sd {
		sd[k] = math.Sqrt(c.At(k, k))
	}
	for k := range sd {
		for l := k; l < len(sd); l++ {
			c.SetSym(k, l, c.At(k, l)/(sd[k]*sd[l]))
		}
	}
	return c
}

// complete is the correlation of some columns over the rows that have all of them, n.
func (e *examined) complete(columns []int) (r *mat.SymDense, n int) {
	d := len(columns)
	g, mean := newGathered(d), make([]float64, d)
	each := func(visit func()) {
		for first := 0; first < e.after.N; first += atOnce {
			g.gather(e, columns, first)
			g.keepComplete()
			visit()
		}
	}
	each(func() {
		n += g.n
		for i := range g.n {
			floats.Add(mean, g.value[i*d:(i+1)*d])
		}
	})
	if n == 0 {
		return nil, 0
	}
	floats.Scale(1/float64(n), mean)
	r = mat.NewSymDense(d, nil)
	each(func() {
		for i := range g.n {
			floats.Sub(g.value[i*d:(i+1)*d], mean)
		}
		if g.n > 0 {
			blas64.Syrk(blas.Trans, 1, g.matrix(g.value), 1, r.RawSymmetric())
		}
	})
	return correlationOf(r), n
}

// keepComplete keeps the rows without a gap.
func (g *gathered) keepComplete() {
	if g.complete {
		return
	}
	kept := 0
	for i := range g.n {
		if !slices.Contains(g.mask[i*g.d:(i+1)*g.d], 0) {
			copy(g.value[kept*g.d:(kept+1)*g.d], g.value[i*g.d:(i+1)*g.d])
			kept++
		}
	}
	g.n = kept
}
