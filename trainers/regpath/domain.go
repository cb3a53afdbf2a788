package regpath

import (
	"context"
	"math"
	"slices"

	"missingscore/data/network"
	"missingscore/graph/model"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
	"missingscore/trainers/gaussian/mcem"
)

// Judged is what the criterion on a domain has told.
type Judged struct {
	Done   bool
	Scores []float64 // one a point; NaN where the search did not come by
}

const (
	judgeTurns     = 20   // to a reference, at most
	judgeTolerance = 5e-3 // of its P: standard errors are ten times that and more
	judgeAstray    = 0.1  // Newton step from a reference, beyond which it is no root and judges nothing
	judgeStride    = 4    // networks that one reference judges, beside the one they follow
	judgePatience  = 4    // references in a row that find nothing better before the search ends

	solveTurns = 200 // of drawing and minimising that a refit on a domain makes, at most
)

// completing is how rows are completed for networks to be judged and solved by.
func completing(p *problem) mcem.Setting {
	return mcem.Setting{Table: p.Table, Rows: p.rows, Domain: p.Domain, Weight: p.Weight,
		Seed: p.Engine.Config.Seed, Workers: p.Engine.Config.Workers}
}

// judge is the criterion on a domain, of the networks along the path from the sparsest on.
// The rows are completed by draws from a reference, the edges that some networks in a row
// have in common, refitted (mcem.Setting.Root). By these rows every network has a least
// loss ψ, in closed form, and the score
//
//	n ψ + e (log n + 4 γ log d)          n of the first term the rows
//
// e, in place of the number of edges, is by how much nψ falls on average through the edges
// of the network where none is one of the truth (mcem.Judge): a superfluous one lowers
// it by the variance of the loss's gradient over its curvature, not by 1 as −2 log L
// (composite likelihoods: Gao & Song 2010). The last of these networks is the first of those
// that the next reference judges, which goes on from its score: so edges are judged before
// they have a part in the draws. Without gaps all references are the same. edge is
// log n + 4 γ log d. Networks whose loss is least at a P that is not positive definite, and
// those that the search does not come by, have NaN.
func judge(ctx context.Context, w *walk, edge float64) ([]float64, error) {
	state := &w.State.Judged
	if state.Done {
		return slices.Clone(state.Scores), nil
	}
	j := &judgement{problem: w.problem, edge: edge, before: math.NaN(), least: math.Inf(1)}
	var networks []int
	for first := 0; j.idle < judgePatience; first += judgeStride {
		var err error
		if networks, err = w.networksTo(ctx, first+judgeStride+1); err != nil {
			return nil, err
		}
		for len(j.scores) < len(w.State.Points) {
			j.scores = append(j.scores, math.NaN())
		}
		if j.model == nil {
			j.model = w.State.Points[networks[0]].model(w.Table.D)
		} else if first+1 >= len(networks) {
			break
		}
		last := min(first+judgeStride+1, len(networks))
		ok, err := j.stretch(ctx, networks[first:last])
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		w.tell("ebic", "network", last, len(networks), 0, math.NaN(), 0)
	}
	state.Done, state.Scores = true, shared(w.State.Points, networks, j.scores)
	return slices.Clone(state.Scores), w.save()
}

// judgement goes along the networks.
type judgement struct {
	*problem
	edge   float64
	model  *model.Gaussian // the last reference
	before float64         // score of the network that the last stretch ended with, NaN for none
	scores []float64
	least  float64 // of scores
	idle   int     // stretches since it was found
}

// stretch judges some networks by one reference: the refit of the edges that they have in common.
// It is not ok where there is none, turns do not come near it (judgeAstray), or the loss of one network has
// no minimum.
func (j *judgement) stretch(ctx context.Context, points []int) (ok bool, err error) {
	support := func(point int) *mcem.Support {
		return mcem.NewSupport(j.State.Points[point].Adjacency(j.Table.D, j.Config.Threshold))
	}
	common := j.State.Points[points[0]].Adjacency(j.Table.D, j.Config.Threshold)
	for _, point := range points[1:] {
		for i, edge := range j.State.Points[point].Adjacency(j.Table.D, j.Config.Threshold).Edge {
			common.Edge[i] = common.Edge[i] && edge
		}
	}
	bounds := j.posdef
	root, ok, err := completing(j.problem).Root(ctx, j.model, mcem.NewSupport(common), &bounds, judgeTolerance, judgeTurns)
	if err != nil || !ok {
		return false, err
	}
	remaining, err := root.Remaining()
	if err != nil || root.Bounded || remaining > judgeAstray {
		return false, err
	}
	by, ok, err := mcem.NewJudge(root)
	if err != nil || !ok {
		return false, err
	}
	j.idle++
	bounds = j.posdef
	m, shift := j.State.Points[points[0]].model(j.Table.D), 0.0
	for i, point := range points {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		v, ok, err := by.Network(support(point))
		if err != nil || !ok {
			return false, err
		}
		score := float64(len(j.rows))*v.Loss + v.Edges*j.edge
		if i == 0 && !math.IsNaN(j.before) {
			shift = j.before - score
		}
		j.before = score + shift
		if mcem.Put(m, v.Theta); !bounds.Inside(m) {
			continue
		}
		if j.scores[point] = j.before; j.before < j.least {
			j.least, j.idle = j.before, 0
		}
	}
	return true, nil
}

// solvable tells whether a refit is the root of the complete-data equation on a domain, by
// turns of drawing and minimising: that is what the estimator's own noisy steps lead to.
func solvable(p engine.Problem, by estimator.Estimator) bool {
	return p.Domain.Bounded() && p.Missingness == nil && by.Source.Normal && by.Loss.Needs().Equation
}

// solveChosen makes that refit of the edges the result, as refitChosen does.
func solveChosen(ctx context.Context, p *problem, edges []bool) error {
	f, d := &p.State.Refine, p.Table.D
	at, bounds, number := p.State.Points[f.Index], p.posdef, count(edges)
	by := completing(p)
	by.Observe = func(turn int) {
		p.tell("refit", "iteration", turn, solveTurns, at.Lambda, math.NaN(), number)
	}
	root, ok, err := by.Root(ctx, at.model(d), mcem.NewSupport(network.Adjacency{D: d, Edge: edges}), &bounds, p.Config.Tolerance/10, min(solveTurns, p.Config.RefineIter))
	if err != nil {
		return err
	}
	if !ok || root.Bounded {
		return p.giveUp("the refit failed, for the loss of this network has no minimum at a positive definite matrix")
	}
	mcem.Put(p.model, root.Next)
	if f.Movement, err = root.Remaining(); err != nil {
		return err
	}
	f.Iterations, f.Loss, f.Size = root.Turns, root.Form.Loss(root.Next)/float64(d), at.EffectiveSize
	f.Done, f.Converged = true, f.Movement < p.Config.Tolerance
	return p.save()
}
