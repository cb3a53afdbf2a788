package path

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"missingscore/internal/setting"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
)

// auto goes the path of every other penalty and takes the one with the network of least
// EBIC, each refitted by maximum likelihood, so that networks are judged and not what a
// penalty shrinks: plain L1 unless another's EBIC is lower by autoMargin
// (docs/theory/penalties.md#auto).
type auto struct{}

// autoMargin is very strong evidence on the scale of Kass & Raftery 1995. With less in its
// favour an adaptive penalty finds the star of equal weak edges worse than L1.
const autoMargin = 10

// Auto is what the penalty "auto" has come to.
type Auto struct {
	Kind   string        // of the penalty that is taken; "": not known yet
	Kinds  []string      // that were tried
	Scores []float64     // their least EBIC; +Inf where no network has a likelihood with a maximum
	States []*State      // of their paths, while they are under way
	Engine *engine.State // of the last of these; nil: before it has begun
}

func (auto) name() string { return "auto" }

func (auto) form() string {
	return fmt.Sprintf("auto (l1, or the one of these with an EBIC less by %d)", autoMargin)
}

func (auto) pilots() bool { return false }

func (auto) resolve(c Config, p engine.Problem, method estimator.Estimator) (Config, error) {
	switch {
	case !method.Deterministic():
		return c, setting.Errorf("penalty", "auto", "it compares paths, and those of method %s are of draws; name a penalty, or take em-exact or exact", method.Name)
	case c.LambdaMax != 0 || c.LambdaMin != 0:
		return c, setting.Errorf("penalty", "auto", "each penalty has λ of its own, so that none can be given; leave --lambda-max and --lambda-min out, or name a penalty")
	}
	if _, err := (l1{}).resolve(c, p, method); err != nil {
		return c, err
	}
	return c.piloted(p, lambdaRatio)
}

// prepare makes what is left of the paths and goes on with one of them.
func (auto) prepare(ctx context.Context, r *Run) error {
	s := &r.State.Auto
	if s.Kind == "" {
		if err := r.compare(ctx); err != nil {
			return err
		}
	}
	by, _ := Penalty{Kind: s.Kind}.by()
	return by.prepare(ctx, r)
}

// compare goes the path of each penalty.
func (r *Run) compare(ctx context.Context) error {
	s := &r.State.Auto
	for i, kind := range r.rivals() {
		if i == len(s.States) {
			s.Engine = nil
			s.Kinds, s.Scores, s.States = append(s.Kinds, kind), append(s.Scores, math.Inf(1)), append(s.States, &State{})
			if i > 0 { // rivals have the same pilot
				s.States[i].Pilot = s.States[i-1].Pilot
			}
		}
		if i < len(s.States)-1 { // done
			continue
		}
		score, err := r.scorePath(ctx, kind, s.States[i])
		switch {
		case engine.Diverged(err) && i > 0: // a pilot or a path that does not exist is not taken
		case err != nil:
			return err
		case !math.IsNaN(score):
			s.Scores[i] = score
		}
	}
	best := 0
	for i, score := range s.Scores {
		margin := 0.0
		if best == 0 {
			margin = autoMargin
		}
		if score < s.Scores[best]-margin {
			best = i
		}
	}
	taken := *s.States[best]
	taken.Auto = Auto{Kind: s.Kinds[best], Kinds: s.Kinds, Scores: s.Scores}
	*r.State = taken
	if n := len(taken.Points); n > 0 { // from where the path goes on if the selection needs more of it
		r.setPoint(n - 1)
	}
	return r.save()
}

// rivals are the penalties that can be had with the run's other settings.
func (r *Run) rivals() (kinds []string) {
	for _, by := range penalties {
		c := r.Config
		c.Penalty = Penalty{Kind: by.name()}
		if _, own := by.(auto); own {
			continue
		}
		if _, err := by.resolve(c, r.Problem, r.Estimator); err == nil {
			kinds = append(kinds, by.name())
		}
	}
	return kinds
}

// scorePath makes what is left of a penalty's path and gives the least EBIC of its networks.
func (r *Run) scorePath(ctx context.Context, kind string, s *State) (score float64, err error) {
	c := r.Config
	c.Penalty, c.LambdaMax, c.LambdaMin = Penalty{Kind: kind}, 0, 0
	if by := (ebic{}).name(); c.Select.Kind != by {
		c.Select, c.Refit = Selection{Kind: by, Gamma: c.Select.Gamma}, new(true)
	}
	steps := r.Engine.Config
	if observe := steps.Observe; observe != nil {
		steps.Observe = func(p engine.Progress) {
			p.Trial = kind
			observe(p)
		}
	}
	run, err := newRun(r.Problem, steps, c, s, r.rows)
	if err != nil {
		return 0, err
	}
	capture := func() {
		now := run.Capture()
		r.State.Auto.Engine = &now
	}
	if before := r.State.Auto.Engine; before != nil {
		run.Restore(*before)
	}
	defer capture() // when it is cut, too
	run.save = func() error {
		capture()
		return r.save()
	}
	if err := run.prepare(ctx); err != nil {
		return 0, err
	}
	if !run.asNeeded() {
		if err := run.path(ctx); err != nil {
			return 0, err
		}
	}
	chosen, err := run.choose(ctx)
	if err != nil {
		return 0, err
	}
	return chosen.scores[chosen.point], nil
}

func (auto) describe(s *State) string {
	var tried []string
	for i, kind := range s.Auto.Kinds {
		tried = append(tried, fmt.Sprintf("%s %.1f", kind, s.Auto.Scores[i]-slices.Min(s.Auto.Scores)))
	}
	by, ok := Penalty{Kind: s.Auto.Kind}.by()
	if !ok {
		return "not chosen yet"
	}
	return fmt.Sprintf("chosen by EBIC (above the least: %s; l1 unless another is less by %d): %s", strings.Join(tried, ", "), autoMargin, by.describe(s))
}
