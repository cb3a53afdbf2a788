package path

import "math"

// fillLoss fills in the loss of a point that became the result without one: those of a path
// without fits have none. It is the estimator's at the model, mean over rows and columns.
func (r *Run) fillLoss() error {
	f := &r.State.Refine
	if !math.IsNaN(f.Loss) {
		return nil
	}
	step, err := r.Gradient(r.State.Iteration, r.rows, 1/(r.total()*float64(r.Table.D)))
	if err != nil {
		return err
	}
	f.Loss = step.Loss
	return nil
}
