package trainers

import (
	"fmt"
	"slices"
	"strings"

	"missingscore/data/mcar"
	"missingscore/losses"
	"missingscore/trainers/estimator"
)

// Assumption is what the estimate takes for granted of why cells are missing: its
// method's, or what is known of them. A network whose mean is held at the observed means
// is right under MCAR only, whatever its loss.
func (p *Prepared) Assumption() losses.Assumption {
	a, law := p.Estimator.Assumption(), p.Spec.Missingness
	switch {
	case a == losses.NoneHolds && !p.Table.Complete():
		return a
	case law != nil && law.Estimated:
		return losses.EstimatedLaw
	case law != nil:
		return losses.KnownLaw
	case p.Table.Complete():
		return losses.NoGaps
	case p.Spec.Network != nil && !p.Estimator.FitsMean() && !p.Support.Bounded():
		return losses.MCAR
	}
	return a
}

// rightUnderMAR are methods that cannot be wrong in the way warned of: not those with draws of a fixed
// proposal, of which few count.
func (p *Prepared) rightUnderMAR() (names []string) {
	for _, e := range estimator.All {
		if e.Assumption() == losses.MAR && !e.Proposes() && p.Allows(e) && (p.Spec.Network == nil || e.FitsMean()) {
			names = append(names, e.Name)
		}
	}
	return names
}

const namedColumns = 4 // in a warning; more are counted

// contradicted warns, loudly, where the table speaks against what the estimate assumes.
func (p *Prepared) contradicted(columns []mcar.Column) []string {
	a := p.Assumption()
	if a == losses.MAR || a == losses.NoGaps {
		return nil
	}
	law := p.Spec.Missingness
	var found []string
	for _, c := range columns {
		j := slices.Index(p.Table.Names, c.Name)
		explained := law != nil && (law.Logistic != nil && law.Logistic.Concerns(j) || law.Censored != nil && law.Censored.Concerns(j))
		if c.Depends() && !explained {
			found = append(found, c.String())
		}
	}
	if len(found) == 0 {
		return nil
	}
	if n := len(found) - namedColumns; n > 1 {
		found = append(found[:namedColumns], fmt.Sprintf("so do %d more columns", n))
	}
	advice := "say by which law they are missing (--missingness FILE), or have it estimated (--missingness estimate)"
	if law != nil {
		advice = "say by which law these are missing, too (--missingness)"
	}
	if names := p.rightUnderMAR(); law == nil && len(names) > 0 {
		if strings.HasPrefix(names[0], "em-exact") { // the one without an imputer's bias or chains
			names = names[:1]
		}
		advice = fmt.Sprintf("use --method %s, which is right if cells are missing at random, or --missingness estimate", strings.Join(names, " or "))
	}
	return []string{fmt.Sprintf("WARNING: cells are not missing completely at random: %s. Method %s takes them for that, so means, signs and sizes in the result can be wrong; %s", strings.Join(found, "; "), p.Estimator.Name, advice)}
}
