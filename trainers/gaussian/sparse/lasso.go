// Package sparse goes along the L1 path of a normal distribution's precision that is
// known by one matrix of second moments alone: coordinate descent over the few pairs that
// are not zero, whose time and memory grow with these and not with the rows
// (docs/theory/pairwise.md#eq-pairwise-descent).
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
	"missingscore/internal/simd"
	"missingscore/losses/pairmoments"
	"missingscore/trainers/optim"
)

// Lasso minimises, over symmetric P (d, d),
//
//	½ tr(PSP) − tr P + λ Σ_{j<k} w_jk |P_jk|
//
// by the pairs that may not be zero, the active ones. With V = PS the derivative by P_jj is
// V_jj − 1, by a pair V_jk + V_kj, and the curvatures are S_jj and S_jj + S_kk. An
// element of V is a sum over the active pairs of one column: V is never held.
type Lasso struct {
	D       int
	S       []float64         // (d, d), row by row, symmetric and positive semidefinite
	Half    *pairmoments.Half // in place of S, with the same result
	Workers int               // at once; 1. The result does not depend on it

	// Tolerance ends the descent: of a coordinate's step times its curvature, whose unit is
	// that of the derivative of −tr P; 1e-7.
	Tolerance float64
	Sweeps    int // at most, in a minimisation; 0: 2000
	// Weights are w, not negative, in the order of graph.PackedIndex, the diagonal's without
	// effect; nil: all 1.
	Weights []float64
	// Blocks make the penalty that of a group lasso over the pairs of blocks A, B of adjacent columns,
	//
	//	λ Σ_{A<B} √(|A||B|) w_AB ‖P_AB‖_F
	//
	// with w_AB the weight of the blocks' first columns; pairs within a block have none. Blocks have all
	// columns, in order; nil: each column is its own. They need S. Steps are exact where S_AA is a
	// multiple of the unit matrix, else those of a bound on the curvature.
	Blocks []data.Block

	own      []float64 // S_jj
	diagonal []float64
	rows     []neighbours
	active   []pair
	order    *optim.Tournament // of the active pairs
	workers  int               // of a sweep
	groups   []group           // with Blocks: of the active pairs
}

// neighbours are the active pairs of a column: the other column, and P there.
type neighbours struct {
	at    []int32
	value []float64
	row   []float64 // where there are many: the whole row of P, over which a sum is faster than over the pairs; else nil
}

const (
	crowded  = 4  // a column has many neighbours if they are more than the columns, divided by this
	crowding = 64 // columns, from which on it matters
)

// pair is an active one, with its places among the neighbours of both columns.
type pair struct{ j, k, inJ, inK int32 }

const (
	mostSweeps = 2000
	mostVisits = 20_000_000_000 // of elements of S in a minimisation: about half a minute
	fewVisits  = 1_000_000      // of a sweep, up to which one worker makes it: a millisecond
	farthest   = 1e8            // a P_jk beyond it has diverged
)

// Outcome is how a minimisation ended.
type Outcome struct {
	Sweeps int
	Moved  float64 // the last sweep's largest step times its curvature
	Done   bool    // within the tolerance; else it diverged or came to its bound on work
}

// Minimise takes p from where it is to the minimum. Pairs that are zero join from the start
// where their derivative is w times screen or more in size: by the sequential strong rule (Tibshirani
// et al. 2012) that is 2λ − λ' where p is the minimum for λ'. After a descent the conditions
// of Karush, Kuhn and Tucker are checked for all pairs, and those that break them join. It
// fails only where ctx ends.
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
		if len(joined) > 0 { // most stay at zero: the first sweep tells which
			l.draw()
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
		if o.Sweeps >= cmp.Or(l.Sweeps, mostSweeps) {
			o.Done = len(joined) == 0
			break
		}
	}
	l.end(p)
	return o, nil
}

// Fit takes p to the minimum without a penalty over its diagonal and the pairs that it has,
// which stay the only ones.
func (l *Lasso) Fit(ctx context.Context, p *Matrix) (o Outcome, err error) {
	l.start(p)
	err = l.descend(ctx, 0, &o)
	l.end(p)
	return o, err
}

// descend sweeps until nothing moves.
func (l *Lasso) descend(ctx context.Context, lambda float64, o *Outcome) error {
	visits, most := 0, cmp.Or(l.Sweeps, mostSweeps)
	l.draw()
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
	}
}

// draw puts the active pairs into the order in which a sweep visits them: groups stay as they are.
func (l *Lasso) draw() {
	if l.Blocks != nil {
		return
	}
	if l.order == nil || l.order.Columns != l.D {
		l.order = optim.NewTournament(l.D)
	}
	optim.Draw(l.order, l.active, func(a pair) (j, k int) { return int(a.j), int(a.k) })
	if l.workers = 1; l.visits() > fewVisits {
		l.workers = max(1, l.Workers)
	}
}

// visits are how many elements of S a sweep reads.
func (l *Lasso) visits() (sum int) {
	for _, n := range l.rows {
		sum += len(n.at) * (len(n.at) + 1)
	}
	return 2*sum + l.D
}

// sweep minimises along each active coordinate in turn and returns the largest step times
// its curvature.
func (l *Lasso) sweep(lambda float64) (moved float64) {
	d := l.D
	for j := range d {
		own := l.own[j]
		step := (1 - l.product(j, j)) / own
		l.diagonal[j] += step
		l.rows[j].set(j, l.diagonal[j])
		moved = max(moved, math.Abs(step*own))
	}
	if l.Blocks != nil {
		moved = max(moved, l.visitGroups(lambda))
	} else {
		moved = max(moved, l.order.Play(l.workers, func(from, to int) float64 { return l.visit(l.active[from:to], lambda) }))
	}
	if math.IsNaN(moved) {
		return math.Inf(1)
	}
	return moved
}

// visit minimises along pairs in turn.
func (l *Lasso) visit(pairs []pair, lambda float64) (moved float64) {
	for _, a := range pairs {
		j, k := int(a.j), int(a.k)
		at, of := &l.rows[j].value[a.inJ], &l.rows[k].value[a.inK]
		curvature, old := l.own[j]+l.own[k], *at
		to := optim.SoftThreshold(old*curvature-l.product(j, k)-l.product(k, j), l.weight(j, k)*lambda) / curvature
		if to == old {
			continue
		}
		*at, *of = to, to
		l.rows[j].set(k, to)
		l.rows[k].set(j, to)
		moved = max(moved, math.Abs((to-old)*curvature))
	}
	return moved
}

// weight is w_jk, j < k.
func (l *Lasso) weight(j, k int) float64 {
	if l.Weights == nil {
		return 1
	}
	return l.Weights[graph.PackedIndex(l.D, j, k)]
}

// product is V_jk = Σ_l P_jl S_lk, by the whole row of P if there is one, summed by the parts that a
// Half has of S.
func (l *Lasso) product(j, k int) (sum float64) {
	n := &l.rows[j]
	value := n.value
	switch {
	case n.row != nil:
		var space [tile]float64
		for from := 0; from < l.D; from += tile {
			to := min(from+tile, l.D)
			sum += simd.Dot(n.row[from:to], l.part(k, from, space[:to-from]))
		}
	case l.Half != nil:
		sum = l.diagonal[j] * l.Half.Element(j, k)
		for i, at := range n.at {
			sum += value[i] * l.Half.Element(int(at), k)
		}
	default:
		s := l.S[k*l.D : (k+1)*l.D]
		sum = l.diagonal[j] * s[j]
		for i, at := range n.at {
			sum += value[i] * s[at]
		}
	}
	return sum
}

// part are S_jk for as many k as space has, from k0 on, a multiple of tile: a view, or space.
func (l *Lasso) part(j, k0 int, space []float64) []float64 {
	if l.Half != nil {
		return l.Half.Part(j, k0, space)
	}
	return l.S[j*l.D+k0:][:len(space)]
}

// start takes P from p, its pairs the active ones, in order.
func (l *Lasso) start(p *Matrix) {
	l.diagonal, l.own = append(l.diagonal[:0], p.Diagonal...), l.own[:0]
	for j := range l.D {
		l.own = append(l.own, l.element(j, j))
	}
	l.rows, l.active = make([]neighbours, l.D), l.active[:0]
	if l.Blocks != nil {
		l.startGroups(p)
	}
	for i, at := range p.At {
		if l.Blocks == nil {
			l.add(int(at[0]), int(at[1]), p.Value[i])
		}
	}
	for j := range l.rows {
		n := &l.rows[j]
		if l.D < crowding || crowded*len(n.at) <= l.D {
			continue
		}
		n.row = make([]float64, l.D)
		n.row[j] = l.diagonal[j]
		for i, k := range n.at {
			n.row[k] = n.value[i]
		}
	}
}

// element is S_jk.
func (l *Lasso) element(j, k int) float64 {
	if l.Half != nil {
		return l.Half.Element(j, k)
	}
	return l.S[j*l.D+k]
}

// set keeps the row, if there is one, up with P.
func (n *neighbours) set(k int, value float64) {
	if n.row != nil {
		n.row[k] = value
	}
}

// add makes a pair active.
func (l *Lasso) add(j, k int, value float64) {
	a, b := &l.rows[j], &l.rows[k]
	l.active = append(l.active, pair{int32(j), int32(k), int32(len(a.at)), int32(len(b.at))})
	a.at, a.value = append(a.at, int32(k)), append(a.value, value)
	b.at, b.value = append(b.at, int32(j)), append(b.value, value)
}

// end puts P to p, without its zeros, in the order of columns.
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

const tile = pairmoments.HalfTile // columns of a tile: each pair of tiles is one worker's

// breaking are the pairs that are not active whose derivative V_jk + V_kj is w times least, and
// slack, or more in size, in the order of tiles. V is made tile by tile, for each pair of them
// anew.
func (l *Lasso) breaking(ctx context.Context, least, slack float64) (all [][2]int32, err error) {
	var tiles [][2]int
	for j := 0; j < l.D; j += tile {
		for k := j; k < l.D; k += tile {
			tiles = append(tiles, [2]int{j, k})
		}
	}
	found := make([][][2]int32, len(tiles))
	pool, ctx := panics.WithContext(ctx)
	workers, side := max(1, min(l.Workers, len(tiles))), min(tile, l.D)
	for w := range workers {
		pool.Go(func() error {
			s := screen{l, make([]float64, side*side), make([]float64, side*side), make([]float64, side)}
			for i := w; i < len(tiles); i += workers {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				found[i] = s.look(tiles[i][0], tiles[i][1], least, slack)
			}
			return nil
		})
	}
	if err := pool.Wait(); err != nil {
		return nil, err
	}
	return slices.Concat(found...), nil
}

// screen is a worker's look at V of two tiles, both ways, and room for a part of a row of S.
type screen struct {
	*Lasso
	jk, kj, space []float64
}

// look goes through the pairs of the tiles that begin at columns j0 and k0.
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

// products sets v to V_jk for some j and some k.
func (s *screen) products(v []float64, j0, high, k0, wide int) {
	for a := range high {
		row, n := v[a*wide:(a+1)*wide], &s.rows[j0+a]
		floats.ScaleTo(row, s.diagonal[j0+a], s.part(j0+a, k0, s.space[:wide]))
		for i, l := range n.at {
			if n.value[i] != 0 {
				floats.AddScaled(row, n.value[i], s.part(int(l), k0, s.space[:wide]))
			}
		}
	}
}

// has tells whether a pair is active.
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
