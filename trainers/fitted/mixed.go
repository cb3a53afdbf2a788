package fitted

import (
	"context"
	"slices"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/data/mixture"
	"missingscore/trainers/source"
)

func (f *Model) mixed() *mixture.Mixture { return model.MixedOf(f.Model) }

// Drawn returns the names of levels in drawn rows per column, nil for numbers. A model of numbers
// draws numbers, except for ordinal columns.
func (f *Model) Drawn() [][]string {
	drawn := make([][]string, len(f.Names))
	copy(drawn, f.Levels)
	for j := range drawn {
		if f.mixed() == nil && f.Posterior == nil && !slices.Contains(f.Transform.Ordinal(), j) {
			drawn[j] = nil
		}
	}
	return drawn
}

// byComponents draws a component given the observed cells, then the missing cells
// (docs/theory/models.md#eq-mixed-conditional).
func byComponents(m *mixture.Mixture, z *data.Table, draws int) completer {
	return func(_ context.Context, b *block, rng *source.Stream) error {
		given := m.ByPattern()
		for at := 0; at < len(b.x); at += z.D {
			i := b.rows[at/z.D/draws]
			given(z.Observed[i*z.D:(i+1)*z.D]).Complete(b.x[at:at+z.D], rng.Rand)
		}
		return nil
	}
}

func scoreMixed(m *mixture.Mixture, r *Scores, x *data.Table) {
	joint, given := make([]float64, len(m.Weights)), m.ByPattern()
	for i := range x.N {
		row, observed := x.Values[i*x.D:(i+1)*x.D], x.Observed[i*x.D:(i+1)*x.D]
		if !slices.Contains(observed, false) {
			r.LogDensity[i] = given(observed).Joint(row, joint)
		}
		given(observed).Score(row, r.Score[i*x.D:(i+1)*x.D])
	}
}
