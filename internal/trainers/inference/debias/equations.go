package debias

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/panics"
	"missingscore/losses"
)

type normal struct {
	d     int
	mu    []float64
	p     *mat.SymDense
	sigma *mat.SymDense // P⁻¹
}

func newNormal(mu []float64, p mat.Symmetric) (*normal, error) {
	d := len(mu)
	n := &normal{d: d, mu: mu, p: mat.NewSymDense(d, nil), sigma: mat.NewSymDense(d, nil)}
	n.p.CopySym(p)
	var c mat.Cholesky
	if !c.Factorize(n.p) || c.InverseTo(n.sigma) != nil {
		return nil, losses.ErrNotPositiveDefinite
	}
	return n, nil
}

// pattern has the quantities of rows with the same gaps m (docs/theory/inference.md#eq-pattern):
//
//	C = P_mm⁻¹, 0 elsewhere,   W = I − CP, 0 in the columns of m,   Σ̃ = Σ − C
//
// For z = x − μ, W z is δ̂ = E[x − μ | x_o]; it does not depend on the values in gaps.
type pattern struct {
	gaps  int           // number of missing columns
	share float64       // share of all rows with a value
	count []float64     // multiplicity or weight of each row
	c     *mat.SymDense // C (d, d)
	w     *mat.Dense    // W (d, d)
	s     *mat.SymDense // Σ̃ (d, d)
	delta *mat.Dense    // δ̂ (rows, d)
}

// groups returns the rows of each missingness pattern, without empty rows.
func groups(t *data.Table) (out [][]int, rows float64) {
	for _, g := range t.Patterns(t.AllRows()) {
		if slices.Contains(t.Observed[g[0]*t.D:(g[0]+1)*t.D], true) {
			out = append(out, g)
			for _, i := range g {
				rows += t.Weight(i)
			}
		}
	}
	return out, rows
}

// gapsOf returns the missing columns of row i.
func gapsOf(t *data.Table, i int) (gaps []int) {
	for j, seen := range t.Observed[i*t.D : (i+1)*t.D] {
		if !seen {
			gaps = append(gaps, j)
		}
	}
	return gaps
}

const (
	patternsTogether = 16 // patterns prepared in parallel
	patternRows      = 4096
)

// eachPattern prepares the patterns of a table in parallel and visits them in order. A pattern of
// more than patternRows rows is visited in parts.
func (n *normal) eachPattern(t *data.Table, workers int, visit func(*pattern)) error {
	whole, rows := groups(t)
	var all [][]int
	for _, g := range whole {
		all = slices.AppendSeq(all, slices.Chunk(g, patternRows))
	}
	for chunk := range slices.Chunk(all, patternsTogether) {
		ready := make([]*pattern, len(chunk))
		pool := panics.NewGroup()
		pool.SetLimit(max(1, workers))
		for k, g := range chunk {
			pool.Go(func() (err error) {
				if ready[k], err = n.pattern(t, g); err == nil {
					ready[k].share = floats.Sum(ready[k].count) / rows
				}
				return err
			})
		}
		if err := pool.Wait(); err != nil {
			return err
		}
		for _, q := range ready {
			visit(q)
		}
	}
	return nil
}

func (n *normal) pattern(t *data.Table, rows []int) (*pattern, error) {
	d, gaps := n.d, gapsOf(t, rows[0])
	q := &pattern{gaps: len(gaps), c: mat.NewSymDense(d, nil), w: mat.NewDense(d, d, nil), s: mat.NewSymDense(d, nil), delta: &mat.Dense{}}
	q.s.CopySym(n.sigma)
	for j := range d {
		q.w.Set(j, j, 1)
	}
	z := mat.NewDense(len(rows), d, nil)
	for a, i := range rows {
		q.count = append(q.count, t.Weight(i))
		for j, seen := range t.Observed[i*d : (i+1)*d] {
			if seen {
				z.Set(a, j, t.Values[i*d+j]-n.mu[j])
			}
		}
	}
	if m := len(gaps); m > 0 {
		c, ok := n.conditional(gaps)
		if !ok {
			return nil, losses.ErrNotPositiveDefinite
		}
		across, product := mat.NewDense(m, d, nil), mat.NewDense(m, d, nil) // P_m·, CP_m·
		for a, j := range gaps {
			across.SetRow(a, mat.Row(nil, j, n.p))
			for b := a; b < m; b++ {
				q.c.SetSym(j, gaps[b], c[a*m+b])
				q.s.SetSym(j, gaps[b], q.s.At(j, gaps[b])-c[a*m+b])
			}
		}
		product.Mul(mat.NewDense(m, m, c), across)
		product.Scale(-1, product)
		for a, j := range gaps {
			q.w.SetRow(j, product.RawRowView(a))
			for _, k := range gaps {
				q.w.Set(j, k, 0) // C P_mm = I
			}
		}
	}
	q.delta.Mul(z, q.w.T())
	return q, nil
}

// conditional returns P_mm⁻¹ (m, m). ok is false if P_mm is not positive definite.
func (n *normal) conditional(gaps []int) (c []float64, ok bool) {
	m := len(gaps)
	c = make([]float64, m*m)
	for a, j := range gaps {
		for b, k := range gaps {
			c[a*m+b] = n.p.At(j, k)
		}
	}
	l, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Upper, N: m, Stride: m, Data: c})
	if !ok {
		return nil, false
	}
	lapack64.Potri(l)
	for a := range m {
		for b := range a {
			c[a*m+b] = c[b*m+a]
		}
	}
	return c, true
}

// gradients visits the gradients of the pattern's rows with respect to θ = (μ, packed P). visit may
// change g but must not keep it. For −log p(x_o) (docs/theory/inference.md#eq-likelihood):
//
//	∂/∂μ = −Pδ̂,   ∂/∂P = ½(δ̂δ̂ᵀ − Σ̃)
//
// For the marginal loss −2 tr Q + ‖Q(x − μ)_o‖² (docs/theory/inference.md#eq-marginal), with y =
// Pδ̂, 0 in the gaps, and B = WWᵀ:
//
//	∂/∂μ = −2PWy,   ∂/∂P = −2B + δ̂(Wy)ᵀ + (Wy)δ̂ᵀ
func (q *pattern) gradients(n *normal, equation Equation, visit func(count float64, g []float64)) {
	d := n.d
	y, slope, times, constant := q.delta, mat.Dense{}, -1., mat.NewSymDense(d, nil)
	if equation == Marginal {
		times = -2
		constant.SymOuterK(-2, q.w)
		var py mat.Dense
		y = &mat.Dense{}
		py.Mul(q.delta, n.p)
		y.Mul(&py, q.w.T())
	} else {
		constant.ScaleSym(-0.5, q.s)
	}
	slope.Mul(y, n.p)
	g := make([]float64, parameters(d))
	for a, count := range q.count {
		x, v := q.delta.RawRowView(a), y.RawRowView(a)
		floats.ScaleTo(g[:d], times, slope.RawRowView(a))
		at := d
		for j := range d {
			for k := j; k < d; k++ {
				cell := x[j]*v[k] + v[j]*x[k]
				if equation == Likelihood {
					cell = 0.5 * x[j] * x[k]
				}
				cell += constant.At(j, k)
				if j != k {
					cell *= 2
				}
				g[at] = cell
				at++
			}
		}
		visit(count, g)
	}
}

// moments returns the moments of the problem's equation at n. The expected Hessian of the
// likelihood is also the model covariance of a gradient,
//
//	dμᵀPΣ̃P dμ + ½ tr(dP Σ̃ dP Σ̃)
//
// For the marginal loss, under MCAR,
//
//	Hessian     2 dμᵀPBP dμ + 2 tr(dP Σ̃ dP B)
//	covariance  4 dμᵀPBPBP dμ + 4 tr(dP B dP B) + 4 tr(dP BPB dP Σ̃)
//
// The observed Hessian of the likelihood exceeds the expected one by
// (docs/theory/inference.md#eq-observed)
//
//	tr(dP C dP (Σ̃ − δ̂δ̂ᵀ)) − 2 dμᵀ(I − PC) dP δ̂
//
// which has mean 0 under MCAR but not under MAR.
func (p Problem) moments(n *normal) (*moments, error) {
	d, size := n.d, parameters(n.d)
	m := &moments{gradient: make([]float64, size), hessian: newTriangle(size, p.Workers)}
	second, spread, own := &form{d: d, sums: m.hessian}, &form{d: d}, &form{d: d}
	if p.Equation == Marginal && !p.Robust {
		m.variance = newTriangle(size, p.Workers)
		spread.sums = m.variance
	}
	if p.Own {
		m.own = newTriangle(size, p.Workers)
		own.sums = m.own
	}
	location, locationSpread, cross := mat.NewDense(d, d, nil), mat.NewDense(d, d, nil), mat.NewDense(d, size-d, nil)
	err := n.eachPattern(p.Table, p.Workers, func(q *pattern) {
		q.gradients(n, p.Equation, func(count float64, g []float64) { m.take(count, p.Table.Weights != nil, g) })
		if p.Equation == Likelihood {
			var block mat.Dense
			block.Mul(n.p, q.w) // PΣ̃P
			second.add(q.share/2, q.s, q.s)
			addScaled(location, q.share, &block)
			if p.Own {
				q.addOwn(own, cross)
			}
			return
		}
		var b mat.SymDense
		b.SymOuterK(1, q.w)
		var pb, pbp, bpb, pbpbp mat.Dense
		pb.Mul(n.p, mat.DenseCopyOf(&b)) // by BLAS, which gonum lacks for two SymDense
		pbp.Mul(&pb, n.p)
		second.add(2*q.share, q.s, &b)
		addScaled(location, 2*q.share, &pbp)
		if m.variance == nil {
			return
		}
		bpb.Mul(&b, &pb)
		pbpbp.Mul(&pb, &pbp)
		spread.add(4*q.share, &b, &b)
		spread.add(4*q.share, symmetric(&bpb), q.s)
		addScaled(locationSpread, 4*q.share, &pbpbp)
	})
	if err = cmp.Or(err, second.finish()); err != nil {
		return nil, err
	}
	floats.Scale(1/m.total, m.gradient)
	m.hessian.setLocation(symmetric(location))
	if m.variance != nil {
		err = spread.finish()
		m.variance.setLocation(symmetric(locationSpread))
	}
	if p.Own {
		err = own.finish()
		for a := range d {
			for at, v := range cross.RawRowView(a) {
				*m.own.at(d+at, a) = v
			}
		}
	}
	return m, err
}

// addOwn adds the pattern's observed minus expected Hessian to its form in P and to its block of μ
// and packed P.
func (q *pattern) addOwn(own *form, cross *mat.Dense) {
	d, rows := own.d, floats.Sum(q.count)
	weighted := mat.DenseCopyOf(q.delta)
	sum := make([]float64, d)
	for a, n := range q.count {
		floats.AddScaled(sum, q.share*n/rows, q.delta.RawRowView(a))
		floats.Scale(math.Sqrt(n), weighted.RawRowView(a))
	}
	var second mat.SymDense
	second.SymOuterK(-1/rows, weighted.T())
	second.AddSym(&second, q.s)
	own.add(q.share, q.c, &second)
	for a := range d { // W = I − CP
		row := cross.RawRowView(a)
		for j := range d {
			for k := j; k < d; k++ {
				v := q.w.At(j, a) * sum[k]
				if j != k {
					v += q.w.At(k, a) * sum[j]
				}
				row[graph.PackedIndex(d, j, k)] -= v
			}
		}
	}
}

// addScaled adds w x to a.
func addScaled(a *mat.Dense, w float64, x *mat.Dense) {
	floats.AddScaled(a.RawMatrix().Data, w, x.RawMatrix().Data)
}

// setLocation writes a block (d, d) to the first rows and columns.
func (m *triangle) setLocation(block *mat.SymDense) {
	for j := range block.SymmetricDim() {
		for k := range j + 1 {
			*m.at(j, k) = block.At(j, k)
		}
	}
}

// symmetric returns (a + aᵀ)/2.
func symmetric(a *mat.Dense) *mat.SymDense {
	d, _ := a.Dims()
	s := mat.NewSymDense(d, nil)
	for j := range d {
		for k := j; k < d; k++ {
			s.SetSym(j, k, (a.At(j, k)+a.At(k, j))/2)
		}
	}
	return s
}

// form is a quadratic form of symmetric matrices dP (d, d),
//
//	F(dP) = Σ_i w_i tr(dP X_i dP Y_i)
//
// stored as T[ab, ce] = ½ Σ_i w_i (X_i,ab Y_i,ce + Y_i,ab X_i,ce) over packed pairs, a matrix
// product of all X with all Y.
type form struct {
	d     int
	sums  *triangle // T, then K, from row and column d on
	x, y  []float64 // pending X and Y by pairs (d + pairs, formTogether), the first d rows 0
	count int
	err   error
}

const formTogether = 128 // matrices per product

func (f *form) add(w float64, x, y *mat.SymDense) {
	if x != y {
		f.column(w/2, x, y)
		f.column(w/2, y, x)
		return
	}
	f.column(w, x, x)
}

// column adds w X_ab Y_ce to T.
func (f *form) column(w float64, x, y *mat.SymDense) {
	if f.x == nil {
		f.x, f.y = make([]float64, f.sums.n*formTogether), make([]float64, f.sums.n*formTogether)
	}
	at := f.d*formTogether + f.count
	for j := range f.d {
		for k := j; k < f.d; k++ {
			f.x[at], f.y[at] = w*x.At(j, k), y.At(j, k)
			at += formTogether
		}
	}
	if f.count++; f.count == formTogether {
		f.flush()
	}
}

func (f *form) flush() {
	if f.count > 0 && f.err == nil {
		f.err = f.sums.addProduct(f.x, f.y, formTogether)
	}
	clear(f.x)
	f.count = 0
}

// finish replaces T by K of F = pᵀKp, where p is packed dP, whose off-diagonal coordinates stand
// for two cells: with c_ab = 1 if a = b, else 2,
//
//	K[ab, ce] = ½ c_ab c_ce (T[ac, be] + T[ae, bc])
//
// It works in place on each set of four columns, which has three pairings.
func (f *form) finish() error {
	f.flush()
	f.x, f.y = nil, nil
	d := f.d
	for a := range d {
		for b := a; b < d; b++ {
			ab := d + graph.PackedIndex(d, a, b)
			for c := b; c < d; c++ {
				ac, bc := d+graph.PackedIndex(d, a, c), d+graph.PackedIndex(d, b, c)
				for e := c; e < d; e++ {
					ae, be, ce := d+graph.PackedIndex(d, a, e), d+graph.PackedIndex(d, b, e), d+graph.PackedIndex(d, c, e)
					x, y, z := f.sums.at(ab, ce), f.sums.at(ac, be), f.sums.at(ae, bc)
					byX, byY, byZ := *y+*z, *x+*z, *x+*y
					*x, *y, *z = both(a, b)*both(c, e)/2*byX, both(a, c)*both(b, e)/2*byY, both(a, e)*both(b, c)/2*byZ
				}
			}
		}
	}
	return f.err
}

// both returns the number of cells of a pair.
func both(a, b int) float64 {
	if a == b {
		return 1
	}
	return 2
}
