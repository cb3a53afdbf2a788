package path

import "context"

// StepsAt makes the run ready for its rows, as a path does, and gives what makes one step of the
// fixed schedule at the path's λ number k, from the largest down, wherever the path stands: for
// measuring. The Run is of no use to estimate any more. In steady state a step does not
// allocate, if matrix products do not.
func (r *Run) StepsAt(k int) func(ctx context.Context) error {
	r.Condense(r.rows)
	f := fixed{Run: r}
	return func(ctx context.Context) error {
		_, err := f.advance(ctx, r.lambdas[k])
		return err
	}
}
