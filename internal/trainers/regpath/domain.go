package regpath

import (
	"context"
	"math"
	"slices"

	"missingscore/graph/model"
	"missingscore/internal/data/network"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/gaussian/mcem"
	"missingscore/trainers/estimator"
)

const (
	judgeTurns     = 20   // maximum iterations to a reference
	judgeTolerance = 5e-3 // of P; standard errors are more than ten times larger
	judgeAstray    = 0.1  // maximum Newton step of a usable reference
	judgeStride    = 4    // networks per reference, beside the common one
	judgePatience  = 4    // references in a row without improvement that end the search

	solveTurns = 200 // maximum iterations of a refit on a domain
)

func completing(p *problem) mcem.Setting {
	return mcem.Setting{Table: p.Table, Rows: p.rows, Domain: p.Domain, Weight: p.Weight,
		Seed: p.Engine.Config.Seed, Workers: p.Engine.Config.Workers}
}

// judge scores the networks along the path, from the sparsest on, on a domain. Rows are completed
// by draws from a reference: the refit of the edges that some consecutive networks share
// (mcem.Setting.Root). Each network has a least loss ψ on these rows, in closed form, and the score
//
//	n ψ + e (log n + 4 γ log d)          n of the first term the rows
//
// where e, instead of the number of edges, is the expected decrease of nψ by the edges if none is
// true (mcem.Judge), because ψ is a composite likelihood (Gao & Song 2010). NaN for networks
// without a positive definite minimum and skipped ones.
func judge(ctx context.Context, w *walk, edge float64) ([]float64, error) {
	if w.State.Judged != nil {
		return slices.Clone(w.State.Judged), nil
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
			j.model = w.State.Points[networks[0]].model()
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
	w.State.Judged = shared(w.State.Points, networks, j.scores)
	return slices.Clone(w.State.Judged), w.save()
}

type judgement struct {
	*problem
	edge   float64
	model  *model.Gaussian // last reference
	before float64         // score of the last network of the previous stretch; NaN for none
	scores []float64
	least  float64 // of the scores
	idle   int     // stretches since the least score
}

// stretch scores networks by one reference, the refit of their common edges; ok is false without
// one.
func (j *judgement) stretch(ctx context.Context, points []int) (ok bool, err error) {
	var networks []network.Adjacency
	for _, point := range points {
		networks = append(networks, j.State.Points[point].Adjacency(j.Config.Threshold))
	}
	common := network.Adjacency{D: j.Table.D, Edge: slices.Clone(networks[0].Edge)}
	for _, a := range networks[1:] {
		for i, edge := range a.Edge {
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
	m, shift := j.State.Points[points[0]].model(), 0.0
	for i, point := range points {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		v, ok, err := by.Network(mcem.NewSupport(networks[i]))
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

// solvable reports whether a refit solves the complete-data equation on a domain by Monte Carlo EM.
func solvable(p engine.Problem, by estimator.Estimator) bool {
	return p.Domain.Bounded() && p.Missingness == nil && by.Source.Normal && by.Loss.Needs().Equation
}

func solveChosen(ctx context.Context, p *problem, edges []bool) error {
	f, d := &p.State.Refine, p.Table.D
	at, bounds, number := p.State.Points[f.Index], p.posdef, count(edges)
	by := completing(p)
	by.Observe = func(turn int) {
		p.tell("refit", "iteration", turn, solveTurns, at.Lambda, math.NaN(), number)
	}
	root, ok, err := by.Root(ctx, at.model(), mcem.NewSupport(network.Adjacency{D: d, Edge: edges}), &bounds, p.Config.Tolerance/10, min(solveTurns, p.Config.RefineIter))
	if err != nil {
		return err
	}
	if !ok || root.Bounded {
		return p.giveUp("the refit failed: the loss of this network has no positive definite minimum")
	}
	mcem.Put(p.model, root.Next)
	if f.Movement, err = root.Remaining(); err != nil {
		return err
	}
	f.Iterations, f.Loss, f.Size = root.Turns, root.Form.Loss(root.Next)/float64(d), at.EffectiveSize
	f.Done, f.Converged = true, f.Movement < p.Config.Tolerance
	return p.save()
}
