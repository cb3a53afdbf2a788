package regpath

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/optim"
)

// fixed is the paper's schedule: a fixed number of proximal gradient steps at every λ.
type fixed struct{ *problem }

// steps returns the number of iterations up to the end of λ_k.
func (f fixed) steps(k int) int { return f.Config.InitialIter + (k+1)*f.Config.IterPerLambda }

func (f fixed) iterate(ctx context.Context, k int) (Point, error) {
	for f.State.Iteration < f.steps(k) {
		last, err := f.advance(ctx, f.lambdas[k])
		if err != nil {
			return Point{}, err
		}
		f.report("path", "iteration", f.State.Iteration, f.steps(len(f.lambdas)-1), f.lambdas[k], last.Loss, last.EffectiveSize)
	}
	loss, size := f.State.Block.means()
	p := f.closeBlock(f.lambdas[k])
	p.Loss, p.EffectiveSize = loss, size
	return p, nil
}

func (b Block) means() (loss, size float64) {
	return b.Loss / float64(b.Count), b.Size / float64(b.Count)
}

// If ctx is done it returns ctx's error between two steps.
func (f fixed) advance(ctx context.Context, lambda float64) (engine.Step, error) {
	d := f.Table.D
	s, err := f.Step(ctx, f.State.Iteration, f.Whole, f.rows, 1/float64(len(f.rows)*d))
	if err != nil {
		return s, err
	}
	b := &f.State.Block
	if b.Start == nil {
		*b = Block{Start: slices.Clone(f.packed())}
	}
	optim.Proximal{Rate: f.Config.Rate * float64(d), Lambda: lambda, Weights: f.weights}.Step(f.packed(), s.Grads[1], d)
	for i, held := range f.held {
		if held {
			f.packed()[i] = 0
		}
	}
	if f.fitsMean() {
		floats.AddScaled(f.model.Location.Value, -f.Config.Rate*float64(d), s.Grads[0])
	}
	if !engine.Finite(f.packed()...) || !engine.Finite(f.model.Location.Value...) {
		copy(f.packed(), b.Start)
		return s, &engine.DivergedError{Iteration: f.State.Iteration, What: "precision"}
	}
	if f.posdef.Project(f.model) {
		b.Projections++
	}
	b.Size += s.EffectiveSize
	b.Loss += s.Loss
	b.Count++
	f.State.Iteration++
	return s, nil
}

func (f fixed) settle(ctx context.Context, lambda float64) error {
	for s := &f.State.Refine; !s.Done; {
		step, err := f.advance(ctx, lambda)
		if err != nil {
			return err
		}
		s.Iterations++
		if (s.Iterations-1)%(refineBlock/refineParts) == 0 {
			s.Parts = append(s.Parts, make([]float64, len(f.packed())))
		}
		floats.Add(s.Parts[len(s.Parts)-1], f.packed())
		f.report("refine", "iteration", s.Iterations, f.Config.RefineIter, lambda, step.Loss, step.EffectiveSize)
		if s.Iterations%refineBlock != 0 {
			continue
		}
		s.Loss, s.Size = f.State.Block.means() // missing for a path without fits
		s.Projections = f.closeBlock(lambda).Projections
		mean, variance := blockMean(s.Parts)
		if !f.Estimator.Draws() { // without noise the variance is movement
			clear(variance)
		}
		s.Movement = movement(s.Previous, mean, variance)
		s.Previous, s.Parts = mean, nil
		s.Converged = s.Movement < f.Config.Tolerance && s.Projections == 0
		s.Done = s.Converged || s.Iterations >= f.Config.RefineIter
		if err := f.save(); err != nil {
			return err
		}
	}
	return nil
}

// blockMean returns the mean of a block's iterates and its variance from the means of the parts,
// which overwrite them.
func blockMean(parts [][]float64) (mean, variance []float64) {
	mean, variance = make([]float64, len(parts[0])), make([]float64, len(parts[0]))
	for _, p := range parts {
		floats.Scale(float64(refineParts)/refineBlock, p)
		floats.AddScaled(mean, 1./refineParts, p)
	}
	for _, p := range parts {
		for i, v := range p {
			variance[i] += (v - mean[i]) * (v - mean[i]) / (refineParts * (refineParts - 1))
		}
	}
	return mean, variance
}

// movement returns the root mean square change of non-zero P between block means, minus the
// variance due to draws; +Inf before the second block.
func movement(before, mean, variance []float64) float64 {
	if before == nil {
		return math.Inf(1)
	}
	sum, n := 0.0, 0
	for i, v := range mean {
		if v == 0 && before[i] == 0 {
			continue
		}
		sum += (v-before[i])*(v-before[i]) - 2*variance[i]
		n++
	}
	return math.Sqrt(math.Max(sum, 0) / float64(max(n, 1)))
}
