package sparse

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph"
)

// group is a pair of blocks: l.active has its pairs from first on, row by row; in one block the
// pairs j < k.
type group struct {
	a, b, first int
	curvature   float64 // an upper bound, exact if S_AA and S_BB are multiples of the identity
}

func (l *Lasso) startGroups(p *Matrix) {
	l.groups = l.groups[:0]
	of := make([]int, 0, l.D) // block of each column
	for a, b := range l.Blocks {
		for range b.Width {
			of = append(of, a)
		}
	}
	for a, b := range l.Blocks {
		if b.Width > 1 {
			l.addGroup(a, a)
		}
	}
	has := map[[2]int]bool{}
	for _, at := range p.At {
		if ab := [2]int{of[at[0]], of[at[1]]}; ab[0] != ab[1] && !has[ab] {
			has[ab] = true
			l.addGroup(ab[0], ab[1])
		}
	}
	for _, a := range l.active {
		l.setPair(a, p.Element(int(a.j), int(a.k)))
	}
}

func (l *Lasso) addGroup(a, b int) {
	first, second := l.Blocks[a], l.Blocks[b]
	l.groups = append(l.groups, group{a, b, len(l.active), l.largest(first) + l.largest(second)})
	for j := range first.Width {
		for k := range second.Width {
			if a != b || j < k {
				l.add(first.First+j, second.First+k, 0)
			}
		}
	}
}

func (l *Lasso) largest(b data.Block) float64 {
	if b.Width == 1 {
		return l.own[b.First]
	}
	var e mat.EigenSym
	e.Factorize(mat.NewSymDense(l.D, l.S).SliceSym(b.First, b.First+b.Width), false)
	return e.Values(nil)[b.Width-1]
}

func (l *Lasso) groupWeight(a, b int) float64 {
	first, second := l.Blocks[a], l.Blocks[b]
	return math.Sqrt(float64(first.Width*second.Width)) * l.weight(first.First, second.First)
}

// visitGroups makes a step along each group, with derivative G and curvature h,
//
//	P_AB ← Z · max(0, 1 − λ w/(h ‖Z‖_F)),   Z = P_AB − G/h
//
// and minimises along each pair within a block.
func (l *Lasso) visitGroups(lambda float64) (moved float64) {
	var to []float64
	for i, g := range l.groups {
		if g.a == g.b {
			width := l.Blocks[g.a].Width
			within := l.active[g.first : g.first+width*(width-1)/2]
			moved = max(moved, l.visit(within, 0))
			continue
		}
		pairs := l.active[g.first:]
		if i+1 < len(l.groups) {
			pairs = l.active[g.first:l.groups[i+1].first]
		}
		to = to[:0]
		size := 0.0
		for _, a := range pairs {
			j, k := int(a.j), int(a.k)
			v := l.rows[j].value[a.inJ] - (l.product(j, k)+l.product(k, j))/g.curvature
			to = append(to, v)
			size = math.Hypot(size, v)
		}
		shrink := 1.0
		if most := l.groupWeight(g.a, g.b) * lambda / g.curvature; most > 0 {
			shrink = max(0, 1-most/size)
		}
		for i, a := range pairs {
			moved = max(moved, math.Abs(shrink*to[i]-l.rows[a.j].value[a.inJ])*g.curvature)
			l.setPair(a, shrink*to[i])
		}
	}
	return moved
}

func (l *Lasso) breakingGroups(ctx context.Context, least, slack float64) (found [][2]int32, err error) {
	v := make([]float64, l.D*l.D)
	(&screen{Lasso: l}).products(v, 0, l.D, 0, l.D)
	n := len(l.Blocks)
	active := make([]bool, n*n)
	for _, g := range l.groups {
		active[g.a*n+g.b] = true
	}
	for a, first := range l.Blocks {
		for b := a + 1; b < n; b++ {
			size, second := 0.0, l.Blocks[b]
			for j := first.First; j < first.First+first.Width; j++ {
				for k := second.First; k < second.First+second.Width; k++ {
					size = math.Hypot(size, v[j*l.D+k]+v[k*l.D+j])
				}
			}
			if size >= l.groupWeight(a, b)*least+slack && !active[a*n+b] {
				found = append(found, [2]int32{int32(a), int32(b)})
			}
		}
	}
	return found, ctx.Err()
}

// Strengths returns the largest singular values of P_AA^(−1/2) P_AB P_BB^(−1/2), in the order of
// graph.PackedIndex over the blocks and 0 for A = B: partial canonical correlations, for single
// columns absolute partial correlations. They are invariant to linear maps within blocks, NaN if a
// P_AA is not positive definite.
func (p *Matrix) Strengths(blocks []data.Block) []float64 {
	whole, n := p.Symmetric(), len(blocks)
	part := func(a, b data.Block) *mat.Dense {
		m := mat.NewDense(a.Width, b.Width, nil)
		for j := range a.Width {
			for k := range b.Width {
				m.Set(j, k, whole.At(a.First+j, b.First+k))
			}
		}
		return m
	}
	lower := make([]*mat.TriDense, n) // P_AA = LL'
	for a, block := range blocks {
		var c mat.Cholesky
		own := part(block, block)
		if c.Factorize(mat.NewSymDense(block.Width, own.RawMatrix().Data)) {
			lower[a] = new(mat.TriDense)
			c.LTo(lower[a])
		}
	}
	out := make([]float64, n*(n+1)/2)
	for a := range blocks {
		for b := a + 1; b < n; b++ {
			at, from, to := graph.PackedIndex(n, a, b), blocks[a], blocks[b]
			if from.Width == 1 && to.Width == 1 && lower[a] != nil && lower[b] != nil {
				out[at] = math.Abs(whole.At(from.First, to.First)) / lower[a].At(0, 0) / lower[b].At(0, 0)
				continue
			}
			cross := part(from, to)
			switch {
			case mat.Norm(cross, 2) == 0:
				continue
			case lower[a] == nil || lower[b] == nil:
				out[at] = math.NaN()
				continue
			}
			var left, both mat.Dense
			_ = left.Solve(lower[a], cross)    // L_A⁻¹ P_AB
			_ = both.Solve(lower[b], left.T()) // L_B⁻¹ P_BA L_A⁻ᵀ
			var values mat.SVD
			values.Factorize(&both, mat.SVDNone)
			out[at] = values.Values(nil)[0]
		}
	}
	return out
}
