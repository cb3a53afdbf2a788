package claims

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// MeanInterval is the mean and the half width of its 95 % t-interval.
func MeanInterval(x []float64) (mean, half float64) { return meanInterval(x, 0.95) }

// MeanIntervalAt is that of another level.
func MeanIntervalAt(x []float64, level float64) (mean, half float64) { return meanInterval(x, level) }

func meanInterval(x []float64, level float64) (mean, half float64) {
	mean, sd := stat.MeanStdDev(x, nil)
	n := float64(len(x))
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}
	return mean, t.Quantile((1+level)/2) * stat.StdErr(sd, n)
}

// welch is the difference of the means of independent samples whose variances may
// differ, and the half width of its t-interval (Welch, Biometrika 34, 1947):
//
//	x̄ − ȳ ± t_ν √(u + v), u = s_x²/n, v = s_y²/m, ν = (u + v)² / (u²/(n−1) + v²/(m−1)).
func welch(x, y []float64, level float64) (difference, half float64) {
	meanX, varX := stat.MeanVariance(x, nil)
	meanY, varY := stat.MeanVariance(y, nil)
	n, m := float64(len(x)), float64(len(y))
	u, v := varX/n, varY/m
	if u+v == 0 { // no degrees of freedom either
		return meanX - meanY, 0
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: (u + v) * (u + v) / (u*u/(n-1) + v*v/(m-1))}
	return meanX - meanY, t.Quantile((1+level)/2) * math.Sqrt(u+v)
}
