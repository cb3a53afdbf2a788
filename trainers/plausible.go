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
	"missingscore/graph/model"
	"missingscore/trainers/fitted"
	"missingscore/trainers/sparse"
)

// A normal column has its mean where it was seen, or beyond by what the choice of cells
// can shift it: of a column seen only where another, correlated by 0.9, is in its upper
// tenth, the mean is 2.7 observed deviations away, and its deviation 1.7 times the
// observed one. What is farther away is not an estimate any more.
const (
	farMean      = 4. // observed deviations from the observed mean, and outside the observed range
	farDeviation = 5. // times the observed deviation, or a part of it
)

// implausible says in which columns a normal model is impossible for what was observed.
// On a domain mean and deviation are those before the restriction, which may lie
// anywhere; so they may where a law is known by which the column's cells hide.
func implausible(t *data.Table, m *fitted.Saved, workers int) (problems []string) {
	g, ok := model.AsNormal(m.Model)
	if !ok || m.Domain.Bounded() || m.Noise != nil {
		return nil
	}
	columns, mean := observedColumns(t, workers), g.Mean()
	var deviation []float64
	if !deviationsNear(t, columns, g) {
		deviation = deviations(g)
	}
	law := m.Missingness
	for j, name := range t.Names {
		if t.Ordinal(j) { // a latent number has no units to be wrong in
			continue
		}
		if law != nil && !law.Estimated && (law.Logistic != nil && law.Logistic.Concerns(j) || law.Censored != nil && law.Censored.Concerns(j)) {
			continue
		}
		c := columns[j]
		if away := math.Abs(mean[j]-c.mean) / c.sd; away > farMean && (mean[j] < c.low || mean[j] > c.high) {
			problems = append(problems, fmt.Sprintf("the fitted mean of %s is %.4g, and it was observed between %.4g and %.4g, with mean %.4g", name, mean[j], c.low, c.high, c.mean))
		}
		if deviation == nil {
			continue
		}
		if ratio := deviation[j] / c.sd; ratio > farDeviation || ratio < 1/farDeviation {
			problems = append(problems, fmt.Sprintf("the fitted standard deviation of %s is %.4g, the observed one %.4g", name, deviation[j], c.sd))
		}
	}
	return problems
}

// observed are range, mean and deviation of a column's observed values.
type observed struct{ low, high, mean, sd float64 }

// observedColumns are those of every column.
func observedColumns(t *data.Table, workers int) []observed {
	columns := make([]observed, t.D)
	if c := t.Counted; c != nil {
		for j := range columns {
			columns[j] = observed{c.Low[j], c.High[j], c.Scale.Mean[j], c.Scale.Deviation[j]}
		}
		return columns
	}
	err := t.EachColumn(workers, func() func(int, []float64) {
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

// deviations are those of a normal model's columns, nil where it has none.
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
	if n := len(problems) - namedColumns; n > 1 {
		problems = append(problems[:namedColumns], fmt.Sprintf("%d more of the kind", n))
	}
	r.Converged = false
	r.Verdict = fmt.Sprintf("NOT plausible: %s; cells may be missing not at random, the columns have bounds that were not given, or the fit diverged. The fit itself: %s", strings.Join(problems, "; "), r.Verdict)
}
