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
	"missingscore/internal/trainers/engine"
	"missingscore/losses"
	"missingscore/trainers/estimator"
	"missingscore/trainers/source"
)

// equation is U(θ) = 0, the mean over rows of the weighted gradients ψ_i, with fixed draws whose
// weights depend on θ.
type equation struct {
	ctx      context.Context
	engine   *engine.Engine
	of       engine.Problem // table, domain and objective
	held     *held
	free     []int      // indices of the free parameters
	at       []*float64 // the free parameters
	n        int
	rows     [2][]int // complete rows, with one draw; rows with missing cells
	programs map[[3]int]*graph.Program
}

func newEquation(ctx context.Context, e *engine.Engine, of engine.Problem, h *held, free []int) *equation {
	q := &equation{ctx: ctx, engine: e, of: of, held: h, free: free, n: of.Table.N, programs: map[[3]int]*graph.Program{}}
	all := parameters(of.Model)
	for _, place := range free {
		q.at = append(q.at, all[place])
	}
	for i := range q.n {
		k := q.kind(i)
		q.rows[k] = append(q.rows[k], i)
	}
	return q
}

// kind is 1 for rows with missing cells.
func (q *equation) kind(i int) int {
	d := q.of.Table.D
	if slices.Contains(q.of.Table.Observed[i*d:(i+1)*d], false) {
		return 1
	}
	return 0
}

func (q *equation) draws(kind int) int { return [2]int{1, q.held.r}[kind] }

// add adds to u the gradients of at most size rows of a kind, times weight, with each row's draws
// averaged in several parts.
func (q *equation) add(u []float64, kind int, members []int, size, parts int, weight float64) error {
	if err := q.ctx.Err(); err != nil {
		return err
	}
	h, d, draws := q.held, q.of.Table.D, q.draws(kind)
	parts = min(parts, draws)
	key := [3]int{kind, size, parts}
	if q.programs[key] == nil {
		p, err := losses.New(graph.Float64, q.engine.Estimator.Loss, h.weighting, q.of.Model, q.of.Objective, size*parts, draws/parts)
		if err != nil {
			return err
		}
		q.programs[key] = p
	}
	program := q.programs[key]
	var all []int
	x, log := program.Input(losses.InputX), program.Input(losses.InputLogProposal)
	clear(x[len(members)*draws*d:])
	clear(log[len(members)*draws:])
	for i, row := range members {
		all = append(all, slices.Repeat([]int{row}, parts)...)
		copy(x[i*draws*d:(i+1)*draws*d], h.x[row*h.r*d:])
		copy(log[i*draws:(i+1)*draws], h.log[row*h.r:])
	}
	batch := data.NewBatch(size*parts, d)
	batch.Fill(q.of.Table, all, weight/float64(parts))
	for i, row := range all {
		batch.Weight[i] *= q.engine.Table.Weight(row)
	}
	losses.Bind(program, q.engine.Estimator.Loss, q.of.Objective, batch, stream.New(q.engine.Config.Seed, stream.Hold))
	if err := panics.Caught(program.Run); err != nil {
		return err
	}
	var g []float64
	for _, p := range q.of.Model.Params() {
		g = append(g, program.Grad(p)...)
	}
	for i, place := range q.free {
		u[i] += g[place]
	}
	return nil
}

// mean returns U, with each row's draws averaged in several parts.
func (q *equation) mean(parts int) ([]float64, error) {
	u := make([]float64, len(q.free))
	for kind, rows := range q.rows {
		size := together(len(rows), q.draws(kind))
		for members := range slices.Chunk(rows, size) {
			if err := q.add(u, kind, members, size, parts, 1/float64(q.n)); err != nil {
				return nil, err
			}
		}
	}
	if !engine.Finite(u...) {
		return nil, &engine.DivergedError{What: "gradient"}
	}
	return u, nil
}

// difference is the relative step of central differences.
const difference = 6e-6

// jacobian returns the central differences of f by the numbers at, one a column.
func jacobian(at []*float64, f func() ([]float64, error)) (j *mat.Dense, err error) {
	for c, x := range at {
		var up, down []float64
		was, step := *x, difference*math.Max(1, math.Abs(*x))
		*x = was + step
		if up, err = f(); err == nil {
			*x = was - step
			down, err = f()
		}
		if *x = was; err != nil {
			return nil, err
		}
		floats.Sub(up, down)
		floats.Scale(1/(2*step), up)
		if j == nil {
			j = mat.NewDense(len(up), len(at), nil)
		}
		j.SetCol(c, up)
	}
	return j, nil
}

// jacobian returns A = ∂U/∂θ.
func (q *equation) jacobian() (*mat.Dense, error) {
	calls := 0
	return jacobian(q.at, func() ([]float64, error) {
		u, err := q.mean(1)
		if calls++; err == nil && calls%2 == 0 {
			q.engine.Report(engine.Progress{Stage: "standard errors", Unit: "derivative", Iteration: calls / 2, Total: len(q.at), Loss: math.NaN(), EffectiveSize: math.NaN()})
		}
		return u, err
	})
}

func parameters(m model.Model) (all []*float64) {
	for _, p := range m.Params() {
		for i := range p.Value {
			all = append(all, &p.Value[i])
		}
	}
	return all
}

// units returns d scale factors of 1, and their places.
func units(d int) (unit []float64, at []*float64) {
	unit = slices.Repeat([]float64{1}, d)
	for j := range unit {
		at = append(at, &unit[j])
	}
	return unit, at
}

const spreadRows = 256

// spread returns V, the second moments of (ψ_i, φ_i), with ψ centred.
func (q *equation) spread(s *scaleEffect) (*mat.SymDense, error) {
	k := len(q.free)
	size := k + s.size()
	v := mat.NewSymDense(size, nil)
	sum := make([]float64, size)
	block := mat.NewDense(spreadRows, size, nil)
	for i := range q.n {
		row := block.RawRowView(i % spreadRows)
		clear(row[:k])
		if err := q.add(row[:k], q.kind(i), []int{i}, 1, 1, 1); err != nil {
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

// held are the completed rows (n, r, d) and the log density of their proposal.
type held struct {
	r         int
	x, log    []float64
	weighting losses.Weighting
	filled    bool // gaps hold draws, not zeros
}

// Limits of completed rows in all, and relative to a step of the fit.
const (
	enoughRows = 50000
	mostTimes  = 10
)

// Draws is the number of completed rows for each of the table's, from the draws of a step.
func Draws(e estimator.Estimator, rows, draws int) int {
	if !e.Draws() {
		return 1
	}
	r := draws * max(1, min(mostTimes, enoughRows/(rows*draws)))
	return r + r%2
}

// Approximate number of completed rows, and maximum number of table rows, per program.
const (
	completedRows = 1000
	mostTogether  = 100
)

func together(rows, r int) int { return max(1, min(rows, mostTogether, completedRows/r)) }

// hold: draws from a normal model's own conditional get importance weights, too.
func hold(e *engine.Engine) (*held, error) {
	h := &held{filled: e.Estimator.Draws()}
	h.r = Draws(e.Estimator, e.Table.N, e.Config.Draws)
	var err error
	if e.Estimator.Source.Normal {
		h.weighting = losses.SelfNormalised
	} else if h.weighting, err = e.Estimator.WeightingFor(e.Config.Weighting, h.r); err != nil {
		return nil, err
	}
	n, d := e.Table.N, e.Table.D
	h.x, h.log = make([]float64, n*h.r*d), make([]float64, n*h.r)
	size := together(n, h.r)
	from, err := e.Estimator.Source.New(source.Setting{
		Model: e.Model, Table: e.Table, Imputer: e.Imputer, Batch: size, Draws: h.r, ProposalSD: e.Config.ProposalSD, Domain: e.Domain,
	})
	if err != nil {
		return nil, err
	}
	b := data.NewBatch(size, d)
	x, log := make([]float64, size*h.r*d), make([]float64, size*h.r)
	var rng stream.Stream
	all := e.Table.AllRows()
	for first := range slices.Chunk(all, size) {
		b.Fill(e.Table, first, 1)
		rng.At(e.Config.Seed, stream.Hold, uint64(first[0]))
		if err := panics.Caught(func() error { return from.Complete(b, x, log, &rng) }); err != nil {
			return nil, err
		}
		at := first[0] * h.r
		copy(h.x[at*d:], x[:len(first)*h.r*d])
		copy(h.log[at:], log[:len(first)*h.r])
	}
	return h, nil
}

// scaleEffect is the effect of estimated column scales. Divide column j of the fitted columns z by
// b_j; the fit has b = 1, from the observed cells. With o_ij = 1 if cell (i, j) is observed and m_j
// the column's mean square, the influence of row i on b_j is
//
//	½ o_ij (z_ij²/m_j − 1)/π_j,   π_j = mean of o_ij
//
// times its sampling weight. Shifts of columns have no effect
// (docs/theory/inference.md#eq-parameters).
type scaleEffect struct {
	table *data.Table
	share []float64  // π_j; nil if scales were not estimated
	mean  []float64  // m_j
	slope *mat.Dense // ∂U/∂b
}

func (s *scaleEffect) size() int { return len(s.share) }

func (p Problem) newScaleEffect(e *equation) (*scaleEffect, error) {
	t := e.of.Table
	s := &scaleEffect{table: t}
	if !p.Scaled {
		return s, nil
	}
	for j := range t.D {
		sum, square := 0.0, 0.0
		for i := range t.N {
			if z := t.Values[i*t.D+j]; t.Observed[i*t.D+j] {
				sum, square = sum+t.Weight(i), square+t.Weight(i)*z*z
			}
		}
		s.share = append(s.share, sum/float64(t.N))
		s.mean = append(s.mean, square/sum)
	}
	unit, at := units(t.D)
	var err error
	s.slope, err = jacobian(at, func() ([]float64, error) { return p.moved(e, unit) })
	return s, err
}

func (s *scaleEffect) row(i int, into []float64) {
	for j := range into {
		into[j] = 0
		if at := i*s.table.D + j; s.table.Observed[at] {
			z := s.table.Values[at]
			into[j] = 0.5 * s.table.Weight(i) * (z*z/s.mean[j] - 1) / s.share[j]
		}
	}
}

func (p Problem) moved(e *equation, unit []float64) ([]float64, error) {
	of, none := e.of, make([]float64, len(unit))
	inverse := make([]float64, len(unit))
	for j, u := range unit {
		inverse[j] = 1 / u
	}
	of.Table = data.Scale{Mean: none, Deviation: inverse}.Restore(e.of.Table)
	of.Domain = e.of.Domain.Standardised(none, unit)
	var err error
	if of.Objective, err = p.Objective(of.Domain); err != nil {
		return nil, err
	}
	h := *e.held
	h.x = make([]float64, len(e.held.x))
	for i, v := range e.held.x {
		h.x[i] = v / unit[i%len(unit)]
	}
	return newEquation(e.ctx, e.engine, of, &h, e.free).mean(1)
}

// bias returns the distance to the root with infinitely many draws, in standard errors of the
// farthest parameter: with U_½ the equation with halved draws at the root of U, A⁻¹U_½.
func (q *equation) bias(r *root) (float64, error) {
	if q.held.r < 2 || len(q.rows[1]) == 0 {
		return 0, nil
	}
	u, err := q.mean(2)
	if err != nil {
		return 0, err
	}
	_, size := r.step(u)
	return size, nil
}
