package path

import (
	"context"
	"fmt"
	"math"
	"slices"

	"missingscore/internal/setting"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
)

// ridge puts pairs in order of the size of their partial correlations in a ridge pilot,
// without any other fit: the path's λ are thresholds of that size, its points the pilot
// with the pairs below at 0 (docs/theory/penalties.md#ridge).
type ridge struct{}

const ridgeRatio = 100 // of the largest threshold to the smallest

func (ridge) name() string { return "ridge" }

func (ridge) form() string {
	return "ridge[=ALPHA] (by the size of partial correlations in a ridge pilot)"
}

func (ridge) pilots() bool { return true }

// resolve asks for a refit: a threshold leaves no estimate of what is above it.
func (ridge) resolve(c Config, p engine.Problem, _ estimator.Estimator) (Config, error) {
	switch text := c.Penalty.text(); {
	case c.Select.holdsOut():
		return c, setting.Errorf("penalty", text, "its networks come without distributions that rows held out could judge; take another selection, or another penalty")
	case c.PathOnly:
		return c, setting.Errorf("penalty", text, "its path has no estimate that could be the result; it needs the refit after the path")
	case c.Refit != nil && !*c.Refit:
		return c, setting.Errorf("penalty", text, "its networks have no sizes but those of a refit; leave --refit=false out")
	}
	c.Refit = new(true)
	return c.piloted(p, ridgeRatio)
}

func (ridge) prepare(ctx context.Context, r *Run) error {
	if err := r.pilot(ctx); err != nil {
		return err
	}
	s := &thresholds{schedule: r.schedule, run: r, sizes: sizes(r.State.Pilot.Packed, r.Table.D)}
	r.schedule = s
	return r.span(ridgeRatio, func() float64 { return slices.Max(s.sizes) })
}

func (ridge) describe(s *State) string {
	return fmt.Sprintf("none: pairs in order of the size of their partial correlations in a ridge pilot %s; λ is a threshold of that size", s.Pilot.describe())
}

// thresholds is the schedule of a path without fits, after which another settles.
type thresholds struct {
	schedule
	run   *Run
	sizes []float64 // of pairs
}

// iterate leaves the pilot's pairs above λ_k, shrunk by one factor where P would not be
// positive definite.
func (t *thresholds) iterate(ctx context.Context, k int) error {
	r, d := t.run, t.run.Table.D
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.State.Block.Start = slices.Clone(r.packed())
	pilot := r.State.Pilot
	copy(r.packed(), pilot.Packed)
	for i, held := range belowThreshold(t.sizes, d, r.lambdas[k]) {
		if held {
			r.packed()[i] = 0
		}
	}
	r.posdef.Project(r.model)
	if r.fitsMean() {
		r.model.SetMean(pilot.Mean)
	}
	r.Report(engine.Progress{Stage: "path", Unit: "λ", Iteration: k + 1, Total: len(r.lambdas), Lambda: r.lambdas[k],
		Edges: r.edges(), Loss: math.NaN(), EffectiveSize: math.NaN()})
	return nil
}

func (t *thresholds) close(p *Point) { p.Loss, p.EffectiveSize = math.NaN(), math.NaN() }
