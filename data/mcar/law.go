package mcar

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/floats"

	"missingscore/data"
	"missingscore/data/missingness"
)

// lawPenalty is that of a slope's square, per standard deviation of its column: a normal
// prior with a deviation of 5, which leaves smooth laws alone and keeps steps from being
// infinitely steep.
const lawPenalty = 1.0 / 25

// Law estimates by which law cells are missing at random: for each column that Test finds
// at p < 0.05, uncorrected, a logistic regression of "it is observed" on the other columns,
// gaps filled by their conditional mean. A column has no slope on itself: that is not
// identified. nil where no column's gaps depend on others.
//
// All predictors take part where there are ten rows of the rarer kind for each and for each
// pattern of their gaps; otherwise
// those that are found one by one (Bonferroni), the strongest that there are rows for.
func Law(t *data.Table) *missingness.Model {
	at := withGaps(t)
	if at == nil || t.Counted != nil {
		return nil
	}
	z, scale := data.Standardise(t)
	w := newWork(z, z.N)
	law := missingness.NewLogistic(t.D)
	found := false
	for a, c := range w.tests(1, at) {
		if !(c.P < Level) {
			continue
		}
		found = true
		j := at[a]
		predictors := w.lawPredictors(j, c.Joint)
		law.Intercept[j] = w.regress(j, predictors, law.Slope.RawRowView(j))
	}
	if !found {
		return nil
	}
	for j := range t.D { // from z to x
		row := law.Slope.RawRowView(j)
		floats.Div(row, scale.Deviation)
		if law.Concerns(j) {
			law.Intercept[j] -= floats.Dot(row, scale.Mean)
		}
	}
	return &missingness.Model{Logistic: law, Estimated: true}
}

// lawPredictors are the columns that column j's law has slopes on.
func (w *work) lawPredictors(j int, joint bool) []int {
	single := w.single(j)
	if joint {
		return predictors(single)
	}
	slices.SortStableFunc(single, func(a, b association) int { return cmp.Compare(b.square, a.square) })
	n := len(single)
	single = slices.DeleteFunc(single, func(a association) bool { return float64(n)*survival(a.square) >= Level })
	missing := missing(w.table, j)
	room := max(1, min(missing, w.table.N-missing)/perTerm)
	chosen := predictors(single[:min(room, len(single))])
	slices.Sort(chosen)
	return chosen
}

// regress fills slope (d) by column j's law and returns its intercept.
func (w *work) regress(j int, predictors []int, slope []float64) (intercept float64) {
	_, yx := w.design(&joint{column: j, predictors: predictors}, w.fill(predictors))
	n, p := yx.Dims()
	d := design{n: n, p: p, x: yx.RawMatrix().Data}
	for i := 0; i < len(d.x); i += p { // y makes room for the constant
		d.y = append(d.y, d.x[i] == 1)
		d.x[i] = 1
	}
	beta := d.fit(lawPenalty)
	for a, k := range predictors {
		slope[k] = beta[1+a]
	}
	return beta[0]
}
