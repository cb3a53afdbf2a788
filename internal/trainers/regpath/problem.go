package regpath

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/data/network"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/gaussian/em"
	"missingscore/internal/trainers/gaussian/sparse"
	"missingscore/internal/trainers/optim"
)

// State is everything that changes during the estimate, without the engine's part.
type State struct {
	Iteration int // number of proximal steps
	Points    []Point
	Block     Block    // of current iterations
	Spectral  Spectral // accelerated
	Turns     em.State // em
	Pilot     Pilot    // of penalties with a pilot
	Auto      Auto
	Resampled Resampled
	Refitted  Refitted  // EBIC
	Judged    []float64 // EBIC on a domain: score by point
	Tests     Tests     // fdr
	Refine    Refine
}

type Block struct {
	Start       []float64
	Size        float64
	Count       int
	Loss        float64
	Projections int
}

// Refine is the stage after the path: iterations at the chosen λ until P converges.
type Refine struct {
	Started     bool
	Refit       bool // without a penalty
	Likeliest   bool // accelerated: maximum likelihood, because score matching has no minimum without a penalty
	Index       int  // of the chosen point
	Iterations  int
	Parts       [][]float64 // sums over the parts of the current block
	Previous    []float64   // mean of the last block
	Movement    float64     // of an element of P in 50 iterations: fixed, between blocks; else predicted
	Projections int         // in the last block; em: total
	Loss        float64     // mean over the last block; accelerated and em: at the end
	Size        float64     // effective sample size, mean over the last block
	Shrunk      float64     // moments: shrinkage of the correlations
	Stuck       bool        // accelerated: the loss falls towards a P that is not positive definite
	Converged   bool
	Done        bool
	Failure     string // reason for giving up; the result is then the path's point
}

const (
	refineBlock = 50   // iterations
	refineParts = 5    // parts of a block, for the variance of its mean
	refineIter  = 2000 // default maximum
)

type problem struct {
	*engine.Engine
	Config Config // with all defaults filled in
	State  *State

	model      *model.Gaussian
	posdef     optim.PositiveDefinite
	rows       []int // fitted rows of the table
	lambdas    []float64
	weights    []float64 // penalty weights of packed P; nil: all 1
	held       []bool    // elements of packed P fixed at 0; nil: none
	covariates covariates
	again      bool     // see Run.Again
	pointEdges [][]bool // edges of points, cached by networks
	save       func() error
}

func (p *problem) Penalty() Penalty {
	by := p.Config.Penalty
	if came := p.State.Auto.Kind; came != "" {
		by.Kind = came
	}
	if by.pilots() {
		by.Alpha = p.State.Pilot.Alpha
	}
	return by
}

func (p *problem) takeRows(rows []int) {
	if rows == nil {
		rows = p.Table.AllRows()
	}
	p.rows = byPattern(p.Table, rows)
	chosen := make([]bool, p.Table.N)
	for _, i := range p.rows {
		chosen[i] = true
	}
	p.Whole.Gaps = slices.DeleteFunc(p.Whole.Gaps, func(i int) bool { return !chosen[i] })
}

// byPattern sorts rows by pattern of observed cells.
func byPattern(t *data.Table, rows []int) []int {
	groups := t.Patterns(rows)
	slices.SortFunc(groups, func(a, b []int) int {
		i, j := a[0]*t.D, b[0]*t.D
		for k := range t.D {
			if x, y := t.Observed[i+k], t.Observed[j+k]; x != y {
				if x {
					return -1
				}
				return 1
			}
		}
		return 0
	})
	if sorted := slices.Concat(groups...); !slices.Equal(sorted, rows) {
		return sorted
	}
	return rows
}

func (p *problem) countRepeats() {
	t, distinct := p.Table, p.rows[:0]
	p.Counts = make([]float64, t.N)
	same := func(i, j int) bool {
		return slices.Equal(t.Observed[i*t.D:(i+1)*t.D], t.Observed[j*t.D:(j+1)*t.D]) && slices.Equal(t.Values[i*t.D:(i+1)*t.D], t.Values[j*t.D:(j+1)*t.D])
	}
	for _, i := range p.rows {
		if n := len(distinct); n > 0 && same(distinct[n-1], i) {
			p.Counts[distinct[n-1]] += t.Weight(i)
			continue
		}
		distinct = append(distinct, i)
		p.Counts[i] = t.Weight(i)
	}
	p.rows = distinct
}

// total returns the number of fitted rows with repetitions; with weights the sum of these.
func (p *problem) total() (sum float64) {
	if p.Counts == nil {
		return float64(len(p.rows))
	}
	for _, i := range p.rows {
		sum += p.Counts[i]
	}
	if p.Table.Weights == nil {
		return math.Round(sum)
	}
	return sum
}

// fitsMean reports whether η = Pμ is fitted.
func (p *problem) fitsMean() bool { return p.model.Parameterisation() == model.Natural }

func (p *problem) candidates() int { q := len(p.covariates.nodes); return q * (q - 1) / 2 }

func (p *problem) packed() []float64 {
	of := p.model.Packed
	if of.Value == nil {
		of.Value = make([]float64, of.Rows*of.Cols)
	}
	return of.Value
}

// adjacency returns edges among all columns, all pairs of two blocks or none; withFree is the value
// of free pairs.
func (p *problem) adjacency(at Point, withFree bool) network.Adjacency {
	a := at.Adjacency(p.Config.Threshold)
	if p.covariates.blocks != nil {
		a.Edge = p.covariates.columns(p.nodeEdges(at.Packed()))
	}
	p.covariates.set(a.Edge, p.Table.D, withFree)
	return a
}

func (p *problem) nodeEdges(packed []float64) []bool {
	return Adjacency(p.covariates.precision(packed, p.Table.D), len(p.covariates.nodes), p.Config.Threshold).Edge
}

func (p *problem) edges() int { return count(p.nodeEdges(p.packed())) }

func (p *problem) setPoint(index int) {
	at := p.State.Points[index]
	at.P.ToPacked(p.packed())
	copy(p.model.Location.Value, at.Linear)
}

func (p *problem) take(index int) {
	p.setPoint(index)
	f, at := &p.State.Refine, p.State.Points[index]
	f.Index, f.Size, f.Loss = index, at.EffectiveSize, at.Loss
}

// giveUp makes the path's point the result; without a loss it computes the estimator's, mean over
// rows and columns.
func (p *problem) giveUp(why string) error {
	f := &p.State.Refine
	p.take(f.Index)
	f.Failure, f.Done = why, true
	if math.IsNaN(f.Loss) {
		step, err := p.Gradient(p.State.Iteration, p.rows, 1/(p.total()*float64(p.Table.D)))
		if err != nil {
			return err
		}
		f.Loss = step.Loss
	}
	return p.save()
}

// The schedule sets loss and effective size.
func (p *problem) closeBlock(lambda float64) Point {
	b := p.State.Block
	at := Point{Lambda: lambda, P: *sparse.FromPacked(p.packed(), p.Table.D), Edges: p.edges(), Change: floats.Distance(b.Start, p.packed(), math.Inf(1)),
		Loss: math.NaN(), EffectiveSize: math.NaN(), Projections: b.Projections, Iterations: b.Count}
	if p.fitsMean() {
		at.Linear = slices.Clone(p.model.Location.Value)
	}
	p.State.Block = Block{}
	return at
}

// unfinished is in descending order.
func (p *problem) unfinished() (lambdas []float64) {
	for _, at := range p.State.Points {
		if at.Unfinished {
			lambdas = append(lambdas, at.Lambda)
		}
	}
	return lambdas
}

// networks returns the finished points whose network differs from the previous one.
func (p *problem) networks() (points []int) {
	for _, at := range p.State.Points[len(p.pointEdges):] {
		p.pointEdges = append(p.pointEdges, p.adjacency(at, false).Edge)
	}
	all := len(p.unfinished()) == len(p.State.Points)
	for i, at := range p.State.Points {
		last := len(points) - 1
		if (all || !at.Unfinished) && (last < 0 || at.Edges != p.State.Points[points[last]].Edges || !slices.Equal(p.pointEdges[i], p.pointEdges[points[last]])) {
			points = append(points, i)
		}
	}
	return points
}

type schedule interface {
	// iterate completes the iterations at λ_k.
	iterate(ctx context.Context, k int) (Point, error)
	// settle completes the iterations after the path; if they diverge, the result is the chosen point.
	settle(ctx context.Context, lambda float64) error
}

func (p *problem) report(stage, unit string, done, of int, lambda, loss, size float64) {
	p.Report(engine.Progress{Stage: stage, Unit: unit, Iteration: done, Total: of, Lambda: lambda, Edges: p.edges(), Loss: loss, EffectiveSize: size})
}

func (p *problem) tell(stage, unit string, done, of int, lambda, loss float64, edges int) {
	p.Report(engine.Progress{Stage: stage, Unit: unit, Iteration: done, Total: of, Lambda: lambda, Edges: edges, Loss: loss, EffectiveSize: math.NaN()})
}
