package path

import "context"

// StepAt makes one step of the fixed schedule at the path's λ number k, from the largest
// down, wherever the path stands: for measuring. It is of no use to a Run that is to
// estimate. In steady state it does not allocate, if matrix products do not.
func (r *Run) StepAt(ctx context.Context, k int) error {
	f := fixed{Run: r}
	_, err := f.advance(ctx, r.lambdas[k])
	return err
}
