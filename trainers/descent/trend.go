package descent

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
)

const fewestEpochs = 3 // in each of the two parts that are compared

// Trend compares the epochs' losses in the last fifth of a fit with those in
// the fifth before. A loss that still falls or rises by more than three standard
// errors and a thousandth of itself is not converged; rising means diverging.
func Trend(h []Record) (converged bool, verdict string) {
	n := len(h) / 5
	if n < fewestEpochs {
		return false, tooFew(h)
	}
	rose, se, least := change(h, n, func(r Record) float64 { return r.Loss })
	switch {
	case rose > least:
		return false, fmt.Sprintf("NOT converged: over the last %d epochs the loss rose by %.3g, the fit is diverging; stop earlier, or use another method", n, rose)
	case -rose > least:
		return false, fmt.Sprintf("NOT converged: over the last %d epochs the loss still fell by %.3g", n, -rose)
	}
	return true, fmt.Sprintf("converged: over the last %d epochs the loss changed by %.3g ± %.2g", n, rose, se)
}

func tooFew(h []Record) string {
	return fmt.Sprintf("NOT converged: too few epochs (%d) to tell", len(h))
}

// change is by how much the mean over the last n epochs is above that over the n before,
// its standard error, and the least change that counts.
func change(h []Record, n int, of func(Record) float64) (rose, se, least float64) {
	var before, last []float64
	for i := range n {
		before = append(before, of(h[len(h)-2*n+i]))
		last = append(last, of(h[len(h)-n+i]))
	}
	mb, sb := stat.MeanStdDev(before, nil)
	ml, sl := stat.MeanStdDev(last, nil)
	se = math.Sqrt((sb*sb + sl*sl) / float64(n))
	return ml - mb, se, max(3*se, 1e-3*math.Abs(ml))
}

// stillFalling is by how much the held-out loss fell over the last n epochs of a fit; 0
// where that is nothing beside its noise.
func stillFalling(h []Record, n int) float64 {
	rose, _, least := change(h, n, func(r Record) float64 { return r.HeldOut })
	if -rose > least {
		return -rose
	}
	return 0
}
