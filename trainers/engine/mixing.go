package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"missingscore/internal/stream"
	"missingscore/trainers/mcmc"
	"missingscore/trainers/source"
)

// mostRHat is the R-hat above which a fit says that its chains have not met.
const mostRHat = 1.1

// Mixing tells how well chains mix that rows are completed from, with the model as it now
// is: nil where none are. Results do not depend on the number of workers.
func (e *Engine) Mixing(ctx context.Context) (*mcmc.Mixing, error) {
	if len(e.workers) == 0 {
		return nil, nil
	}
	if _, ok := e.workers[0].source.(source.Chained); !ok {
		return nil, nil
	}
	size := e.Config.Batch
	rhat := make([]float64, len(e.Whole.Gaps))
	parts := slices.Collect(slices.Chunk(e.Whole.Gaps, size))
	errs := make([]error, len(e.workers))
	err := e.together(len(e.workers), func(k int) {
		for i, w := k, e.workers[k]; i < len(parts) && errs[k] == nil; i += len(e.workers) {
			w.batch.Fill(e.Table, parts[i], 1)
			of, err := w.source.(source.Chained).RHat(w.batch, w.stream.At(e.Config.Seed, stream.Sample, uint64(i)))
			copy(rhat[i*size:], of)
			errs[k] = cmp.Or(err, ctx.Err())
		}
	})
	if err = cmp.Or(append(errs, err)...); err != nil {
		return nil, err
	}
	return mcmc.Pool(e.Whole.Gaps, rhat), nil
}

// MixingWarnings warn of chains that have not met; m may be nil.
func MixingWarnings(m *mcmc.Mixing) []string {
	if m == nil || m.RHat <= mostRHat {
		return nil
	}
	return []string{fmt.Sprintf("the chains that complete the rows have not met: split R-hat %.2f over rows (root mean square), %.2f in row %d, should be below %v; the conditional may have several modes, or the fit too few steps: compare with variw, or with chains started from another Spec.Steps.Seed", m.RHat, m.Worst, m.Row+1, mostRHat)}
}
