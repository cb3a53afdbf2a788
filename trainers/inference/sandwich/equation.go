package sandwich

import (
	"context"
	"math"

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

// equation is U(θ) = 0, U the mean over rows of ψ_i: the gradient of the row's loss, as the
// method goes down, with draws held and weights that follow θ. The parameters are the
// model's own.
type equation struct {
	ctx    context.Context
	engine *engine.Engine
	of     engine.Problem // table, domain and objective, in whatever units
	held   *held
	free   []int // places of the parameters that are free
	n      int
	many   *rows // in batches
	single *rows // one by one; nil before it is needed
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
	var err error
	q.many, err = q.newRows(together(q.n, h.r), 1)
	return q, err
}

func (q *equation) newRows(size, parts int) (*rows, error) {
	p, err := losses.New(graph.Float64, q.engine.Estimator.Loss, q.held.weighting, q.of.Model, q.of.Objective, size*parts, q.held.r/parts)
	return &rows{parts, p, data.NewBatch(size*parts, q.of.Table.D), q.of.Model.Params()}, err
}

// run computes the gradient of the rows from … to − 1, each counting weight.
func (q *equation) run(r *rows, from, to int, weight float64) error {
	if err := q.ctx.Err(); err != nil {
		return err
	}
	all := make([]int, (to-from)*r.parts)
	for i := range all {
		all[i] = from + i/r.parts
	}
	r.batch.Fill(q.of.Table, all, weight/float64(r.parts))
	h, d := q.held, q.of.Table.D
	x, log := r.program.Input(losses.InputX), r.program.Input(losses.InputLogProposal)
	first, count := from*h.r, (to-from)*h.r
	clear(x[count*d:])
	clear(log[count:])
	copy(x, h.x[first*d:(first+count)*d])
	copy(log, h.log[first:first+count])
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
func (q *equation) mean() ([]float64, error) { return q.meanBy(q.many) }

func (q *equation) meanBy(r *rows) ([]float64, error) {
	u := make([]float64, len(q.free))
	size := r.batch.Size / r.parts
	for from := 0; from < q.n; from += size {
		if err := q.run(r, from, min(from+size, q.n), 1/float64(q.n)); err != nil {
			return nil, err
		}
		q.add(u, r)
	}
	if !engine.Finite(u...) {
		return nil, &engine.DivergedError{What: "gradient"}
	}
	return u, nil
}

// row is ψ_i where the model is.
func (q *equation) row(i int, into []float64) (err error) {
	if q.single == nil {
		if q.single, err = q.newRows(1, 1); err != nil {
			return err
		}
	}
	clear(into)
	if err := q.run(q.single, i, i+1, 1); err != nil {
		return err
	}
	q.add(into, q.single)
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
