package extension

import (
	"errors"

	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/losses"
	"missingscore/trainers/estimator"
	"missingscore/trainers/source"
)

// heavy proposes missing cells from a t distribution with 3 degrees of freedom, whose
// tails no conditional outruns, for importance weights.
type heavy struct{ draws int }

func init() {
	source.Kinds["heavy"] = source.Kind{Name: "heavy", Note: "independent draws from a t distribution", New: newHeavy, Random: true, LogDensity: true}
	estimator.Register(estimator.Estimator{
		Name: "iw-heavy", Title: "Marg-IW, heavy tails", Note: "importance weights, proposals from a t distribution",
		Source: source.Kinds["heavy"], Weighting: losses.SelfNormalised, Loss: losses.Marginal,
	})
}

func newHeavy(s source.Setting) (source.Source, error) {
	if s.Domain.Bounded() {
		return nil, errors.New("iw-heavy does not know supports that end: use iw")
	}
	return heavy{s.Draws}, nil
}

// Complete implements source.Source.
func (h heavy) Complete(b *data.Batch, x, logProposal []float64, rng *source.Stream) error {
	t := distuv.StudentsT{Sigma: 1, Nu: 3, Src: rng}
	for i := range b.Size * h.draws {
		row, from := x[i*b.D:(i+1)*b.D], i/h.draws*b.D
		copy(row, b.X[from:])
		logProposal[i] = 0
		for j := range row {
			if b.Mask[from+j] == 0 && i/h.draws < len(b.Rows) {
				row[j] = t.Rand()
				logProposal[i] += t.LogProb(row[j])
			}
		}
	}
	return nil
}
