package trainers

import (
	"context"

	"missingscore/internal/setting"
	"missingscore/trainers/inference"
	"missingscore/trainers/inference/bootstrap"
	"missingscore/trainers/inference/debias"
	"missingscore/trainers/regpath"
)

// checkInference fills in the defaults of Spec.Inference and refuses what does not go with
// the estimator or the support.
func (p *Prepared) checkInference() (err error) {
	c := &p.Spec.Inference
	if p.byTests() && !c.Asked() {
		c.Kind = p.testKind()
	}
	if *c, err = c.Resolve(); err != nil || !c.Asked() {
		return err
	}
	if err := p.checkKind(c.Kind); err != nil || !p.byTests() {
		return err
	}
	return p.checkKind(p.testKind())
}

// byTests tells whether tests of pairs choose the edges.
func (p *Prepared) byTests() bool { return p.Spec.Network.Select.ByTests() }

// checkKind refuses a kind of inference that does not go with the estimate.
func (p *Prepared) checkKind(name string) error {
	kind := inference.Kinds[name]
	if p.missingness != nil && kind.NoLaw {
		return setting.Errorf("inference", name, "it is not for tables whose cells are missing by a known law: take --inference bootstrap=N")
	}
	return kind.Check(p.Estimator, p.Support)
}

// testedBy is the kind of inference by which edges are chosen unless another is asked for.
const testedBy = debias.Robust

// testKind is the kind of inference that tests pairs where these choose the edges: that which
// is asked for, if it has p values.
func (p *Prepared) testKind() string {
	if c := p.Spec.Inference; c.Asked() && !inference.Kinds[c.Kind].Resamples {
		return c.Kind
	}
	if p.original.Counted != nil { // it has no rows to see errors in
		return debias.Model
	}
	return testedBy
}

// tests are those of a path's pairs, for a selection that goes by them.
func (p *Prepared) tests(n *regpath.Run) func(context.Context) (regpath.Tests, error) {
	return func(ctx context.Context) (regpath.Tests, error) {
		c := inference.Config{Kind: p.testKind(), Level: p.Spec.Inference.Level}
		setting.Default(&c.Level, inference.DefaultLevel)
		r, err := inference.Infer(ctx, inference.Problem{Config: c, Path: n, GapTests: p.gapTests})
		if err != nil {
			return regpath.Tests{}, err
		}
		return regpath.Tests{Pairs: r.Pairs, Rests: r.Rests, Warnings: r.Warnings}, nil
	}
}

// infer tells how uncertain an estimated network is. Of a shard it makes its estimates, and
// tells nothing.
func (p *Prepared) infer(ctx context.Context, n *regpath.Run, r *Result, run Run) error {
	c := p.Spec.Inference
	if !c.Asked() && c.Stability == 0 {
		return nil
	}
	if t := n.State.Tests; t.Done && c.Kind != p.testKind() { // else they come with the inference
		r.Warnings = append(r.Warnings, t.Warnings...)
	}
	setting.Default(&run.State.Inference, &inference.State{})
	q := inference.Problem{Config: c, Path: n, GapTests: p.gapTests, Again: p.again(n), State: run.State.Inference, Shard: run.Shard,
		Save: func() error { return run.save(n.Engine) }}
	if c.Asked() {
		found, err := p.inferred(ctx, q)
		if err != nil {
			return err
		}
		if found != nil {
			r.Warnings = append(r.Warnings, found.Warnings...)
			r.Network.Inference = found
			r.Network.Network.SetUncertainty(r.Network.Precision, found.Pairs)
			r.unreliable(found.Doubt)
		}
	}
	if c.Stability == 0 {
		return nil
	}
	s, err := bootstrap.CaseDropping(ctx, q)
	if err != nil || s == nil {
		return err
	}
	r.Warnings = append(r.Warnings, s.Warnings...)
	r.Network.Stability = s
	return nil
}

// inferred is what is known of the pairs: what chose the edges, if that is what is asked for.
func (p *Prepared) inferred(ctx context.Context, q inference.Problem) (*inference.Result, error) {
	if t := q.Path.State.Tests; t.Done && q.Config.Kind == p.testKind() {
		return &inference.Result{Pairs: t.Pairs, Rests: t.Rests, Warnings: t.Warnings}, nil
	}
	return inference.Infer(ctx, q)
}

// unreliable marks a result of which too many resamples have none.
func (r *Result) unreliable(why string) {
	if why != "" {
		r.Converged, r.Verdict = false, "NOT reliable: "+why+". The network itself: "+r.Verdict
	}
}
