package harness

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/internal/trainers/descent"
	"missingscore/internal/trainers/engine"
	"missingscore/trainers"
)

// Estimate is trainers.Estimate without settings that the method does not read, because methods of
// an experiment share settings.
func Estimate(ctx context.Context, t *data.Table, s trainers.Spec, run trainers.Run) (*trainers.Result, error) {
	plain := s
	plain.Steps, plain.Weight = engine.Config{Method: s.Steps.Method, Seed: s.Steps.Seed, DType: s.Steps.DType}, domain.Weight{}
	p, err := trainers.Prepare(t, plain)
	if err != nil {
		return nil, err
	}
	e, c := p.Estimator, &s.Steps
	if !e.Draws() {
		c.Draws, c.FreeDraws = 0, false
	}
	if !e.Source.ProposalSD {
		c.ProposalSD = 0
	}
	if !e.Trains() {
		var none engine.Config
		c.Imputer, c.ImputerSteps, c.ImputerRate, c.ImputerLoss, c.WarmUp = none.Imputer, 0, 0, none.ImputerLoss, nil
	}
	if p.Support == nil {
		s.Weight, c.FreeDraws = domain.Weight{}, false
	} else if len(p.Support.Half) == 0 {
		s.Weight.NoTangent = false
	}
	return trainers.Estimate(ctx, t, s, run)
}

// Trained is a fit whose errors were measured at each epoch.
type Trained struct {
	*trainers.Result // nil if the fit diverged
	History          []descent.Record
	Epochs           int // of the settings
}

// Train is Estimate with a history, which a fit that diverges also has.
func Train(ctx context.Context, t *data.Table, s trainers.Spec, epochs int) (f Trained, err error) {
	state := &trainers.State{}
	f.Epochs = epochs
	f.Result, err = Estimate(ctx, t, s, trainers.Run{State: state})
	if trainers.Diverged(err) {
		f.Result, err = nil, nil
	}
	if state.Descent != nil {
		f.History = state.Descent.History
	}
	return f, err
}

func (f Trained) Diverged() bool { return f.Result == nil }

// Trace returns the named error at about ten epochs per decade, "-" for epochs that were not
// reached.
func (f Trained) Trace(name string) string {
	var out []string
	for _, epoch := range []int{1, 2, 3, 4, 5, 7, 10, 12, 15, 20, 25, 30, 40, 50, 60, 70, 85, 100, 120, 140, 170, 200} {
		if epoch < f.Epochs {
			out = append(out, f.at(epoch, name))
		}
	}
	return strings.Join(append(out, f.at(f.Epochs, name)), " ")
}

func (f Trained) at(epoch int, name string) string {
	if epoch <= len(f.History) {
		for _, e := range f.History[epoch-1].Errors {
			if e.Name == name {
				return strconv.FormatFloat(e.Value, 'g', 5, 64)
			}
		}
	}
	return "-"
}

// EffectiveSize is the last epoch's; "-" without epochs.
func (f Trained) EffectiveSize() string {
	if len(f.History) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f", f.History[len(f.History)-1].EffectiveSize)
}

// LambdaMax is the λ, 5 % above the smallest of the empty network, at which the program's path
// starts without bounds.
func LambdaMax(t *data.Table) (top float64) {
	sums, d := t.PairSums(), t.D
	scale := func(j int) float64 { return sums.Number[j*d+j] / sums.Cross[j*d+j] }
	for j := range d {
		for k := range j {
			top = max(top, 2*(scale(j)+scale(k))*math.Abs(sums.Cross[k*d+j]))
		}
	}
	return 1.05 * top / float64(t.RowCount()*d)
}
