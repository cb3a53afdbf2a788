package descent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/data/diagnose"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/gaussian/em"
	"missingscore/internal/trainers/optim"
)

func refusedByEM(p Problem) error {
	if !p.Estimator.Loss.Needs().Moments {
		return fmt.Errorf("the loss of method %s has no expectation step; use another optimiser", p.Estimator.Name)
	}
	if _, ok := p.Model.(*model.Gaussian); !ok {
		return fmt.Errorf("EM needs the model gaussian; use adam")
	}
	return nil
}

// runEM makes accelerated EM iterations (package em) over all rows, for normal models and losses
// with an expectation step (losses.LossNeeds.Moments). It ends at maximum likelihood when an
// iteration moves P_jk by less than Config.Tolerance √(P_jj P_kk) and μ_j by less than
// Config.Tolerance/√P_jj, or at rounding error (Stall).
func runEM(ctx context.Context, f *Fit) error {
	t := em.Turns{Engine: f.Engine, Model: f.Model.(*model.Gaussian), Rows: f.Table.AllRows()}
	f.Condense(t.Rows)
	s := &f.State.EM
	s.Anderson.Memory = em.Memory
	for f.State.Degenerate == nil && (s.Count == 0 || s.Relative > f.Config.Tolerance && s.Count < f.Config.Iterations && !f.State.Stall.reached()) {
		if err := f.turn(ctx, t); err != nil {
			return err
		}
		f.State.Iteration = s.Count
		f.Report(engine.Progress{Stage: "fit", Unit: "EM iteration", Iteration: s.Count, Total: f.Config.Iterations, Loss: s.Loss, EffectiveSize: math.NaN()})
		if err := f.record(Record{Iteration: s.Count, Loss: s.Loss, EffectiveSize: math.NaN(), HeldOut: math.NaN(), Gradient: math.NaN(),
			Likelihood: s.Likelihood / float64(f.Table.RowCount()), Movement: s.Relative}); err != nil {
			return err
		}
		if err := f.Save(); err != nil {
			return err
		}
	}
	if f.State.Degenerate == nil {
		t.Settle(s)
	}
	return nil
}

// turn restarts guarded (em.Turns.Ascend) if acceleration fails; if guarded iterations also fail,
// the likelihood has no maximum.
func (f *Fit) turn(ctx context.Context, t em.Turns) error {
	state, s := f.State, &f.State.EM
	if s.Count == 0 {
		state.Start = t.At()
	}
	var back bool
	var err error
	if state.Guarded {
		back, err = t.Ascend(ctx, s, em.Unpenalised)
	} else {
		err = t.Turn(ctx, s, em.Unpenalised)
	}
	if err != nil && !engine.Diverged(err) {
		return err
	}
	if err == nil && !back {
		state.Stall.note(s.Relative, -s.Likelihood)
	}
	done := err == nil && s.Relative <= f.Config.Tolerance
	switch {
	case done:
	case !state.Guarded && (err != nil || state.Stall.wild()):
		f.begin(t)
	case err != nil && len(s.Anderson.X) > 1: // caused by the acceleration
		s.Anderson.Forget()
		t.Settle(s)
	case err != nil:
		var singular *em.SingularError
		if !(errors.As(err, &singular) && singular.Put(t.Model)) && s.Solved != nil {
			t.Settle(s)
		}
		state.Degenerate = f.look(true)
	case s.Count%watchedTurns == 0 || state.Stall.reached():
		if d := f.look(false); d != nil && !state.Guarded {
			f.begin(t)
		} else if d != nil {
			state.Degenerate = d
			t.Settle(s)
		}
	}
	return nil
}

func (f *Fit) begin(t em.Turns) {
	count := f.State.EM.Count
	f.State.Guarded, f.State.Stall = true, Stall{}
	f.State.EM = em.State{Count: count, Movement: math.Inf(1), Relative: math.Inf(1), Loss: f.State.EM.Loss, Likelihood: math.Inf(-1), Anderson: optim.Anderson{Memory: em.Memory}}
	t.Put(f.State.Start)
}

func verdictOfEM(f *Fit) (converged bool, verdict string) {
	s := f.State.EM
	if d := f.State.Degenerate; d != nil {
		if few := f.tooFewRows(); few != "" {
			return false, few
		}
		return false, d.verdict(f.Table, s.Count)
	}
	if s.Relative <= f.Config.Tolerance {
		return true, fmt.Sprintf("converged: after %d EM iterations the largest relative change is %.2g", s.Count, s.Relative)
	}
	if f.State.Stall.reached() && s.Relative <= mostStalled {
		return true, fmt.Sprintf("converged to rounding error: after %d EM iterations the relative change is about %.2g, as with nearly collinear columns", s.Count, s.Relative)
	}
	return false, fmt.Sprintf("NOT converged: after %d EM iterations the relative change is %.2g, not below %.2g; allow more iterations, or look for collinear columns", s.Count, s.Relative, f.Config.Tolerance)
}

// degenerate describes collinear columns: the likelihood has no maximum
// (docs/theory/complete-data.md#no-maximum).
type degenerate struct {
	Columns []int // smallest such set; nil if it is too large
	Rows    int   // rows with all of Columns
	Exact   bool  // these rows allow exact dependence; else the dependence holds to rounding
}

const (
	degenerateShare = 1e-8 // of a column's variance given the others
	watchedTurns    = 10   // between two checks
)

// look reports residual variances below 1e-8 if the complete rows allow exact dependence or an
// iteration had no solution (ended).
func (f *Fit) look(ended bool) *degenerate {
	d := &degenerate{Columns: diagnose.Dependent(correlations(f.Model.(*model.Gaussian)), degenerateShare)}
	if d.Columns != nil {
		d.Rows, d.Exact = diagnose.Exact(f.Table, d.Columns)
	}
	if !ended && !d.Exact {
		return nil
	}
	slices.Sort(d.Columns)
	return d
}

func correlations(g *model.Gaussian) *mat.SymDense {
	d := g.Dim()
	r := mat.NewSymDense(d, nil)
	var factor mat.Cholesky
	var s mat.SymDense
	ok := factor.Factorize(g.Precision()) && (factor.InverseTo(&s) == nil || !math.IsInf(factor.Cond(), 1))
	for j := range d {
		r.SetSym(j, j, 1)
		for k := j + 1; ok && k < d; k++ {
			r.SetSym(j, k, s.At(j, k)/math.Sqrt(s.At(j, j)*s.At(k, k)))
		}
	}
	return r
}

func (d *degenerate) verdict(t *data.Table, turns int) string {
	if d.Columns == nil {
		return fmt.Sprintf("NOT converged: the likelihood has no maximum: after %d EM iterations some columns are collinear; look for them by missingscore TABLE.csv, or estimate a network, which has a penalty", turns)
	}
	var names []string
	for _, j := range d.Columns {
		names = append(names, t.Names[j])
	}
	why := "they are collinear to rounding error"
	switch n := len(d.Columns); {
	case d.Exact && d.Rows == 0:
		why = "no row has all of them"
	case d.Exact && d.Rows <= n:
		why = fmt.Sprintf("only %d of %d rows %s all of them, too few to tell", d.Rows, t.RowCount(), map[bool]string{true: "has", false: "have"}[d.Rows == 1])
	case d.Exact:
		why = fmt.Sprintf("they are collinear in all %d rows that have them", d.Rows)
	}
	seldom := slices.MinFunc(d.Columns, func(j, k int) int { return cmp.Compare(t.ObservedIn(j), t.ObservedIn(k)) })
	return fmt.Sprintf("NOT converged: the likelihood has no maximum: after %d EM iterations it still grows as %s and %s become collinear: %s; leave one out (ReadOptions.Exclude %s), or estimate a network, which has a penalty",
		turns, strings.Join(names[:len(names)-1], ", "), names[len(names)-1], why, t.Names[seldom])
}
