package path

import (
	"context"
	"math"
	"slices"

	"missingscore/graph/model"
	"missingscore/trainers/engine"
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
	judgeStride    = 4    // networks that one reference judges, beside the one they follow
	judgePatience  = 4    // references in a row that find nothing better before the search ends
)

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
func (r *Run) judge(ctx context.Context, edge float64) ([]float64, error) {
	state := &r.State.Judged
	if state.Done {
		return slices.Clone(state.Scores), nil
	}
	j := &judgement{Run: r, edge: edge, before: math.NaN(), least: math.Inf(1)}
	var networks []int
	for first := 0; j.idle < judgePatience; first += judgeStride {
		var err error
		if networks, err = r.networksTo(ctx, first+judgeStride+1); err != nil {
			return nil, err
		}
		for len(j.scores) < len(r.State.Points) {
			j.scores = append(j.scores, math.NaN())
		}
		if j.model == nil {
			j.model = r.at(networks[0])
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
		r.Report(engine.Progress{Stage: "ebic", Unit: "network", Iteration: last, Total: len(networks), Loss: math.NaN(), EffectiveSize: math.NaN()})
	}
	state.Done, state.Scores = true, r.shared(networks, j.scores)
	return slices.Clone(state.Scores), r.save()
}

// judgement goes along the networks.
type judgement struct {
	*Run
	edge   float64
	model  *model.Gaussian // the last reference
	before float64         // score of the network that the last stretch ended with, NaN for none
	scores []float64
	least  float64 // of scores
	idle   int     // stretches since it was found
}

// stretch judges some networks by one reference. It is not ok where there is none, or the
// loss of one has no minimum.
func (j *judgement) stretch(ctx context.Context, points []int) (ok bool, err error) {
	by, ok, err := j.reference(ctx, points)
	if err != nil || !ok {
		return false, err
	}
	j.idle++
	bounds, m := j.posdef, j.at(points[0])
	shift := 0.0
	for i, point := range points {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		v, ok, err := by.Network(j.support(point))
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

// reference makes the judge whose rows are completed by the refit of the edges that the
// networks of points have in common.
func (j *judgement) reference(ctx context.Context, points []int) (by *mcem.Judge, ok bool, err error) {
	common := j.State.Points[points[0]].Adjacency(j.Table.D, j.Config.Threshold)
	for _, point := range points[1:] {
		for i, edge := range j.State.Points[point].Adjacency(j.Table.D, j.Config.Threshold).Edge {
			common.Edge[i] = common.Edge[i] && edge
		}
	}
	bounds := j.posdef
	root, ok, err := j.completing().Root(ctx, j.model, mcem.NewSupport(common), &bounds, judgeTolerance, judgeTurns)
	if err != nil || !ok {
		return nil, false, err
	}
	return mcem.NewJudge(root)
}

// completing is how rows are completed for networks to be judged and solved by.
func (r *Run) completing() mcem.Setting {
	return mcem.Setting{Table: r.Table, Rows: r.rows, Domain: r.Domain, Weight: r.Weight,
		Seed: r.Engine.Config.Seed, Workers: r.Engine.Config.Workers}
}

// support is that of a point's network.
func (r *Run) support(index int) *mcem.Support {
	return mcem.NewSupport(r.State.Points[index].Adjacency(r.Table.D, r.Config.Threshold))
}

// at is a model of its own at a point.
func (r *Run) at(index int) *model.Gaussian {
	m := model.NewGaussian(r.Table.D, model.Natural)
	copy(m.Packed.Value, r.State.Points[index].Precision(r.Table.D))
	copy(m.Location.Value, r.State.Points[index].Linear)
	return m
}
