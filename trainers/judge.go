package trainers

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/data/diagnose"
	"missingscore/data/mcar"
	"missingscore/graph/model"
	"missingscore/losses"
	"missingscore/trainers/estimator"
	"missingscore/trainers/fitted"
	"missingscore/trainers/gaussian/sparse"
)

// Findings say what is wrong with the table for this estimate, or worth knowing: the
// warnings among them are the first of a Result's.
func (p *Prepared) Findings() ([]diagnose.Finding, error) { return p.findings() }

func findings(p *Prepared) ([]diagnose.Finding, error) {
	t, s := p.original, p.Spec
	note := func(kind string, severity string, columns []string, format string, args ...any) diagnose.Finding {
		return diagnose.Finding{Kind: kind, Severity: severity, Columns: columns, Message: fmt.Sprintf(format, args...)}
	}
	if t.Counted != nil {
		return append(append(diagnose.Apart(t), diagnose.Copies(t)...), note("moments", diagnose.Note, []string{},
			"a fit of moments of %d rows: whether cells are missing at random, and what is wrong with columns, is to be seen in rows only (missingscore check TABLE.csv)", t.Counted.Rows)), nil
	}
	_, normal := model.AsNormal(p.Model)
	found, err := diagnose.Table(t, diagnose.Setting{Domain: s.Domain, Transform: p.Transform, Unpenalised: normal && s.Network == nil, Workers: s.Steps.Workers})
	if err != nil {
		return nil, err
	}
	if p.mixed() != nil { // levels are none of numbers, and there are no partial correlations
		found = slices.DeleteFunc(found, func(f diagnose.Finding) bool {
			return slices.Contains([]string{"apart", "dependent", "few-values", "categories"}, f.Kind)
		})
	}
	if released := p.Transform.Released(s.Domain, p.Table.Names); released != nil {
		found = append(found, note("released", diagnose.Note, released,
			"after %s the model needs no bounds of %s: what it draws keeps to them by itself", p.Transform.Describe(p.Table.Names), strings.Join(released, ", ")))
	}
	if t.Weights != nil {
		found = append(found, note("weights", diagnose.Note, []string{},
			"rows have sampling weights: %d of them tell as much of a mean as %.1f without (Kish), and by so many go EBIC and standard errors", t.N, t.EffectiveRows()))
	}
	// Zeros in the gaps of standardised columns are means, which is not the paper's Zeroed where
	// columns have other means than 0. No other method can fit a model without a density.
	by, _ := p.scaling()
	has, err := model.CapabilitiesOf(p.Model)
	if s.Steps.Method == "zeroed" && by == standardised && !p.Table.Complete() && err == nil && has.Density {
		advice := ""
		if s.Network == nil {
			advice = "; for zeros in the table's units, as in the paper, add Spec.KeepUnits"
		}
		found = append(found, note("zeroed", diagnose.Warning, []string{},
			"zeroed sets missing cells to 0 after columns are standardised, which fills them with the column's mean%s", advice))
	}
	return append([]diagnose.Finding{}, found...), nil
}

// judge adds to a result what was found in the table, what the result assumes, whether the table
// speaks against that, and whether its numbers are possible; and notes it in the model.
func judge(p *Prepared, found []diagnose.Finding, r *Result) {
	r.Assumption, r.MissingAtRandom = p.Assumption(), p.gapTests()
	var warnings []string
	exact := "" // why columns determine another but for rounding
	for _, f := range found {
		if f.Severity == diagnose.Warning {
			warnings = append(warnings, f.Message)
		}
		if exact == "" && f.Exact != "" {
			exact = f.Exact + " (exact up to rounding)"
		}
	}
	r.Warnings = slices.Concat(contradicted(p, r.MissingAtRandom), warnings, r.Warnings)
	if problems := implausible(p.Table, r.Model, p.Spec.Steps.Workers); len(problems) > 0 {
		r.doubt(problems)
	}
	if r.Network != nil && exact != "" {
		r.Converged = false
		r.Verdict = fmt.Sprintf("NOT reliable: %s; there is no network of columns that determine each other: leave one of them out. The fit itself: %s", exact, r.Verdict)
	}
	r.Model.Outcome = &fitted.Outcome{Converged: r.Converged, Verdict: r.Verdict, Assumption: r.Assumption}
	if r.Network != nil {
		r.Model.Outcome.Moments = r.Network.Moments
	}
}

// Assumption is what the estimate assumes of missing cells: its method's assumption, or the known
// law. A network whose mean is held at the observed means is right under MCAR only.
func (p *Prepared) Assumption() losses.Assumption {
	a, law := p.Estimator.Assumption(), p.Spec.Missingness
	if _, told := p.Model.(model.GapConditional); told && a == losses.NoneHolds { // the network tells zeros from gaps
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

const namedColumns = 4 // in a warning; more are counted

// few are the first of a list, and of two more or more how many there are.
func few(list []string, most int, more string) []string {
	if n := len(list) - most; n > 1 {
		return append(list[:most:most], fmt.Sprintf(more, n))
	}
	return list
}

// contradicted warns, loudly, where the table speaks against the assumption of the estimate.
func contradicted(p *Prepared, columns []mcar.Column) []string {
	if a := p.Assumption(); a == losses.MAR || a == losses.NoGaps {
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
	found = few(found, namedColumns, "so do %d more columns")
	var names []string // of methods that are right under MAR; of draws of a fixed proposal few count
	for _, e := range estimator.All {
		if e.Assumption() == losses.MAR && !e.Proposes() && p.Allows(e) && (p.Spec.Network == nil || e.FitsMean()) {
			names = append(names, e.Name)
		}
	}
	advice := "say by which law they are missing (Spec.Missingness FILE), or have it estimated (Spec.Missingness estimate)"
	if law != nil {
		advice = "say by which law these are missing, too (Spec.Missingness)"
	} else if len(names) > 0 {
		if strings.HasPrefix(names[0], "em-exact") { // the one without an imputer's bias or chains
			names = names[:1]
		}
		advice = fmt.Sprintf("use Spec.Steps.Method %s, which is right if cells are missing at random, or Spec.Missingness estimate", strings.Join(names, " or "))
	}
	return []string{fmt.Sprintf("WARNING: cells are not missing completely at random: %s. Method %s takes them for that, so means, signs and sizes in the result can be wrong; %s", strings.Join(found, "; "), p.Estimator.Name, advice)}
}

func errorsNeedMCAR(p *Prepared) []string {
	if p.Assumption() != losses.MCAR || !slices.ContainsFunc(p.gapTests(), mcar.Column.Depends) {
		return nil
	}
	return []string{"WARNING: cells are not missing completely at random, and standard errors and intervals rest on that: they may miss the truth by more than they say; take a method that is right if cells are missing at random, as em-exact or em-full"}
}

// What is farther than this from the observed mean and deviation is no estimate: seen only where another column,
// correlated by 0.9, is in its upper tenth, a column's mean is 2.7 deviations away, and its deviation 1.7 times the observed.
const (
	farMean      = 4. // observed deviations from the observed mean, and outside the observed range
	farDeviation = 5. // times the observed deviation, or a part of it
)

// implausible says in which columns a normal model is impossible for what was observed. A domain, or a law by which the
// column's cells hide, allows any mean and deviation.
func implausible(t *data.Table, m *fitted.Saved, workers int) (problems []string) {
	g, ok := model.AsNormal(m.Model)
	if !ok || m.Domain.Bounded() || m.Noise != nil {
		return nil
	}
	columns, mean := observedColumns(t, workers), g.Mean()
	var deviation []float64
	if m.Blocks != nil || !deviationsNear(t, columns, g) {
		deviation = deviations(g)
	}
	law := m.Missingness
	for j, name := range t.Names {
		k := j // of the model's columns
		if m.Blocks != nil {
			k = m.Blocks[j].First
		}
		if t.Ordinal(j) || m.Blocks != nil && m.Blocks[j].Width > 1 { // a latent number has no units to be wrong in
			continue
		}
		if law != nil && !law.Estimated && (law.Logistic != nil && law.Logistic.Concerns(j) || law.Censored != nil && law.Censored.Concerns(j)) {
			continue
		}
		c := columns[j]
		if away := math.Abs(mean[k]-c.mean) / c.sd; away > farMean && (mean[k] < c.low || mean[k] > c.high) {
			problems = append(problems, fmt.Sprintf("the fitted mean of %s is %.4g, and it was observed between %.4g and %.4g, with mean %.4g", name, mean[k], c.low, c.high, c.mean))
		}
		if deviation == nil {
			continue
		}
		if ratio := deviation[k] / c.sd; ratio > farDeviation || ratio < 1/farDeviation {
			problems = append(problems, fmt.Sprintf("the fitted standard deviation of %s is %.4g, the observed one %.4g", name, deviation[k], c.sd))
		}
	}
	return problems
}

// observed are range, mean and deviation of a column's observed values.
type observed struct{ low, high, mean, sd float64 }

func observedColumns(t *data.Table, workers int) []observed {
	columns := make([]observed, t.D)
	if c := t.Counted; c != nil {
		for j := range columns {
			columns[j] = observed{c.Low[j], c.High[j], c.Scale.Mean[j], c.Scale.Deviation[j]}
		}
		return columns
	}
	err := data.EachColumn(t, workers, func() func(int, []float64) {
		return func(j int, x []float64) {
			mean, variance := stat.PopMeanVariance(x, nil)
			columns[j] = observed{slices.Min(x), slices.Max(x), mean, math.Sqrt(variance)}
		}
	})
	if err != nil {
		panic(err)
	}
	return columns
}

// deviationsNear tells of a model of many columns and few pairs, without an inverse, that no
// deviation is far from the observed one: with P in units of these, and μ its smallest
// eigenvalue, 1/P_jj ≤ Σ_jj ≤ 1/μ.
func deviationsNear(t *data.Table, columns []observed, g model.Normal) bool {
	free, ok := g.(*model.Gaussian)
	if !ok || free.Parameterisation() != model.FreeSymmetric || t.D < manyColumns {
		return false
	}
	p := sparse.FromPacked(free.Packed.Value, t.D)
	if len(p.At) > fewPairs*t.D {
		return false
	}
	unit := make([]float64, t.D)
	for j := range unit {
		if t.Ordinal(j) {
			unit[j] = 1 / math.Sqrt(p.Diagonal[j])
		} else {
			unit[j] = columns[j].sd
		}
	}
	p.Scale(unit)
	for _, own := range p.Diagonal {
		if !(own <= farDeviation*farDeviation) {
			return false
		}
	}
	least, err := p.Smallest(context.Background()) // a second or so
	return err == nil && least >= 1/(farDeviation*farDeviation)
}

// From so many columns on, and up to so many pairs for each, deviations are bounded before a
// matrix is inverted for them.
const (
	manyColumns = 500
	fewPairs    = 20
)

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

// doubt marks a result whose numbers cannot be.
func (r *Result) doubt(problems []string) {
	r.Converged = false
	r.Verdict = fmt.Sprintf("NOT plausible: %s; cells may be missing not at random, the columns have bounds that were not given, or the fit diverged. The fit itself: %s", strings.Join(few(problems, namedColumns, "%d more of the kind"), "; "), r.Verdict)
}
