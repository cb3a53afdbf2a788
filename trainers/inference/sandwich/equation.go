package sandwich

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/panics"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/trainers/engine"
)

// equation is U(θ) = 0, U the mean over rows of ψ_i: the gradient of the row's loss, times its
// sampling weight, as the method goes down, with draws held and weights that follow θ. The parameters are the
// model's own.
type equation struct {
	ctx    context.Context
	engine *engine.Engine
	of     engine.Problem // table, domain and objective, in whatever units
	held   *held
	free   []int // places of the parameters that are free
	n      int
	kinds  [2]*rowKind // rows without gaps, of which one draw says all; rows with gaps
}

// rowKind are rows of the table with so many draws each.
type rowKind struct {
	members, draws int
	rows           []int
	many, single   *rows // programs for them together and one by one; nil before they are needed
}

// rows computes gradients of so many rows at a time, each in so many parts: its draws are
// shared among them, and each has a part of the row's weight.
type rows struct {
	parts   int
	program *graph.Program
	batch   *data.Batch
	params  []*graph.Param
}

func newEquation(ctx context.Context, e *engine.Engine, of engine.Problem, h *held, free []int) (*equation, error) {
	q := &equation{ctx: ctx, engine: e, of: of, held: h, free: free, n: of.Table.N}
	q.kinds = [2]*rowKind{{draws: 1}, {draws: h.r}}
	for i := range q.n {
		k := q.kind(i)
		k.rows = append(k.rows, i)
	}
	var err error
	for _, k := range q.kinds {
		if k.members = together(len(k.rows), k.draws); len(k.rows) > 0 && err == nil {
			k.many, err = q.newRows(k.members, 1, k.draws)
		}
	}
	return q, err
}

// kind is that of row i.
func (q *equation) kind(i int) *rowKind {
	d := q.of.Table.D
	if slices.Contains(q.of.Table.Observed[i*d:(i+1)*d], false) {
		return q.kinds[1]
	}
	return q.kinds[0]
}

func (q *equation) newRows(size, parts, draws int) (*rows, error) {
	p, err := losses.New(graph.Float64, q.engine.Estimator.Loss, q.held.weighting, q.of.Model, q.of.Objective, size*parts, draws/parts)
	return &rows{parts, p, data.NewBatch(size*parts, q.of.Table.D), q.of.Model.Params()}, err
}

// run computes the gradient of rows of a kind, each counting weight, times its own in the table.
func (q *equation) run(r *rows, k *rowKind, members []int, weight float64) error {
	if err := q.ctx.Err(); err != nil {
		return err
	}
	all := make([]int, 0, len(members)*r.parts)
	h, d := q.held, q.of.Table.D
	x, log := r.program.Input(losses.InputX), r.program.Input(losses.InputLogProposal)
	clear(x[len(members)*k.draws*d:])
	clear(log[len(members)*k.draws:])
	for i, row := range members {
		for range r.parts {
			all = append(all, row)
		}
		copy(x[i*k.draws*d:(i+1)*k.draws*d], h.x[row*h.r*d:])
		copy(log[i*k.draws:(i+1)*k.draws], h.log[row*h.r:])
	}
	r.batch.Fill(q.of.Table, all, weight/float64(r.parts))
	for i, row := range all {
		r.batch.Weight[i] *= q.engine.Table.Weight(row)
	}
	losses.Bind(r.program, q.engine.Estimator.Loss, q.of.Objective, r.batch, stream.New(q.engine.Config.Seed, stream.Hold))
	return panics.Caught(r.program.Run)
}

// add adds the free elements of the gradient last run.
func (q *equation) add(into []float64, r *rows) {
	i, first := 0, 0
	for _, p := range r.params {
		g := r.program.Grad(p)
		for ; i < len(q.free) && q.free[i] < first+len(g); i++ {
			into[i] += g[q.free[i]-first]
		}
		first += len(g)
	}
}

// mean is U where the model is.
func (q *equation) mean() ([]float64, error) {
	return q.meanBy(func(k *rowKind) *rows { return k.many })
}

// meanBy is mean by programs for the kinds of rows.
func (q *equation) meanBy(by func(*rowKind) *rows) ([]float64, error) {
	u := make([]float64, len(q.free))
	for _, k := range q.kinds {
		for members := range slices.Chunk(k.rows, k.members) {
			r := by(k)
			if err := q.run(r, k, members, 1/float64(q.n)); err != nil {
				return nil, err
			}
			q.add(u, r)
		}
	}
	if !engine.Finite(u...) {
		return nil, &engine.DivergedError{What: "gradient"}
	}
	return u, nil
}

// row is ψ_i where the model is.
func (q *equation) row(i int, into []float64) (err error) {
	k := q.kind(i)
	if k.single == nil {
		if k.single, err = q.newRows(1, 1, k.draws); err != nil {
			return err
		}
	}
	clear(into)
	if err := q.run(k.single, k, []int{i}, 1); err != nil {
		return err
	}
	q.add(into, k.single)
	return nil
}

// difference is the step of central differences, the cube root of the rounding unit.
const difference = 6e-6

// jacobian is A = ∂U/∂θ by central differences of U.
func (q *equation) jacobian(observe func(done int)) (*mat.Dense, error) {
	k := len(q.free)
	a := mat.NewDense(k, k, nil)
	for c, place := range q.free {
		at := parameter(q.of.Model, place)
		u, err := slope(at, difference*math.Max(1, math.Abs(*at)), q.mean)
		if err != nil {
			return nil, err
		}
		a.SetCol(c, u)
		observe(c + 1)
	}
	return a, nil
}

// slope is the derivative of f by a number, by central differences.
func slope(at *float64, step float64, f func() ([]float64, error)) ([]float64, error) {
	was := *at
	defer func() { *at = was }()
	*at = was + step
	up, err := f()
	if err != nil {
		return nil, err
	}
	up = append([]float64(nil), up...)
	*at = was - step
	down, err := f()
	if err != nil {
		return nil, err
	}
	floats.Sub(up, down)
	floats.Scale(1/(2*step), up)
	return up, nil
}

// parameter is the number at a place among all of a model's.
func parameter(m model.Model, place int) *float64 {
	for _, p := range m.Params() {
		if place < len(p.Value) {
			return &p.Value[place]
		}
		place -= len(p.Value)
	}
	return nil
}

// spreadRows are taken together into a sum of squares.
const spreadRows = 256

// spread is V, the second moments of (ψ_i, φ_i), ψ less their mean, which a root leaves at
// rounding.
func (q *equation) spread(s *scaleEffect) (*mat.SymDense, error) {
	k := len(q.free)
	size := k + s.size()
	v := mat.NewSymDense(size, nil)
	sum := make([]float64, size)
	block := mat.NewDense(spreadRows, size, nil)
	for i := range q.n {
		row := block.RawRowView(i % spreadRows)
		if err := q.row(i, row[:k]); err != nil {
			return nil, err
		}
		s.row(i, row[k:])
		floats.Add(sum, row)
		if filled := i%spreadRows + 1; filled == spreadRows || i == q.n-1 {
			v.SymRankK(v, 1/float64(q.n), block.Slice(0, filled, 0, size).T())
		}
	}
	v.SymRankOne(v, -1/float64(q.n)/float64(q.n), mat.NewVecDense(size, sum))
	return v, nil
}
