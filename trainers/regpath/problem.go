package regpath

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"missingscore/data"
	"missingscore/data/network"
	"missingscore/graph/model"
	"missingscore/trainers/engine"
	"missingscore/trainers/gaussian/em"
	"missingscore/trainers/optim"
)

// State is everything that changes while a network is estimated, beside the engine's part.
type State struct {
	Iteration int // proximal steps made
	Points    []Point
	Block     Block    // of iterations under way
	Spectral  Spectral // accelerated
	Turns     em.State // em
	Runaway   bool     // em: at the last λ there was no minimum
	Pilot     Pilot    // of penalties that take one
	Auto      Auto
	Resampled Resampled
	Refitted  Refitted // EBIC
	Judged    Judged   // EBIC on a domain
	Tests     Tests    // fdr
	Refine    Refine
}

// Block gathers what a Point reports.
type Block struct {
	Start       []float64
	Size        float64
	Count       int
	Loss        float64
	Projections int
}

// Refine is the stage after the path: at the chosen λ the iterations go on from the path's point
// until P stops changing.
type Refine struct {
	Started     bool
	Refit       bool // without a penalty
	Likeliest   bool // accelerated: by maximum likelihood, for score matching has no minimum without a penalty
	Index       int  // of the chosen point
	Iterations  int
	Parts       [][]float64 // sums over the parts of the block under way
	Previous    []float64   // the last block's mean
	Movement    float64     // of an element of P in 50 iterations: fixed, from block to block; else expected
	Projections int         // within the last block; em: in all
	Loss        float64     // mean over the last block; accelerated and em: at the end
	Size        float64     // effective sample size, mean over the last block
	Shrunk      float64     // moments: the share that correlations were shrunk by
	Stuck       bool        // accelerated: no step leads down, for the loss falls towards a P that is not positive definite
	Converged   bool
	Done        bool
	Failure     string // why it was given up; the result is then the path's point
}

const (
	refineBlock = 50   // iterations
	refineParts = 5    // of a block, to see the noise of its mean
	refineIter  = 2000 // at most
)

// problem is a network under estimation: rows, penalty, and the model, which schedules move.
type problem struct {
	*engine.Engine
	Config Config // with every default filled in
	State  *State

	model      *model.Gaussian
	posdef     optim.PositiveDefinite
	rows       []int // of the table, that are fitted to
	lambdas    []float64
	weights    []float64 // of packed P in the penalty; nil: all 1
	held       []bool    // of packed P: it stays 0; nil: none
	covariates covariates
	again      bool     // see Run.Again
	pointEdges [][]bool // of points of the path, as far as networks has looked
	save       func() error
}

// Penalty is the one that the path was made with, and its pilot's shrinkage.
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

// takeRows sets the rows that are fitted to, nil for all, those of one pattern together, for they
// share work.
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

// byPattern are the rows, those with the same cells observed together: first those that have
// the first columns. Rows in this order already are given as they are.
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

// countRepeats takes equal neighbours among the rows for one that counts as often.
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

// total is how many rows are fitted to, repeated ones as often as they are there; with weights
// the sum of theirs.
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

// fitsMean tells whether η = Pμ is fitted along.
func (p *problem) fitsMean() bool { return p.model.Parameterisation() == model.Natural }

// pairs of columns.
func (p *problem) pairs() int { return p.Table.D * (p.Table.D - 1) / 2 }

// candidates are the pairs that can be edges.
func (p *problem) candidates() int { q := len(p.covariates.nodes); return q * (q - 1) / 2 }

// packed is the model's P, as graph.PackedIndex says.
func (p *problem) packed() []float64 {
	of := p.model.Packed
	if of.Value == nil {
		of.Value = make([]float64, of.Rows*of.Cols)
	}
	return of.Value
}

// adjacency has the edges of a point among all columns, of blocks all pairs or none; withFree says
// whether pairs with a covariate and within a block are edges, all of them or none.
func (p *problem) adjacency(at Point, withFree bool) network.Adjacency {
	a := at.Adjacency(p.Table.D, p.Config.Threshold)
	if p.covariates.blocks != nil {
		a.Edge = p.covariates.columns(p.nodeEdges(at.precision(p.Table.D)))
	}
	p.covariates.set(a.Edge, p.Table.D, withFree)
	return a
}

// nodeEdges are the edges of a packed P among the nodes.
func (p *problem) nodeEdges(packed []float64) []bool {
	return Adjacency(p.covariates.precision(packed, p.Table.D), len(p.covariates.nodes), p.Config.Threshold).Edge
}

// edges is how many the model has among the nodes.
func (p *problem) edges() int { return count(p.nodeEdges(p.packed())) }

// setPoint puts the model to a point of the path.
func (p *problem) setPoint(index int) {
	at := p.State.Points[index]
	if at.Sparse != nil {
		at.Sparse.ToPacked(p.packed())
	} else {
		copy(p.packed(), at.Packed)
	}
	copy(p.model.Location.Value, at.Linear)
}

// take makes a point of the path the result.
func (p *problem) take(index int) {
	p.setPoint(index)
	f, at := &p.State.Refine, p.State.Points[index]
	f.Index, f.Size, f.Loss = index, at.EffectiveSize, at.Loss
}

// giveUp ends the stage after the path with the path's point. A path without fits has no loss: then
// it is the estimator's at the model, mean over rows and columns.
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

// closeBlock turns the finished block into a point. The schedule fills in loss and effective size.
func (p *problem) closeBlock(lambda float64) Point {
	b := p.State.Block
	at := Point{Lambda: lambda, Edges: p.edges(), Change: floats.Distance(b.Start, p.packed(), math.Inf(1)),
		Loss: math.NaN(), EffectiveSize: math.NaN(), Projections: b.Projections, Iterations: b.Count}
	if p.fitsMean() {
		at.Linear = slices.Clone(p.model.Location.Value)
	}
	at.setPrecision(p.packed(), p.Table.D)
	p.State.Block = Block{}
	return at
}

// unfinished are the λ at which the minimum was out of reach, the largest first.
func (p *problem) unfinished() (lambdas []float64) {
	for _, at := range p.State.Points {
		if at.Unfinished {
			lambdas = append(lambdas, at.Lambda)
		}
	}
	return lambdas
}

// networks are the finished points whose network is not that of the finished one before.
func (p *problem) networks() (points []int) {
	for _, at := range p.State.Points[len(p.pointEdges):] {
		p.pointEdges = append(p.pointEdges, p.adjacency(at, false).Edge)
	}
	var last []bool
	all := len(p.unfinished()) == len(p.State.Points)
	for i, at := range p.State.Points {
		if edges := p.pointEdges[i]; (all || !at.Unfinished) && !slices.Equal(edges, last) {
			points, last = append(points, i), edges
		}
	}
	return points
}

// schedule is a way to go along a path.
type schedule interface {
	// iterate makes what is left of the iterations at λ_k.
	iterate(ctx context.Context, k int) error
	// point is the path's at the λ that iterate has finished.
	point(lambda float64) Point
	// settle makes what is left of the iterations after the path. An error of divergence means
	// that the chosen point is as far as they come.
	settle(ctx context.Context, lambda float64) error
}

// report tells of iterations at λ.
func (p *problem) report(stage, unit string, done, of int, lambda, loss, size float64) {
	p.Report(engine.Progress{Stage: stage, Unit: unit, Iteration: done, Total: of, Lambda: lambda, Edges: p.edges(), Loss: loss, EffectiveSize: size})
}

// tell tells of a stage that has no model to count edges of.
func (p *problem) tell(stage, unit string, done, of int, lambda, loss float64, edges int) {
	p.Report(engine.Progress{Stage: stage, Unit: unit, Iteration: done, Total: of, Lambda: lambda, Edges: edges, Loss: loss, EffectiveSize: math.NaN()})
}
