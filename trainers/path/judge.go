package path

import (
	"context"
	"math"
	"slices"

	"missingscore/graph/model"
	"missingscore/trainers/completed"
	"missingscore/trainers/engine"
)

// Judged is what the criterion on a domain has told.
type Judged struct {
	Done   bool
	Scores []float64 // one a point; NaN where the search did not come by
}

const (
	judgeRounds    = 10   // references, at most
	judgeTurns     = 30   // to a reference, at most
	judgeTolerance = 1e-3 // of its P
)

// judge is the criterion on a domain. The rows are completed by draws from a reference, the
// network of a point refitted (completed.Setting.Root). By these rows every network has a
// least loss ψ, in closed form, and the score
//
//	n ψ + e (log n + 4 γ log d)          n of the first term the rows
//
// e, in place of the number of edges, is by how much nψ falls on average through the edges
// of the network where none is one of the truth (completed.Judge): a superfluous one lowers
// it by the variance of the loss's gradient over its curvature, not by 1 as −2 log L
// (composite likelihoods: Gao & Song 2010). The network of the least score is the next
// reference, until one comes again (structural EM: Friedman 1998). The first is the
// sparsest of the path. edge is log n + 4 γ log d.
func (r *Run) judge(ctx context.Context, edge float64) ([]float64, error) {
	state, networks := &r.State.Judged, r.networks()
	if state.Done {
		return slices.Clone(state.Scores), nil
	}
	scores := slices.Repeat([]float64{math.NaN()}, len(r.State.Points))
	seen := make([]bool, len(scores))
	for at, rounds := networks[0], 0; !seen[at] && rounds < judgeRounds; rounds++ {
		seen[at] = true
		by, ok, err := r.reference(ctx, at)
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		if at, scores, err = r.judgeBy(ctx, by, networks, edge); err != nil {
			return nil, err
		}
	}
	state.Done, state.Scores = true, r.shared(networks, scores)
	return slices.Clone(state.Scores), r.save()
}

// completing is how rows are completed for networks to be judged and solved by.
func (r *Run) completing() completed.Setting {
	return completed.Setting{Table: r.Table, Rows: r.rows, Domain: r.Domain, Weight: r.Weight,
		Seed: r.Engine.Config.Seed, Workers: r.Engine.Config.Workers}
}

// support is that of a point's network.
func (r *Run) support(index int) *completed.Support {
	return completed.NewSupport(Adjacency(r.State.Points[index].Packed, r.Table.D, r.Config.Threshold))
}

// at is a model of its own at a point.
func (r *Run) at(index int) *model.Gaussian {
	m := model.NewGaussian(r.Table.D, model.Natural)
	copy(m.Packed.Value, r.State.Points[index].Packed)
	copy(m.Location.Value, r.State.Points[index].Linear)
	return m
}

// reference makes the judge whose rows are completed by the refit of a point's network. It
// is not ok where there is none.
func (r *Run) reference(ctx context.Context, index int) (j *completed.Judge, ok bool, err error) {
	bounds := r.posdef
	root, ok, err := r.completing().Root(ctx, r.at(index), r.support(index), &bounds, judgeTolerance, judgeTurns)
	if err != nil || !ok {
		return nil, false, err
	}
	return completed.NewJudge(root)
}

// judgeBy gives the network of the least score and the scores, NaN for those that the
// search does not come by and for those whose loss is least at a P that is not positive
// definite.
func (r *Run) judgeBy(ctx context.Context, by *completed.Judge, networks []int, edge float64) (best int, scores []float64, err error) {
	scores = slices.Repeat([]float64{math.NaN()}, len(r.State.Points))
	done, bounds, m := make([]bool, len(scores)), r.posdef, r.at(0)
	best, err = search(func(int) ([]int, error) { return networks, nil }, func(points []int) error {
		for _, i := range points {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if done[i] {
				continue
			}
			done[i] = true
			v, ok, err := by.Network(r.support(i))
			if err != nil {
				return err
			}
			if ok {
				if completed.Put(m, v.Theta); bounds.Inside(m) {
					scores[i] = float64(len(r.rows))*v.Loss + v.Edges*edge
				}
			}
			r.Report(engine.Progress{Stage: "ebic", Unit: "network", Iteration: count(done), Total: len(networks), Loss: math.NaN(), EffectiveSize: math.NaN()})
		}
		return nil
	}, func(point int) float64 { return scores[point] })
	return best, scores, err
}
