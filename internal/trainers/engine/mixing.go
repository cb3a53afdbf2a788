package engine

import (
	"context"
	"fmt"
	"slices"

	"missingscore/internal/panics"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/mcmc"
	"missingscore/trainers/source"
)

// mostRHat is the R-hat above which a fit warns.
const mostRHat = 1.1

// Mixing returns the mixing of imputation chains at the current model; nil without chains.
func (e *Engine) Mixing(ctx context.Context) (*mcmc.Mixing, error) {
	if len(e.workers) == 0 {
		return nil, nil
	}
	if _, ok := e.workers[0].source.(source.Chained); !ok {
		return nil, nil
	}
	rhat, made := make([]float64, len(e.Whole.Gaps)), 0
	parts := slices.Collect(slices.Chunk(e.Whole.Gaps, e.Config.Batch))
	err := panics.Each(ctx, len(e.workers), len(parts), func() (func(context.Context, int) error, error) {
		w := e.workers[made]
		made++
		return func(_ context.Context, i int) error {
			w.batch.Fill(e.Table, parts[i], 1)
			of, err := w.source.(source.Chained).RHat(w.batch, w.stream.At(e.Config.Seed, stream.Sample, uint64(i)))
			copy(rhat[i*e.Config.Batch:], of)
			return err
		}, nil
	}, nil)
	if err != nil {
		return nil, err
	}
	return mcmc.Pool(e.Whole.Gaps, rhat), nil
}

func MixingWarnings(m *mcmc.Mixing) []string {
	if m == nil || m.RHat <= mostRHat {
		return nil
	}
	return []string{fmt.Sprintf("the imputation chains have not mixed: root mean square split R-hat %.2f, %.2f in row %d, should be below %v; compare with variw or another Spec.Steps.Seed, or allow more steps", m.RHat, m.Worst, m.Row+1, mostRHat)}
}
