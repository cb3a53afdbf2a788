package path

import (
	"fmt"
)

// Verdict says in one sentence whether the iterations at the chosen λ converged.
func (r *Run) Verdict() string {
	f := r.State.Refine
	advice := "use another method or a larger λ"
	if r.Estimator.Draws() {
		advice = "use more draws, another method or a larger λ"
	}
	how := "root mean square"
	if r.Estimator.Draws() {
		how += ", noise of draws taken out"
	}
	moves := fmt.Sprintf("entries of the standardised precision move by %.2g per %d iterations (%s)", f.Movement, refineBlock, how)
	within := refineBlock
	if r.accelerated() {
		moves = fmt.Sprintf("entries of the standardised precision would move by at most %.2g in %d proximal gradient steps", f.Movement, refineBlock)
		within = f.Iterations
	}
	switch {
	case !f.Started:
		return "not refined: the result is the path's point at the chosen λ"
	case f.Failure != "":
		return fmt.Sprintf("NOT converged: after the path %s; the result is the path's point at the chosen λ; %s", f.Failure, advice)
	case f.Converged:
		return fmt.Sprintf("converged: after %d more iterations at the chosen λ the %s", f.Iterations, moves)
	case f.Projections > 0:
		return fmt.Sprintf("NOT converged: the precision ran towards a matrix that is not positive definite and was projected back in %d of the last %d iterations; %s", f.Projections, within, advice)
	}
	return fmt.Sprintf("NOT converged: after %d more iterations at the chosen λ the %s", f.Iterations, moves)
}

// Warnings are what the user should know of the path and of the choice of λ.
func (r *Run) Warnings() (out []string) {
	f, selective := r.State.Refine, r.Config.Select.Judges()
	points := r.State.Points
	pairs := r.Table.D * (r.Table.D - 1) / 2
	if n := points[0].Edges; n > 0 {
		out = append(out, fmt.Sprintf("the path starts with %d of %d edges instead of none: raise the largest λ", n, pairs))
	}
	if r.gaveUp() {
		out = append(out, fmt.Sprintf("the path ends at λ = %.3g, number %d of %d: %d iterations did not reach the minimum there", points[len(points)-1].Lambda, len(points), len(r.lambdas), r.Config.MaxIter))
	} else if n := points[len(points)-1].Edges; float64(n) < denseShare*float64(pairs) {
		out = append(out, fmt.Sprintf("the path ends with %d of %d edges, not with a dense network: lower the smallest λ", n, pairs))
	}
	if selective && !r.gaveUp() && f.Index == len(points)-1 && len(points) > 1 && points[f.Index].Edges < pairs {
		out = append(out, "the chosen λ is the smallest of the path: lower it to see whether a denser network is better")
	}
	if selective && points[f.Index].Edges == 0 {
		out = append(out, "the criterion finds no edge: with many missing cells it may be too strict; try a smaller γ, or choose a density, and look at the path")
	}
	projections, blocks := 0, 0
	for _, p := range points {
		projections += p.Projections
		if p.Projections > 0 {
			blocks++
		}
	}
	if projections > 0 {
		out = append(out, fmt.Sprintf("the precision had to be kept positive definite (off-diagonal elements shrunk) in %d of %d iterations, at %d of %d λ", projections, r.iterations(), blocks, len(points)))
	}
	return append(out, r.Degenerate(f.Size)...)
}

const denseShare = 0.8 // of all pairs: less is not a dense end of a path
