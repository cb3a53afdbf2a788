package descent

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"missingscore/graph/model"
)

// When fits stop: docs/how-to/when-a-fit-stops.md.

// Stall counts iterations since Measure last halved.
type Stall struct {
	Measure float64 // at the start of the count
	Loss    float64 // after the last iteration
	Count   int
	Rose    int // iterations that raised the loss
}

const (
	stalledIterations = 100
	mostStalled       = 1e-2 // relative movement due to rounding
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

// reached reports that only rounding is left: a third of at least a hundred iterations raised the
// loss.
func (s *Stall) reached() bool { return s.Count >= stalledIterations && 3*s.Rose >= s.Count }

// wild reports that an acceleration fails: a tenth of a hundred iterations raised the loss, or the
// count is a thousand.
func (s *Stall) wild() bool {
	return s.Count >= stalledIterations && 10*s.Rose >= s.Count || s.Count >= 10*stalledIterations
}

const fewestEpochs = 3 // in each of the two compared parts

// Trend compares the mean losses of the last fifth of a fit and the fifth before. A change by more
// than three standard errors and a thousandth is not convergence; a rise is divergence.
func Trend(h []Record) (converged bool, verdict string) {
	n := len(h) / 5
	if n < fewestEpochs {
		return false, tooFew(h)
	}
	rose, se, least := change(h, n, func(r Record) float64 { return r.Loss })
	switch {
	case rose > least:
		return false, fmt.Sprintf("NOT converged: in the last %d epochs the loss rose by %.3g, so the fit diverges; use fewer epochs or another method", n, rose)
	case -rose > least:
		return false, fmt.Sprintf("NOT converged: in the last %d epochs the loss still fell by %.3g; allow more epochs", n, -rose)
	}
	return true, fmt.Sprintf("converged: in the last %d epochs the loss changed by %.3g ± %.2g", n, rose, se)
}

func tooFew(h []Record) string {
	return fmt.Sprintf("NOT converged: %d epochs are too few to tell; allow more epochs", len(h))
}

// change returns the mean over the last n epochs minus that over the n before, its standard error,
// and the least relevant change; it skips NaN.
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

// barelyMoves: steps × rate bounds the movement of a parameter under Adam.
func (f *Fit) barelyMoves(steps int) bool {
	t := model.TrainingOf(f.Engine.Model)
	return t.PatientSteps > 0 && float64(steps)*f.Config.Rate < 100*t.Rate
}

func (s *State) patient(patience int) bool {
	return s.Best != nil && s.History[len(s.History)-1].Epoch-s.Best.Epoch >= patience
}
