package trainers

import (
	"fmt"

	"missingscore/trainers/fitted"
)

// addWarnings adds to a result what it rests on, whether the table speaks against that, and
// whether its numbers can be; and notes it in the model.
func (p *Prepared) addWarnings(r *Result) {
	r.Assumption, r.MissingAtRandom = p.Assumption(), p.gapTests()
	r.Warnings = append(p.contradicted(r.MissingAtRandom), r.Warnings...)
	if problems := implausible(p.Table, r.Model, p.Spec.Steps.Workers); len(problems) > 0 {
		r.doubt(problems)
	}
	if exact := p.exactDependence(); r.Network != nil && exact != "" {
		r.Converged = false
		r.Verdict = fmt.Sprintf("NOT reliable: %s; there is no network of columns that determine each other: leave one of them out. The fit itself: %s", exact, r.Verdict)
	}
	r.Model.Outcome = &fitted.Outcome{Converged: r.Converged, Verdict: r.Verdict, Assumption: r.Assumption}
	if r.Network != nil {
		r.Model.Outcome.Moments = r.Network.Moments
	}
}
