package descent

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"missingscore/graph/model"
)

// A fit without noise (em, lbfgs, proximal) stops at Config.Tolerance or when only rounding is left (Stall); a fit by
// adam by Config.Patience or Config.Epochs (docs/how-to/when-a-fit-stops.md).

// Stall counts iterations since the measure last fell to half of its value at the start of the count. An
// exact iteration always lowers the loss; one that does not is rounding.
type Stall struct {
	Measure float64 // that the count began with
	Loss    float64 // after the last iteration
	Count   int
	Rose    int // iterations that raised the loss
}

const (
	stalledIterations = 100
	mostStalled       = 1e-2 // relative movement that rounding may leave
)

func (s *Stall) note(measure, loss float64) {
	if s.Count == 0 || measure < s.Measure/2 {
		*s = Stall{Measure: measure, Loss: loss}
	}
	if s.Count++; loss > s.Loss {
		s.Rose++
	}
	s.Loss = loss
}

// reached says that only rounding is left: a third of a hundred iterations or more raised the loss.
func (s *Stall) reached() bool { return s.Count >= stalledIterations && 3*s.Rose >= s.Count }

// wild says that an acceleration leads nowhere: a tenth of a hundred iterations raised the loss, or the count is a
// thousand.
func (s *Stall) wild() bool {
	return s.Count >= stalledIterations && 10*s.Rose >= s.Count || s.Count >= 10*stalledIterations
}

const fewestEpochs = 3 // in each of the two parts that are compared

// Trend compares the mean losses of the last two fifths of a fit. A change by more than three standard errors and a
// thousandth is not convergence; a rise is divergence.
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
// its standard error, and the least change that counts. Records in which the number is NaN are left out.
func change(h []Record, n int, of func(Record) float64) (rose, se, least float64) {
	var before, last []float64
	for i, r := range h[len(h)-2*n:] {
		switch v := of(r); {
		case math.IsNaN(v):
		case i < n:
			before = append(before, v)
		default:
			last = append(last, v)
		}
	}
	mb, sb := stat.MeanStdDev(before, nil)
	ml, sl := stat.MeanStdDev(last, nil)
	se = math.Sqrt(sb*sb/float64(len(before)) + sl*sl/float64(len(last)))
	return ml - mb, se, max(3*se, 1e-3*math.Abs(ml))
}

// barelyMoves says whether steps × rate, which bounds a parameter's movement by Adam, is under 100 steps at the
// model's own rate. It applies to networks only.
func (f *Fit) barelyMoves(steps int) bool {
	t := model.TrainingOf(f.Engine.Model)
	return t.PatientSteps > 0 && float64(steps)*f.Config.Rate < 100*t.Rate
}

// patient says whether the held-out loss has not fallen for so long that the fit ends.
func (f *Fit) patient() bool {
	b, h := f.State.Best, f.State.History
	return b != nil && h[len(h)-1].Epoch-b.Epoch >= f.Config.Patience
}
