// Package sparse computes the L1 path of a normal distribution's precision from second moments.
// Time and memory grow with the non-zero pairs (docs/theory/pairwise.md#eq-pairwise-descent).
package sparse

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/panics"
	"missingscore/internal/trainers/optim"
)

// Lasso minimises over symmetric P (d, d)
//
//	½ tr(PSP) − tr P + λ Σ_{j<k} w_jk |P_jk|
//
// over the diagonal and the active pairs (Zhang & Zou 2014; Lin, Drton & Shojaie 2016). With V = PS the derivatives are V_jj − 1 by P_jj and V_jk
// + V_kj by a pair, with curvatures S_jj and S_jj + S_kk. V is not stored: an element is a sum over
// the active pairs of a column.
type Lasso struct {
	D       int
	S       []float64 // (d, d), row by row, symmetric and positive semidefinite
	Workers int       // default 1; the result does not depend on it

	// Tolerance ends the descent: largest coordinate step times its curvature; default 1e-7.
	Tolerance float64
	Sweeps    int // maximum per minimisation; 0: 2000, with Dense by coordinate visits
	// Dense is faster where many pairs are not zero: the descent leaps (leap) and active pairs stay active.
	Dense bool
	// Weights are w ≥ 0 in the order of graph.PackedIndex; the diagonal is ignored; nil: all 1.
	Weights []float64
	// Blocks replace the penalty by a group lasso over pairs of blocks A, B of adjacent columns,
	//
	//	λ Σ_{A<B} √(|A||B|) w_AB ‖P_AB‖_F
	//
	// with w_AB the weight of the blocks' first columns and no penalty within a block. They cover all
	// columns in order and need S; nil: one column each. Steps are exact if S_AA is a multiple of the
	// identity.
	Blocks []data.Block

	own      []float64 // S_jj
	diagonal []float64
	rows     []neighbours
	active   []pair
	groups   []group // active groups, with Blocks
}

type neighbours struct {
	at    []int32
	value []float64
}

// pair is an active pair with its indices among the neighbours of both columns.
type pair struct{ j, k, inJ, inK int32 }

const (
	mostSweeps = 2000
	mostVisits = 20_000_000_000 // limit of element visits per minimisation, about half a minute
	denseSteps = 5_000_000      // limit of coordinate visits per minimisation with Dense
	leapSweeps = 20_000         // and of sweeps
	farthest   = 1e8            // |P_jk| above it has diverged
)

type Outcome struct {
	Sweeps int
	Moved  float64 // largest step times its curvature in the last sweep
	Done   bool    // within the tolerance; else it diverged or reached its limit
}

// Minimise moves p to the minimum. Zero pairs are active from the start if their derivative is at
// least w·screen: 2λ − λ' by the sequential strong rule (Tibshirani et al. 2012) if p is the
// minimum for λ'. It fails only if ctx ends.
func (l *Lasso) Minimise(ctx context.Context, p *Matrix, lambda, screen float64) (o Outcome, err error) {
	l.start(p)
	breaking, add := l.breaking, func(j, k int) { l.add(j, k, 0) }
	if l.Blocks != nil {
		breaking, add = l.breakingGroups, l.addGroup
	}
	joined, err := breaking(ctx, max(0, screen), 0)
	if err != nil {
		return o, err
	}
	for first := true; first || len(joined) > 0; first = false {
		for _, at := range joined {
			add(int(at[0]), int(at[1]))
		}
		if len(joined) > 0 && !l.Dense { // most stay at zero
			l.sweep(lambda)
			l.end(p)
			l.start(p)
		}
		if err := l.descend(ctx, lambda, &o); err != nil || !o.Done {
			l.end(p)
			return o, err
		}
		if joined, err = breaking(ctx, lambda*(1+1e-9), l.Tolerance); err != nil {
			return o, err
		}
		if o.Sweeps >= l.mostSweeps() {
			o.Done = len(joined) == 0
			break
		}
	}
	l.end(p)
	return o, nil
}

// Fit moves p to the unpenalised minimum over its diagonal and its pairs.
func (l *Lasso) Fit(ctx context.Context, p *Matrix) (o Outcome, err error) {
	l.start(p)
	err = l.descend(ctx, 0, &o)
	l.end(p)
	return o, err
}

func (l *Lasso) descend(ctx context.Context, lambda float64, o *Outcome) error {
	visits, most, ahead := 0, l.mostSweeps(), leap{}
	for once := l.visits(); ; visits += once {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		o.Moved = l.sweep(lambda)
		o.Sweeps++
		if o.Done = o.Moved <= l.Tolerance; o.Done {
			return nil
		}
		if !(o.Moved < farthest) || o.Sweeps >= most || visits > mostVisits {
			return nil
		}
		if l.Dense {
			ahead.after(l, lambda)
		}
	}
}

func (l *Lasso) mostSweeps() int {
	if l.Dense && l.Sweeps == 0 {
		return min(leapSweeps, denseSteps/(l.D+len(l.active)))
	}
	return cmp.Or(l.Sweeps, mostSweeps)
}

func (l *Lasso) visits() (sum int) {
	for _, n := range l.rows {
		sum += len(n.at) * (len(n.at) + 1)
	}
	return 2*sum + l.D
}

// sweep returns the largest step times its curvature.
func (l *Lasso) sweep(lambda float64) (moved float64) {
	d := l.D
	for j := range d {
		own := l.own[j]
		step := (1 - l.product(j, j)) / own
		l.diagonal[j] += step
		moved = max(moved, math.Abs(step*own))
	}
	if l.Blocks != nil {
		moved = max(moved, l.visitGroups(lambda))
	} else {
		moved = max(moved, l.visit(l.active, lambda))
	}
	if math.IsNaN(moved) {
		return math.Inf(1)
	}
	return moved
}

func (l *Lasso) visit(pairs []pair, lambda float64) (moved float64) {
	for _, a := range pairs {
		j, k := int(a.j), int(a.k)
		curvature, old := l.own[j]+l.own[k], l.rows[j].value[a.inJ]
		to := optim.SoftThreshold(old*curvature-l.product(j, k)-l.product(k, j), l.weight(j, k)*lambda) / curvature
		if to == old {
			continue
		}
		l.setPair(a, to)
		moved = max(moved, math.Abs((to-old)*curvature))
	}
	return moved
}

func (l *Lasso) setPair(a pair, v float64) {
	n, m := &l.rows[a.j], &l.rows[a.k]
	n.value[a.inJ], m.value[a.inK] = v, v
}

func (l *Lasso) weight(j, k int) float64 {
	if l.Weights == nil {
		return 1
	}
	return l.Weights[graph.PackedIndex(l.D, j, k)]
}

func (l *Lasso) product(j, k int) (sum float64) {
	n, s := &l.rows[j], l.S[k*l.D:(k+1)*l.D]
	sum = l.diagonal[j] * s[j]
	for i, at := range n.at {
		sum += n.value[i] * s[at]
	}
	return sum
}

func (l *Lasso) start(p *Matrix) {
	l.diagonal, l.own = append(l.diagonal[:0], p.Diagonal...), l.own[:0]
	for j := range l.D {
		l.own = append(l.own, l.S[j*l.D+j])
	}
	if l.active = l.active[:0]; len(l.rows) != l.D {
		l.rows = make([]neighbours, l.D)
	}
	for j, n := range l.rows {
		l.rows[j] = neighbours{n.at[:0], n.value[:0]}
	}
	if l.Blocks != nil {
		l.startGroups(p)
		return
	}
	for i, at := range p.At {
		l.add(int(at[0]), int(at[1]), p.Value[i])
	}
}

func (l *Lasso) add(j, k int, value float64) {
	a, b := &l.rows[j], &l.rows[k]
	l.active = append(l.active, pair{int32(j), int32(k), int32(len(a.at)), int32(len(b.at))})
	a.at, a.value = append(a.at, int32(k)), append(a.value, value)
	b.at, b.value = append(b.at, int32(j)), append(b.value, value)
}

func (l *Lasso) end(p *Matrix) {
	p.Diagonal = append(p.Diagonal[:0], l.diagonal...)
	p.At, p.Value = p.At[:0], p.Value[:0]
	for _, a := range l.active {
		if v := l.rows[a.j].value[a.inJ]; v != 0 {
			p.At, p.Value = append(p.At, [2]int32{a.j, a.k}), append(p.Value, v)
		}
	}
	p.sort()
}

const tile = 256 // columns per tile; a worker takes a pair of tiles

// breaking returns the inactive pairs with |V_jk + V_kj| at least w·least plus slack, in the order
// of tiles.
func (l *Lasso) breaking(ctx context.Context, least, slack float64) ([][2]int32, error) {
	side := min(tile, l.D)
	buffers := func() *screen { return &screen{l, make([]float64, side*side), make([]float64, side*side)} }
	var tiles [][2]int
	for j := 0; j < l.D; j += tile {
		for k := j; k < l.D; k += tile {
			tiles = append(tiles, [2]int{j, k})
		}
	}
	found := make([][][2]int32, len(tiles))
	err := panics.Each(ctx, l.Workers, len(tiles), func() (func(context.Context, int) error, error) {
		s := buffers()
		return func(_ context.Context, i int) error {
			found[i] = s.look(tiles[i][0], tiles[i][1], least, slack)
			return nil
		}, nil
	}, nil)
	return slices.Concat(found...), err
}

type screen struct {
	*Lasso
	jk, kj []float64
}

func (s *screen) look(j0, k0 int, least, slack float64) (found [][2]int32) {
	high, wide := min(tile, s.D-j0), min(tile, s.D-k0)
	s.products(s.jk, j0, high, k0, wide)
	s.products(s.kj, k0, wide, j0, high)
	for a := range high {
		first := 0
		if j0 == k0 {
			first = a + 1
		}
		for b := first; b < wide; b++ {
			if math.Abs(s.jk[a*wide+b]+s.kj[b*high+a]) >= s.weight(j0+a, k0+b)*least+slack && !s.has(j0+a, k0+b) {
				found = append(found, [2]int32{int32(j0 + a), int32(k0 + b)})
			}
		}
	}
	return found
}

func (s *screen) products(v []float64, j0, high, k0, wide int) {
	for a := range high {
		row, n := v[a*wide:(a+1)*wide], &s.rows[j0+a]
		floats.ScaleTo(row, s.diagonal[j0+a], s.S[(j0+a)*s.D+k0:][:wide])
		for i, l := range n.at {
			if n.value[i] != 0 {
				floats.AddScaled(row, n.value[i], s.S[int(l)*s.D+k0:][:wide])
			}
		}
	}
}

func (s *screen) has(j, k int) bool {
	if len(s.rows[k].at) < len(s.rows[j].at) {
		j, k = k, j
	}
	for _, other := range s.rows[j].at {
		if int(other) == k {
			return true
		}
	}
	return false
}
