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
	var shown, functions []string
	found := e.where(func(j int, c summary) bool {
		x := e.column(e.after, j)
		if len(x) < fewestRows {
			return false
		}
		mean, sd := stat.MeanStdDev(x, nil)
		// For an exponential sample, sd/mean has standard error 1/√n.
		limit := 1 + 2/math.Sqrt(float64(len(x)))
		bound, high := e.support.Lower[j], e.support.Upper[j]
		if !(sd > limit*(mean-bound)) {
			if bound = high; !(sd > limit*(high-mean)) {
				return false
			}
		}
		shown = append(shown, fmt.Sprintf("%s (bound %.4g, mean %.4g, standard deviation %.4g)", e.Transform.Labels(e.Names)[j], bound, mean, sd))
		functions = append(functions, e.Names[j]+"="+e.advised(j, e.Domain.Lower[j], e.Domain.Upper[j]))
		return true
	})
	for _, j := range found {
		e.explained[j] = true
	}
	f := e.finding(Warning, found, "{columns} {is|are} too skewed for {its bound|their bounds}: no truncated normal distribution fits:  %s; transform {it|them} (%s)", list(shown), set("Spec.Transform", functions))
	for i := range f {
		f[i].Functions = functions
	}
	return f
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
	var functions []string
	found := e.where(func(j int, c summary) bool {
		bounded := e.support != nil && e.support.BoundedColumn(j)
		if bounded || e.transformed(j) || e.natural(j) || !c.far {
			return false
		}
		functions = append(functions, e.Names[j]+"="+normaliser(e.column(e.Table, j), c.low))
		return true
	})
	f := e.finding(Note, found, "{columns} {is|are} far from normal (skewness beyond 2 or heavy tails): a few rows determine {its|their} edges; consider a transform (%s)", set("Spec.Transform", functions))
	for i := range f {
		f[i].Functions = functions
	}
	return f
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
