package bound

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/benchmarks/claims"
)

// point is a mean of log y over replicates, with its standard error, at x > 0.
type point struct{ x, y, se float64 }

// newPoint needs at least two values, all positive.
func newPoint(x float64, values []float64) point {
	logs := make([]float64, len(values))
	for i, v := range values {
		logs[i] = math.Log(v)
	}
	mean, sd := stat.MeanStdDev(logs, nil)
	return point{x, mean, stat.StdErr(sd, float64(len(logs)))}
}

// power is the b of y ∝ x^b with its 95 % interval.
type power struct{ b, low, high float64 }

func (p power) String() string { return fmt.Sprintf("%.2f [%.2f, %.2f]", p.b, p.low, p.high) }

// fitPower fits log y = a + b log x by least squares weighted with 1/se². The standard
// error of b
//
//	se(b)² = max(1, χ²/(k−2)) / Σ w_i (log x_i − x̄)²
//
// is larger where the points are further from a line than their own errors explain; the
// interval is Student's with k−2 degrees of freedom. It fails with fewer than three
// points.
func fitPower(points []point) (power, error) {
	k := len(points)
	if k < 3 {
		return power{}, fmt.Errorf("a slope through %d points: at least 3 are needed", k)
	}
	x, y, w := make([]float64, k), make([]float64, k), make([]float64, k)
	for i, p := range points {
		x[i], y[i], w[i] = math.Log(p.x), p.y, 1/(p.se*p.se)
	}
	a, b := stat.LinearRegression(x, y, w, false)
	middle := stat.Mean(x, w)
	spread, misfit := 0.0, 0.0
	for i := range x {
		spread += w[i] * (x[i] - middle) * (x[i] - middle)
		misfit += w[i] * (y[i] - a - b*x[i]) * (y[i] - a - b*x[i])
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(k - 2)}
	half := t.Quantile(0.975) * math.Sqrt(max(1, misfit/float64(k-2))/spread)
	return power{b, b - half, b + half}, nil
}

// anytime is the outcome of "b is above least", undecided unless an interval says the same that
// holds at every number of replicates: that of the mean of their own slopes, by unweighted least
// squares. It alone would not allow for points that lie further from a line than they should.
func anytime(o claims.Outcome, lines []line, least float64, want func(line) bool, x, y func(line) float64) claims.Outcome {
	logX, logY := map[int][]float64{}, map[int][]float64{}
	for _, l := range lines {
		if want(l) {
			logX[l.replicate] = append(logX[l.replicate], math.Log(x(l)))
			logY[l.replicate] = append(logY[l.replicate], math.Log(y(l)))
		}
	}
	var above []float64
	for _, replicate := range slices.Sorted(maps.Keys(logX)) {
		if len(logX[replicate]) >= 3 {
			_, b := stat.LinearRegression(logX[replicate], logY[replicate], nil, false)
			above = append(above, b-least)
		}
	}
	if claims.Positive("", above, 1).Anytime != o {
		return claims.Undecided
	}
	return o
}

// atLeast is the outcome of "b is at least so much".
func (p power) atLeast(least float64) claims.Outcome {
	switch {
	case p.low >= least:
		return claims.Holds
	case p.high < least:
		return claims.DoesNotHold
	}
	return claims.Undecided
}
