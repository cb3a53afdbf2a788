package regpath

import (
	"fmt"
)

func (r *Run) Choice() string { return r.choice.words }

func (r *Run) chosenEdges() int {
	if r.choice.edges == nil {
		return r.State.Points[r.State.Refine.Index].Edges
	}
	return count(ofNodes(r.covariates, r.choice.edges))
}

func (r *Run) MatrixWords() string {
	if r.matrix == nil || r.matrix.of == nil {
		return ""
	}
	return r.matrix.words()
}

func (r *Run) Ordering() string {
	words := "L1, all pairs equally"
	switch r.Penalty().Kind {
	case adaptive:
		words = "adaptive L1: a larger partial correlation in a ridge pilot means a smaller weight; pilot " + r.State.Pilot.describe()
	case ridge:
		words = "none: pairs ordered by their partial correlations in a ridge pilot " + r.State.Pilot.describe() + "; λ is a threshold of these"
	}
	if r.State.Auto.Kind != "" {
		words = "chosen by EBIC: " + words
	}
	return words
}

func (r *Run) Verdict() string {
	f := r.State.Refine
	advice := "use another method or a larger λ"
	if r.Estimator.Draws() {
		advice = "use more draws, another method or a larger λ"
	}
	after := fmt.Sprintf("after %d more iterations at the chosen λ", f.Iterations)
	if f.Refit {
		after = fmt.Sprintf("after %d iterations on the %d chosen edges, without a penalty,", f.Iterations, r.chosenEdges())
	}
	moved := fmt.Sprintf("%s the standardised precision moves by %.2g, the limit is %.2g", after, f.Movement, r.Config.Tolerance)
	switch {
	case !f.Started:
		return "not refined: the result is the path's point at the chosen λ"
	case f.Failure != "":
		return fmt.Sprintf("NOT converged: after the path %s; the result is the path's point at the chosen λ; %s", f.Failure, advice)
	case f.Converged:
		return "converged: " + moved
	case f.Stuck || f.Projections > 0:
		return fmt.Sprintf("NOT converged: %s the precision does not stay positive definite; %s", after, advice)
	}
	return "NOT converged: " + moved + "; raise Spec.Network.Iterations"
}

func (r *Run) Warnings() (out []string) {
	f, selective := r.State.Refine, r.Config.Select.Judges()
	points := r.State.Points
	pairs := r.candidates()
	if n := points[0].Edges; n > 0 {
		out = append(out, fmt.Sprintf("the path starts with %d of %d edges instead of none; raise the largest λ", n, pairs))
	}
	out = append(out, r.unfinishedWarning()...)
	last, ends := points[len(points)-1], ""
	switch {
	case r.stuck():
		ends = "below it the loss has no minimum; look for collinear columns, get more rows or use fewer columns"
	case r.gaveUp():
		ends = fmt.Sprintf("the last %d did not converge", r.patience())
	case !selective && float64(last.Edges) < denseShare*float64(pairs) && (r.matrix == nil || r.Table.D <= DenseColumns):
		out = append(out, fmt.Sprintf("the path ends with %d of %d edges, not with a dense network; lower the smallest λ", last.Edges, pairs))
	}
	if ends != "" {
		out = append(out, fmt.Sprintf("the path ends at λ = %.3g, number %d of %d: %s", last.Lambda, len(points), len(r.lambdas), ends))
	}
	if failed, told := r.State.Resampled.failed(r.Config.Select.Kind); failed > 0 {
		out = append(out, told)
	}
	if selective && r.choice.edges == nil && !r.gaveUp() && f.Index == len(r.lambdas)-1 && len(points) > 1 && points[f.Index].Edges < pairs {
		out = append(out, "the chosen λ is the smallest of the path; lower it to see whether a denser network is better")
	}
	switch {
	case r.choice.unjudged:
		out = append(out, "the criterion can judge none of the networks, so the sparsest is chosen; use cv or a density, or leave out columns")
	case r.choice.edges != nil && r.chosenEdges() == 0:
		out = append(out, "no edge is certain enough to be chosen; allow more false edges, or look at the path")
	case f.Likeliest && f.Failure == "":
		out = append(out, "score matching without a penalty has no positive definite minimum on the chosen edges, so their sizes are maximum likelihood estimates")
	case selective && points[f.Index].Edges == 0:
		why := ": the path shows denser networks, and Spec.Network.Select density=0.2 takes one"
		if r.gaveUp() {
			why = " before the path ends; it has not seen denser networks"
		} else if !r.Table.Complete() {
			why = ", perhaps because many cells are missing" + why
		}
		out = append(out, "the criterion finds no edge"+why)
	}
	iterations, projections := 0, 0
	for _, p := range points {
		iterations += p.Iterations
		projections += p.Projections
	}
	if projections > 0 {
		out = append(out, fmt.Sprintf("the precision was shrunk to stay positive definite in %d of %d iterations", projections, iterations))
	}
	if r.matrix != nil && r.matrix.of != nil {
		out = append(out, r.matrix.warnings()...)
	}
	return append(out, r.Degenerate(f.Size)...)
}

func (r *Run) unfinishedWarning() []string {
	lambdas := r.unfinished()
	if r.stuck() { // the last λ has its own warning
		lambdas = lambdas[:len(lambdas)-1]
	}
	if len(lambdas) == 0 {
		return nil
	}
	chosen := "they are not chosen"
	if len(lambdas) == len(r.State.Points) {
		chosen = "the choice is among unfinished networks"
	}
	return []string{fmt.Sprintf("at %d of %d λ, the largest %.3g, %d iterations did not converge, and %s; raise Spec.Network.Iterations, get more rows or leave out nearly collinear columns", len(lambdas), len(r.State.Points), lambdas[0], r.Config.MaxIter, chosen)}
}

const denseShare = 0.8 // share of pairs of a dense network
