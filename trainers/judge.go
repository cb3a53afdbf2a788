package trainers

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/data/diagnose"
	"missingscore/internal/data/mcar"
	"missingscore/losses"
	"missingscore/trainers/estimator"
	"missingscore/trainers/fitted"
)

func findings(p *Prepared) ([]diagnose.Finding, error) {
	t, s := p.Original, p.Spec
	note := func(kind string, severity string, columns []string, format string, args ...any) diagnose.Finding {
		return diagnose.Finding{Kind: kind, Severity: severity, Columns: columns, Message: fmt.Sprintf(format, args...)}
	}
	if t.Counted != nil {
		return append(append(diagnose.Apart(t), diagnose.Copies(t)...), note("moments", diagnose.Note, []string{},
			"moments of %d rows: the table itself was not checked; use missingscore TABLE.csv", t.Counted.Rows)), nil
	}
	_, normal := model.AsNormal(p.Model)
	found, err := diagnose.Table(t, diagnose.Setting{Domain: s.Domain, Transform: p.Transform, Unpenalised: normal && s.Network == nil, Workers: s.Steps.Workers})
	if err != nil {
		return nil, err
	}
	if p.mixed() != nil { // levels have no partial correlations
		found = slices.DeleteFunc(found, func(f diagnose.Finding) bool {
			return slices.Contains([]string{"apart", "dependent", "few-values", "categories"}, f.Kind)
		})
	}
	if released := p.Transform.Released(s.Domain, p.Table.Names); released != nil {
		found = append(found, note("released", diagnose.Note, released,
			"after %s the bounds of %s hold without a constraint", p.Transform.Describe(p.Table.Names), strings.Join(released, ", ")))
	}
	if t.Weights != nil {
		found = append(found, note("weights", diagnose.Note, []string{},
			"sampling weights: %d rows have an effective sample size of %.1f, which EBIC and standard errors use", t.N, t.EffectiveRows()))
	}
	// Zeros equal the column's mean after standardisation, unlike the paper's Zeroed. Only this method
	// can fit a model without a density.
	has, err := model.CapabilitiesOf(p.Model)
	if s.Steps.Method == "zeroed" && p.shifts() && !p.Table.Complete() && err == nil && has.Density {
		advice := ""
		if s.Network == nil {
			advice = "; for the paper's zeros in the table's units add Spec.KeepUnits"
		}
		found = append(found, note("zeroed", diagnose.Warning, []string{},
			"zeroed fills missing cells with the column's mean, because columns are standardised%s", advice))
	}
	return append([]diagnose.Finding{}, found...), nil
}

// judge sets warnings, the assumption and its test, in r and in the saved model.
func judge(p *Prepared, found []diagnose.Finding, r *Result) {
	r.Assumption, r.MissingAtRandom = p.Assumption(), p.gapTests()
	var warnings []string
	exact := "" // names columns that determine another exactly
	for _, f := range found {
		if f.Severity == diagnose.Warning {
			warnings = append(warnings, f.Message)
		}
		if exact == "" && f.Exact != "" {
			exact = f.Exact + " (exact up to rounding)"
		}
	}
	r.Warnings = slices.Concat(contradicted(p, r.MissingAtRandom), warnings, r.Warnings)
	if problems := implausible(p.Table, r.Model); len(problems) > 0 {
		r.doubt(problems)
	}
	if r.Network != nil && exact != "" {
		r.Converged = false
		r.Verdict = fmt.Sprintf("NOT reliable: %s; collinear columns have no network: leave one of them out. The fit: %s", exact, r.Verdict)
	}
	r.Model.Outcome = &fitted.Outcome{Converged: r.Converged, Verdict: r.Verdict, Assumption: r.Assumption}
	if r.Network != nil {
		r.Model.Outcome.Moments = r.Network.Moments
	}
}

// Assumption about missing cells: the method's, or that of Spec.Missingness. A network whose mean
// is fixed is consistent under MCAR only.
func (p *Prepared) Assumption() losses.Assumption {
	a, law := p.Estimator.Assumption(), p.Spec.Missingness
	if _, told := p.Model.(model.GapConditional); told && a == losses.NoneHolds { // the network sees which cells are missing
		a = losses.MCAR
	}
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

const namedColumns = 4 // in a warning; others are counted

// more formats the number of others, at least two.
func few(list []string, most int, more string) []string {
	if n := len(list) - most; n > 1 {
		return append(list[:most:most], fmt.Sprintf(more, n))
	}
	return list
}

// contradicted returns a warning if tests contradict the estimate's assumption.
func contradicted(p *Prepared, columns []mcar.Column) []string {
	if a := p.Assumption(); a == losses.MAR || a == losses.NoGaps {
		return nil
	}
	law := p.Spec.Missingness
	var found []string
	for _, c := range columns {
		j := slices.Index(p.Table.Names, c.Name)
		if c.Depends() && !law.Concerns(j) {
			found = append(found, c.String())
		}
	}
	if len(found) == 0 {
		return nil
	}
	found = few(found, namedColumns, "so do %d more columns")
	var names []string // methods valid under MAR; a fixed proposal has few effective draws
	for _, e := range estimator.All {
		if e.Assumption() == losses.MAR && !e.Source.ProposalSD && p.allows(e) && (p.Spec.Network == nil || e.FitsMean()) {
			names = append(names, e.Name)
		}
	}
	advice := "use Spec.Missingness FILE or Spec.Missingness estimate"
	if law != nil {
		advice = "add these columns to Spec.Missingness"
	} else if len(names) > 0 {
		if strings.HasPrefix(names[0], "em-exact") { // without imputer bias or chains
			names = names[:1]
		}
		advice = fmt.Sprintf("use Spec.Steps.Method %s, valid if cells are missing at random, or Spec.Missingness estimate", strings.Join(names, " or "))
	}
	return []string{fmt.Sprintf("WARNING: cells are not missing completely at random: %s. Method %s assumes that they are, so means, signs and sizes can be wrong; %s", strings.Join(found, "; "), p.Estimator.Name, advice)}
}

func errorsNeedMCAR(p *Prepared) []string {
	if p.Assumption() != losses.MCAR || !slices.ContainsFunc(p.gapTests(), mcar.Column.Depends) {
		return nil
	}
	return []string{"WARNING: cells are not missing completely at random, so standard errors and intervals can be wrong; use a method that is valid if cells are missing at random, such as em-exact or em-full"}
}

// Implausible limits: if a column is observed only where another, correlated 0.9, is in its upper
// tenth, its mean is 2.7 deviations off and its deviation 1.7 times the observed one.
const (
	farMean      = 4. // observed deviations from the observed mean, and outside the observed range
	farDeviation = 5. // ratio of deviations, either way

	invertedColumns = 1000 // with more columns only means are checked
)

// implausible is for normal models; columns with a domain or a missingness mechanism may have any
// value.
func implausible(t *data.Table, m *fitted.Saved) (problems []string) {
	g, ok := model.AsNormal(m.Model)
	if !ok || m.Domain.Bounded() || m.Noise != nil {
		return nil
	}
	mean, law := g.Mean(), m.Missingness
	var deviation []float64
	if t.D <= invertedColumns {
		deviation = deviations(g)
	}
	for j, name := range t.Names {
		k := j // column of the model
		if m.Blocks != nil {
			k = m.Blocks[j].First
		}
		if t.Ordinal(j) || m.Blocks != nil && m.Blocks[j].Width > 1 { // latent numbers have no units
			continue
		}
		if law.Concerns(j) && !law.Estimated {
			continue
		}
		low, high, center, sd := observed(t, j)
		if math.Abs(mean[k]-center)/sd > farMean && (mean[k] < low || mean[k] > high) {
			problems = append(problems, fmt.Sprintf("the fitted mean of %s is %.4g, but its values range from %.4g to %.4g, with mean %.4g", name, mean[k], low, high, center))
		}
		if deviation == nil {
			continue
		}
		if ratio := deviation[k] / sd; ratio > farDeviation || ratio < 1/farDeviation {
			problems = append(problems, fmt.Sprintf("the fitted standard deviation of %s is %.4g, the observed one %.4g", name, deviation[k], sd))
		}
	}
	return problems
}

func observed(t *data.Table, j int) (low, high, mean, sd float64) {
	if c := t.Counted; c != nil {
		return c.Low[j], c.High[j], c.Scale.Mean[j], c.Scale.Deviation[j]
	}
	x := t.Column(j)
	mean, variance := stat.PopMeanVariance(x, nil)
	return slices.Min(x), slices.Max(x), mean, math.Sqrt(variance)
}

// deviations is nil if the precision is singular.
func deviations(g model.Normal) (sd []float64) {
	var factor mat.Cholesky
	var covariance mat.SymDense
	if !factor.Factorize(g.Precision()) || factor.InverseTo(&covariance) != nil {
		return nil
	}
	for j := range covariance.SymmetricDim() {
		sd = append(sd, math.Sqrt(covariance.At(j, j)))
	}
	return sd
}

func (r *Result) doubt(problems []string) {
	r.Converged = false
	r.Verdict = fmt.Sprintf("NOT plausible: %s; cells may be missing not at random, bounds may be missing, or the fit diverged. The fit: %s", strings.Join(few(problems, namedColumns, "%d more"), "; "), r.Verdict)
}
