package sparse

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
	"missingscore/internal/lanczos"
)

// Matrix is symmetric, stored as its diagonal and its non-zero pairs j < k in the order of columns.
type Matrix struct {
	D        int
	Diagonal []float64
	At       [][2]int32 // j < k
	Value    []float64
}

func Identity(d int) *Matrix {
	p := &Matrix{D: d, Diagonal: make([]float64, d)}
	for j := range p.Diagonal {
		p.Diagonal[j] = 1
	}
	return p
}

func FromPacked(packed []float64, d int) *Matrix {
	p := &Matrix{D: d}
	i := 0
	for j := range d {
		p.Diagonal = append(p.Diagonal, packed[i])
		for k := j + 1; k < d; k++ {
			if i++; packed[i] != 0 {
				p.At, p.Value = append(p.At, [2]int32{int32(j), int32(k)}), append(p.Value, packed[i])
			}
		}
		i++
	}
	return p
}

func (p *Matrix) ToPacked(packed []float64) {
	clear(packed)
	for j, v := range p.Diagonal {
		packed[graph.PackedIndex(p.D, j, j)] = v
	}
	for i, at := range p.At {
		packed[graph.PackedIndex(p.D, int(at[0]), int(at[1]))] = p.Value[i]
	}
}

func (p *Matrix) Clone() *Matrix {
	return &Matrix{D: p.D, Diagonal: slices.Clone(p.Diagonal), At: slices.Clone(p.At), Value: slices.Clone(p.Value)}
}

// Distance returns the largest absolute element of P − Q; NaN elements are ignored.
func (p *Matrix) Distance(q *Matrix) (most float64) {
	take := func(size float64) {
		if size > most {
			most = size
		}
	}
	for j, v := range p.Diagonal {
		take(math.Abs(v - q.Diagonal[j]))
	}
	a, b := 0, 0
	for a < len(p.At) || b < len(q.At) {
		side := 0
		switch {
		case a == len(p.At):
			side = 1
		case b == len(q.At):
			side = -1
		default:
			side = order(p.At[a], q.At[b])
		}
		v := 0.0
		if side <= 0 {
			v += p.Value[a]
			a++
		}
		if side >= 0 {
			v -= q.Value[b]
			b++
		}
		take(math.Abs(v))
	}
	return most
}

func (p *Matrix) Element(j, k int) float64 {
	if j == k {
		return p.Diagonal[j]
	}
	at := [2]int32{int32(min(j, k)), int32(max(j, k))}
	if i, ok := slices.BinarySearchFunc(p.At, at, order); ok {
		return p.Value[i]
	}
	return 0
}

func order(a, b [2]int32) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }

func (p *Matrix) sort() {
	places := make([]int, len(p.At))
	for i := range places {
		places[i] = i
	}
	slices.SortFunc(places, func(a, b int) int { return order(p.At[a], p.At[b]) })
	q := p.Clone()
	for i, from := range places {
		p.At[i], p.Value[i] = q.At[from], q.Value[from]
	}
}

func (p *Matrix) Symmetric() mat.Symmetric { return symmetric{p} }

type symmetric struct{ p *Matrix }

func (s symmetric) Dims() (r, c int)        { return s.p.D, s.p.D }
func (s symmetric) At(j, k int) float64     { return s.p.Element(j, k) }
func (s symmetric) T() mat.Matrix           { return s }
func (s symmetric) SymmetricDim() int       { return s.p.D }
func (s symmetric) PackTo(packed []float64) { s.p.ToPacked(packed) }

// BlockOf returns the submatrix of ascending columns; a Matrix's Symmetric stays sparse.
func BlockOf(whole mat.Symmetric, columns []int) mat.Symmetric {
	if s, ok := whole.(symmetric); ok {
		return s.p.block(columns).Symmetric()
	}
	b := mat.NewSymDense(len(columns), nil)
	for a, j := range columns {
		for c, k := range columns[a:] {
			b.SetSym(a, a+c, whole.At(j, k))
		}
	}
	return b
}

func (p *Matrix) block(columns []int) *Matrix {
	b, place := &Matrix{D: len(columns)}, make([]int32, p.D)
	for j := range place {
		place[j] = -1
	}
	for a, j := range columns {
		place[j] = int32(a)
		b.Diagonal = append(b.Diagonal, p.Diagonal[j])
	}
	for i, at := range p.At {
		if j, k := place[at[0]], place[at[1]]; j >= 0 && k >= 0 {
			b.At, b.Value = append(b.At, [2]int32{j, k}), append(b.Value, p.Value[i])
		}
	}
	return b
}

// Finite: all elements are finite and of plausible size for standardised columns.
func (p *Matrix) Finite() bool {
	for _, values := range [][]float64{p.Diagonal, p.Value} {
		for _, v := range values {
			if !(math.Abs(v) < farthest) {
				return false
			}
		}
	}
	return true
}

func (p *Matrix) neighbours() []neighbours {
	rows := make([]neighbours, p.D)
	for i, at := range p.At {
		for side, j := range at {
			n := &rows[j]
			n.at, n.value = append(n.at, at[1-side]), append(n.value, p.Value[i])
		}
	}
	return rows
}

// Loss returns ½ tr(PSP) − tr P for second moments s(j, k).
func (p *Matrix) Loss(s func(j, k int) float64) (loss float64) {
	for j, n := range p.neighbours() {
		// (PSP)_jj = Σ_kl P_jk S_kl P_lj
		n.at, n.value = append(n.at, int32(j)), append(n.value, p.Diagonal[j])
		square := 0.0
		for a, k := range n.at {
			sum := 0.0
			for b, l := range n.at {
				sum += n.value[b] * s(int(k), int(l))
			}
			square += n.value[a] * sum
		}
		loss += square/2 - p.Diagonal[j]
	}
	return loss
}

// KeepDefinite shrinks all pairs by one factor if the smallest eigenvalue is below floor, as
// optim.PositiveDefinite. within reports that nothing was changed. It fails only if ctx ends.
func (p *Matrix) KeepDefinite(ctx context.Context, floor float64) (within bool, err error) {
	least, err := p.Smallest(ctx)
	if err != nil || least >= floor {
		return err == nil, err
	}
	unit := make([]float64, p.D)
	for j := range unit {
		p.Diagonal[j] = max(p.Diagonal[j], 2*floor)
		unit[j] = 1 / math.Sqrt(p.Diagonal[j]-floor)
	}
	if least, err = p.smallest(ctx, make([]float64, p.D), unit); err != nil {
		return false, err
	}
	if least < -1 {
		for i := range p.Value {
			p.Value[i] *= -1 / least
		}
	}
	return false, nil
}

// Smallest returns a lower bound close to the smallest eigenvalue. It fails only if ctx ends.
func (p *Matrix) Smallest(ctx context.Context) (float64, error) {
	return p.smallest(ctx, p.Diagonal, slices.Repeat([]float64{1}, p.D))
}

func (p *Matrix) smallest(ctx context.Context, diagonal, unit []float64) (float64, error) {
	rows := p.neighbours()
	return lanczos.Smallest(ctx, p.D, func(y, x []float64) {
		for j, n := range rows {
			sum := 0.0
			for i, k := range n.at {
				sum += n.value[i] * unit[k] * x[k]
			}
			y[j] = sum*unit[j] + diagonal[j]*x[j]
		}
	})
}

// Residual returns s_jj − s_jN S_NN⁻¹ s_Nj; ok is false if S_NN is not positive definite or the
// variance not positive.
func Residual(s func(j, k int) float64, j int, others []int) (variance float64, ok bool) {
	variance = s(j, j)
	n := len(others)
	if n == 0 {
		return variance, variance > 0
	}
	nn := blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n, Data: make([]float64, n*n)}
	solved := make([]float64, n)
	for a, k := range others {
		solved[a] = s(j, k)
		for b, l := range others[a:] {
			nn.Data[a*n+a+b] = s(k, l)
		}
	}
	factor, ok := lapack64.Potrf(nn)
	if !ok {
		return 0, false
	}
	lapack64.Potrs(factor, blas64.General{Rows: n, Cols: 1, Stride: 1, Data: solved})
	for a, k := range others {
		variance -= s(j, k) * solved[a]
	}
	return variance, variance > 1e-10*s(j, j)
}
