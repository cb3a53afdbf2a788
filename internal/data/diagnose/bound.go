package diagnose

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// tooSkewedForBound warns of bounded columns that no truncated normal fits: its marginals are
// log-concave (Prékopa 1973), and a log-concave density on [0, ∞) has sd ≤ mean (Barlow and
// Proschan 1975, chapter 4): docs/theory/transforms.md#too-skewed.
func tooSkewedForBound(e *examined) []Finding {
	if e.support == nil {
		return nil
	}
	var found []int
	var shown, functions []string
	for j := range e.D {
		x := e.column(e.after, j)
		if e.explained[j] || len(x) < fewestRows {
			continue
		}
		mean, sd := stat.MeanStdDev(x, nil)
		// For an exponential sample, sd/mean has standard error 1/√n.
		limit := 1 + 2/math.Sqrt(float64(len(x)))
		low, high := e.support.Lower[j], e.support.Upper[j]
		bound := low
		if !(sd > limit*(mean-low)) {
			bound = high
			if !(sd > limit*(high-mean)) {
				continue
			}
		}
		found = append(found, j)
		shown = append(shown, fmt.Sprintf("%s (bound %.4g, mean %.4g, standard deviation %.4g)", e.Transform.Labels(e.Names)[j], bound, mean, sd))
		functions = append(functions, e.Names[j]+"="+e.advised(j, e.Domain.Lower[j], e.Domain.Upper[j]))
		e.explained[j] = true
	}
	if found == nil {
		return nil
	}
	names := e.names(found)
	return []Finding{{Severity: Warning, Columns: names, Functions: functions, Message: fmt.Sprintf("%s too skewed for %s: no truncated normal distribution fits:  %s; transform %s (%s)",
		columnsText(names)+plural(len(names), " is", " are"), plural(len(names), "its bound", "their bounds"), list(shown), plural(len(names), "it", "them"), set("Spec.Transform", functions))}}
}

func (e *examined) advised(j int, low, high float64) string {
	c := e.columns[j]
	least, most := c.low, c.high
	switch {
	case e.transformed(j):
		return "npn"
	case low == 0 && high == 1 && least > 0 && most < 1:
		return "logit"
	case low == 0 && math.IsInf(high, 1) && least > 0:
		return "log"
	case low == 0 && math.IsInf(high, 1) && c.whole:
		return "log1p"
	}
	return "npn"
}

func skewed(e *examined) []Finding {
	var found []int
	var functions []string
	for j, c := range e.columns {
		bounded := e.support != nil && e.support.BoundedColumn(j)
		if e.explained[j] || bounded || e.transformed(j) || e.natural(j) || !c.far {
			continue
		}
		found = append(found, j)
		functions = append(functions, e.Names[j]+"="+normaliser(e.column(e.Table, j), c.low))
	}
	if found == nil {
		return nil
	}
	names := e.names(found)
	return []Finding{{Severity: Note, Columns: names, Functions: functions, Message: fmt.Sprintf("%s %s far from normal (skewness beyond 2 or heavy tails): a few rows determine %s edges; consider a transform (%s)",
		columnsText(names), plural(len(names), "is", "are"), plural(len(names), "its", "their"), set("Spec.Transform", functions))}}
}

// normaliser returns log or log1p for skewness below 1 and excess kurtosis below 5, else npn.
func normaliser(cells []float64, low float64) string {
	for _, f := range []struct {
		name  string
		least float64
		of    func(float64) float64
	}{{"log", math.SmallestNonzeroFloat64, math.Log}, {"log1p", 0, math.Log1p}} {
		if low < f.least {
			continue
		}
		y := slices.Clone(cells)
		for i, x := range y {
			y[i] = f.of(x)
		}
		if math.Abs(stat.Skew(y, nil)) < 1 && stat.ExKurtosis(y, nil) < 5 {
			return f.name
		}
	}
	return "npn"
}
