package path

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
	"missingscore/losses"
	"missingscore/losses/pairmoments"
	"missingscore/trainers/engine"
	"missingscore/trainers/gaussian/pairwise"
)

// matrix is the schedule of losses that know the table by one matrix of second moments
// (losses.OfMatrix): that is taken once, and at each λ the minimum is found by coordinate
// descent over the pairs that may not be zero (pairwise.Lasso). No row is read again.
type matrix struct {
	*Run
	loss    losses.OfMatrix
	of      *pairmoments.Moments // nil: not taken yet
	halved  bool                 // half of them is held
	lasso   pairwise.Lasso
	outcome pairwise.Outcome // of the last λ
	at      *pairwise.Sparse // P there. The model has it when the result is known
	change  float64          // of P by it, at most
	reached float64          // the path's loss there
}

func newMatrix(r *Run) *matrix {
	return &matrix{Run: r, loss: r.Estimator.Loss.(losses.OfMatrix)}
}

// ofMatrix is the run's schedule, nil where it is another.
func (r *Run) ofMatrix() *matrix {
	m, _ := r.schedule.(*matrix)
	return m
}

// take takes the moments, once.
func (m *matrix) take(ctx context.Context) (err error) {
	if m.of != nil {
		return nil
	}
	workers := m.Engine.Config.Workers
	if m.of, err = m.loss.Matrix(ctx, m.Table, m.rows, m.Counts, workers, true); err != nil {
		return err
	}
	m.halved = m.of.Half != nil
	m.lasso = pairwise.Lasso{D: m.Table.D, S: m.of.S, Half: m.of.Half, Workers: workers, Tolerance: m.Config.StopTol, Sweeps: m.Config.MaxIter}
	return nil
}

// scale is by how much the path's loss, tr(PSP) − 2 tr P per column, is less than the descent's
// ½ tr(PSP) − tr P.
func (m *matrix) scale() float64 { return float64(m.Table.D) / 2 }

// top is the smallest λ, with 5 % to spare, at which the minimum has no edge.
func (m *matrix) top() float64 { return m.topOf(m.nullGradient()) }

// topOf is top by the sizes of nullGradient.
func (m *matrix) topOf(size func(j, k int) float64) (top float64) {
	for j := range m.Table.D {
		for k := j + 1; k < m.Table.D; k++ {
			top = max(top, size(j, k))
		}
	}
	return 1.05 * top / m.scale()
}

// nullGradient gives the sizes of the gradient by pairs at the minimum without edges.
func (m *matrix) nullGradient() (size func(j, k int) float64) {
	if m.covariates.free != nil {
		s := mat.NewSymDense(m.Table.D, nil)
		for j := range m.Table.D {
			for k := j; k < m.Table.D; k++ {
				s.SetSym(j, k, m.of.Element(j, k))
			}
		}
		if derivative, ok := m.covariates.nullGradient(s); ok {
			return func(j, k int) float64 { return math.Abs(derivative(j, k)) }
		}
	}
	p := m.start().Diagonal
	return func(j, k int) float64 { return math.Abs(m.of.Element(j, k)) * (p[j] + p[k]) }
}

// ratio is that of the largest λ to the smallest.
func (m *matrix) ratio() float64 {
	size := m.nullGradient()
	return crowdedRatio(m.Table.D, m.of.Pairs, size, m.topOf(size)*m.scale())
}

// lambdaRatio is that of the largest λ of a path with one penalty for all pairs to the smallest.
func (r *Run) lambdaRatio() float64 {
	if m := r.ofMatrix(); m != nil {
		return m.ratio()
	}
	return lambdaRatio
}

// emptying is a λ that empties the network.
func (r *Run) emptying() float64 {
	if m := r.ofMatrix(); m != nil {
		return m.top()
	}
	return lambdaMax(r.Problem, nil, r.covariates)
}

// iterate goes to the minimum at λ_k, from that at the λ before.
func (m *matrix) iterate(ctx context.Context, k int) error {
	p, before, screen := m.start(), pairwise.Identity(m.Table.D), 1.0
	if k > 0 {
		before, screen = m.State.Points[k-1].sparse(m.Table.D), 2-m.lambdas[k-1]/m.lambdas[k]
		p = before.Clone()
	}
	lambda := m.lambdas[k] * m.scale()
	var err error
	if m.outcome, err = m.lasso.Minimise(ctx, p, lambda, screen*lambda); err != nil {
		return err
	}
	m.State.Runaway = !m.outcome.Done
	m.at, m.change, m.reached = p, p.Distance(before), m.lossAt(p)
	m.placeMean(p)
	m.State.Block.Count = m.outcome.Sweeps
	m.State.Iteration += m.outcome.Sweeps
	m.Report(engine.Progress{Stage: "path", Unit: "λ", Iteration: k + 1, Total: len(m.lambdas), Lambda: m.lambdas[k],
		Edges: m.edgesOf(p), Loss: m.reached, EffectiveSize: math.NaN()})
	return ctx.Err()
}

// edgesOf counts the edges of P among the nodes.
func (m *matrix) edgesOf(p *pairwise.Sparse) (n int) {
	free := m.covariates.free
	for i, at := range p.At {
		if math.Abs(p.Value[i]) > m.Config.Threshold && (free == nil || !free[graph.PackedIndex(p.D, int(at[0]), int(at[1]))]) {
			n++
		}
	}
	return n
}

// point is the path's at the λ that was made last.
func (m *matrix) point(lambda float64) Point {
	p := Point{Lambda: lambda, Edges: m.edgesOf(m.at), Change: m.change, Iterations: m.State.Block.Count}
	if m.fitsMean() {
		p.Linear = slices.Clone(m.model.Location.Value)
	}
	if m.Table.D > DenseColumns {
		p.Sparse = m.at
	} else {
		p.Packed = make([]float64, m.Table.D*(m.Table.D+1)/2)
		m.at.ToPacked(p.Packed)
	}
	m.close(&p)
	m.State.Block = Block{}
	return p
}

// start is the minimum without any pair.
func (m *matrix) start() *pairwise.Sparse {
	p := pairwise.Identity(m.Table.D)
	for j := range p.Diagonal {
		p.Diagonal[j] = 1 / m.of.Element(j, j)
	}
	return p
}

// release lets the moments of many columns go before the model takes a matrix of its own.
func (m *matrix) release() {
	if m.Table.D > DenseColumns {
		m.of.S, m.of.Half, m.lasso = nil, nil, pairwise.Lasso{}
		runtime.GC()
	}
}

// place puts the model to P.
func (m *matrix) place(p *pairwise.Sparse) {
	p.ToPacked(m.packed())
	m.placeMean(p)
}

// placeMean puts the model to P and the mean that comes with the moments, where one does.
func (m *matrix) placeMean(p *pairwise.Sparse) {
	if m.of.Mean != nil {
		p.ToPacked(m.packed())
		m.model.SetMean(m.of.Mean)
	}
}

// Thresholds are those of ordinal columns that come with the moments, nil if none do.
func (r *Run) Thresholds() [][]float64 {
	if m := r.ofMatrix(); m != nil && m.of != nil {
		return m.of.Cuts
	}
	return nil
}

// lossAt is the path's loss.
func (m *matrix) lossAt(p *pairwise.Sparse) float64 { return p.Loss(m.of.Element) / m.scale() }

func (m *matrix) close(p *Point) {
	p.Loss, p.EffectiveSize, p.Unfinished = m.reached, math.NaN(), m.State.Runaway
}

func (m *matrix) moved() string {
	return fmt.Sprintf("would move by at most %.2g in %d sweeps", m.State.Refine.Movement, refineBlock)
}

// settle goes to the end at the chosen λ, or without a penalty on the chosen edges.
func (m *matrix) settle(ctx context.Context) error {
	f := &m.State.Refine
	if f.Done {
		m.release()
		return nil
	}
	m.lasso.Tolerance, m.lasso.Sweeps = min(m.Config.StopTol, 1e-2*m.Config.Tolerance/refineBlock), m.Config.RefineIter
	by := m.atLambda
	if f.Refit {
		by = m.withoutPenalty
	}
	p, o, definite, err := by(ctx)
	if err != nil {
		return err
	}
	if f.Done = true; !p.Finite() {
		m.Run.take(f.Index)
		f.Failure = "the moments of pairs of columns have no minimum on these edges"
		return m.save()
	}
	if !definite {
		f.Projections++
		m.State.Projections++
	}
	f.Iterations, f.Movement, f.Loss, f.Size = o.Sweeps, refineBlock*o.Moved, m.lossAt(p), math.NaN()
	m.release()
	m.place(p)
	f.Converged = definite && f.Movement < m.Config.Tolerance
	m.Report(engine.Progress{Stage: "refine", Unit: "sweep", Iteration: f.Iterations, Total: f.Iterations, Lambda: m.State.Points[f.Index].Lambda,
		Edges: m.edgesOf(p), Loss: f.Loss, EffectiveSize: math.NaN()})
	return m.save()
}

// atLambda is the minimum at the chosen λ, and whether it is positive definite, as it then is.
func (m *matrix) atLambda(ctx context.Context) (p *pairwise.Sparse, o pairwise.Outcome, definite bool, err error) {
	p = m.State.Points[m.State.Refine.Index].sparse(m.Table.D)
	lambda := m.lambda() * m.scale()
	if o, err = m.lasso.Minimise(ctx, p, lambda, lambda); err == nil && p.Finite() {
		definite, err = p.KeepDefinite(ctx, m.Config.Floor)
	}
	m.State.Refine.Shrunk = m.of.Shrunk
	return p, o, definite, err
}

// withoutPenalty is the minimum on the chosen edges by the moments shrunk as little as leaves
// one that is positive definite.
func (m *matrix) withoutPenalty(ctx context.Context) (p *pairwise.Sparse, o pairwise.Outcome, definite bool, err error) {
	start := m.chosen()
	for _, alpha := range m.of.Levels() {
		m.of.ShrinkTo(alpha)
		m.State.Refine.Shrunk = alpha
		p = start.Clone()
		if o, err = m.lasso.Fit(ctx, p); err != nil {
			return p, o, false, err
		}
		if !o.Done || !p.Finite() {
			continue
		}
		if definite, err = p.KeepDefinite(ctx, m.Config.Floor); err != nil || definite {
			return p, o, definite, err
		}
	}
	return p, o, false, nil
}

// chosen is P of the chosen point with the pairs that the result may have, zeros among them.
func (m *matrix) chosen() *pairwise.Sparse {
	d, free := m.Table.D, m.covariates.free
	from := m.State.Points[m.State.Refine.Index].sparse(d)
	p := &pairwise.Sparse{D: d, Diagonal: from.Diagonal}
	if m.choice.edges == nil && free == nil {
		for i, v := range from.Value {
			if math.Abs(v) > m.Config.Threshold {
				p.At, p.Value = append(p.At, from.At[i]), append(p.Value, v)
			}
		}
		return p
	}
	for j, next, pair := 0, 0, 0; j < d; j++ {
		for k := j + 1; k < d; k, pair = k+1, pair+1 {
			at, v := [2]int32{int32(j), int32(k)}, 0.0
			if next < len(from.At) && from.At[next] == at {
				v, next = from.Value[next], next+1
			}
			if m.mayBe(pair, graph.PackedIndex(d, j, k), v) {
				p.At, p.Value = append(p.At, at), append(p.Value, v)
			}
		}
	}
	return p
}

// mayBe tells whether the result may have a pair: its place among all pairs and in a packed P, and
// what the chosen point has there.
func (m *matrix) mayBe(pair, packed int, v float64) bool {
	if free := m.covariates.free; free != nil && free[packed] {
		return true
	}
	if m.choice.edges != nil {
		return m.choice.edges[pair]
	}
	return math.Abs(v) > m.Config.Threshold
}

// heldOut gives the loss of the last λ's P by moments of other rows.
func (m *matrix) heldOut(ctx context.Context, rows []int) (func() float64, error) {
	of, err := m.loss.Matrix(ctx, m.Table, rows, m.Counts, m.Engine.Config.Workers, false)
	if err != nil {
		return nil, err
	}
	return func() float64 { return m.at.Loss(of.Element) / m.scale() }, nil
}

// MatrixWords says what is known of the table by its second moments alone; "" where rows are.
func (r *Run) MatrixWords() string {
	m := r.ofMatrix()
	if m == nil || m.of == nil {
		return ""
	}
	words := m.words()
	if m.halved {
		words += "; half of their matrix was held, for the whole takes more memory than may be used"
	}
	return words
}

func (m *matrix) words() string {
	what, more := "second moments of pairs of columns", "em-exact"
	if m.of.Words != "" {
		return m.of.Words
	}
	if m.Table.Cuts != nil {
		what, more = "latent normal: polychoric correlations of ordered categories, polyserial ones with numbers, moments of pairs of these", "em-latent"
	}
	words := fmt.Sprintf("%s, over the rows that have both: %.4g rows on average, %g at least", what, m.of.Pairs, m.of.Least)
	if m.of.Shrunk == 0 {
		return words + "; they are positive semidefinite as they are"
	}
	were := "they were positive semidefinite"
	if m.of.Lowest < 0 {
		were = fmt.Sprintf("they were not positive semidefinite (smallest eigenvalue of the correlations %.3g)", m.of.Lowest)
	}
	words += fmt.Sprintf("; %s, and for the path all correlations are shrunk by %.3g %% (by %.2g at most)", were, 100*m.of.Shrunk, m.of.Moved)
	switch f := m.State.Refine; {
	case !f.Refit || f.Failure != "":
	case f.Shrunk == 0:
		words += "; sizes of edges are by the moments as they came"
	default:
		words += fmt.Sprintf("; sizes of edges are by correlations shrunk by %.3g %%, the least that has a positive definite precision", 100*f.Shrunk)
	}
	return words + "; " + more + " makes more of the same cells, and is right where missing depends on observed cells, too"
}

// fewRows is of how many rows with both columns of a pair there is a warning.
const fewRows = 10

// matrixWarnings tell of pairs that few rows have.
func (r *Run) matrixWarnings() []string {
	m := r.ofMatrix()
	if m == nil || m.of == nil {
		return nil
	}
	var unsettled []string
	if m.of.Unsettled {
		unsettled = []string{"the iterations of stochastic EM had not settled, so correlations of the latent numbers are less sure than their rows make them: leave out columns that nearly repeat others or have a category with few cells, or take --method pairwise"}
	}
	if m.of.Least >= fewRows {
		return unsettled
	}
	return append(unsettled, fmt.Sprintf("the pair of columns with the fewest rows together has %g: little is known of its second moment, and of what follows from it; leave out columns with few values (--exclude)", m.of.Least))
}
