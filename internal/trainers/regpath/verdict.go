package regpath

import (
	"fmt"
	"slices"
	"strings"
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
	if s := r.State.Auto; s.Kind != "" {
		var tried []string
		for i, kind := range s.Kinds {
			tried = append(tried, fmt.Sprintf("%s %.1f", kind, s.Scores[i]-slices.Min(s.Scores)))
		}
		words = fmt.Sprintf("chosen by EBIC, above the least %s: %s", strings.Join(tried, ", "), words)
	}
	return words
}

func (r *Run) moves() string {
	by := r.State.Refine.Movement
	switch {
	case r.State.Refine.Refit && solvable(r.Problem, r.Estimator):
		return fmt.Sprintf("would move by %.2g in a Newton step (root mean square)", by)
	case r.Config.Schedule == Accelerated && !r.State.Refine.Likeliest:
		return fmt.Sprintf("would move by at most %.2g in %d proximal gradient steps", by, refineBlock)
	case r.Config.Schedule == EM || r.State.Refine.Likeliest:
		return fmt.Sprintf("would move by at most %.2g in %d EM iterations", by, refineBlock)
	case r.Config.Schedule == Moments:
		return fmt.Sprintf("would move by at most %.2g in %d sweeps", by, refineBlock)
	case r.Estimator.Draws():
		return fmt.Sprintf("move by %.2g per %d iterations (root mean square, without noise)", by, refineBlock)
	}
	return fmt.Sprintf("move by %.2g per %d iterations (root mean square)", by, refineBlock)
}

func (r *Run) Verdict() string {
	f := r.State.Refine
	advice := "use another method or a larger λ"
	if r.Estimator.Draws() {
		advice = "use more draws, another method or a larger λ"
	}
	moves := "entries of the standardised precision " + r.moves()
	within := f.Iterations
	if r.Config.Schedule == Fixed {
		within = refineBlock
	}
	at := "at the chosen λ"
	if f.Refit {
		at = fmt.Sprintf("on the %d edges of the chosen λ, without a penalty,", r.chosenEdges())
		if r.choice.edges != nil {
			at = fmt.Sprintf("on the %d chosen edges, without a penalty,", r.chosenEdges())
		}
	}
	made := "iterations"
	if r.Config.Schedule == EM && !(f.Refit && solvable(r.Problem, r.Estimator)) || f.Likeliest {
		made = "EM iterations"
	}
	switch {
	case !f.Started:
		return "not refined: the result is the path's point at the chosen λ"
	case f.Failure != "":
		return fmt.Sprintf("NOT converged: after the path %s; the result is the path's point at the chosen λ; %s", f.Failure, advice)
	case f.Converged:
		return fmt.Sprintf("converged: after %d more %s %s the %s", f.Iterations, made, at, moves)
	case f.Stuck:
		return fmt.Sprintf("NOT converged: after %d more %s %s the loss still falls towards a precision that is not positive definite; %s", f.Iterations, made, at, advice)
	case f.Projections > 0:
		return fmt.Sprintf("NOT converged: the precision lost positive definiteness and was projected in %d of the last %d %s; %s", f.Projections, within, made, advice)
	}
	return fmt.Sprintf("NOT converged: after %d more %s %s the %s; raise Spec.Network.Iterations", f.Iterations, made, at, moves)
}

func (r *Run) Warnings() (out []string) {
	f, selective := r.State.Refine, r.Config.Select.Judges()
	points := r.State.Points
	pairs := r.candidates()
	if n := points[0].Edges; n > 0 {
		out = append(out, fmt.Sprintf("the path starts with %d of %d edges instead of none; raise the largest λ", n, pairs))
	}
	switch out = append(out, r.unfinishedWarning()...); {
	case r.State.Runaway:
		out = append(out, fmt.Sprintf("the path ends at λ = %.3g, number %d of %d: below it the precision diverges; %s", points[len(points)-1].Lambda, len(points), len(r.lambdas), r.either("look for collinear columns", "get more rows", "use fewer columns")))
	case r.stuck():
		out = append(out, fmt.Sprintf("the path ends at λ = %.3g, number %d of %d: the loss has no positive definite minimum; for denser networks use fewer columns or another method", points[len(points)-1].Lambda, len(points), len(r.lambdas)))
	case r.gaveUp():
		out = append(out, fmt.Sprintf("the path ends at λ = %.3g, number %d of %d: the last %d did not converge", points[len(points)-1].Lambda, len(points), len(r.lambdas), r.patience()))
	case !selective && float64(points[len(points)-1].Edges) < denseShare*float64(pairs) && (r.matrix == nil || r.Table.D <= DenseColumns):
		out = append(out, fmt.Sprintf("the path ends with %d of %d edges, not with a dense network; lower the smallest λ", points[len(points)-1].Edges, pairs))
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
	case selective && points[f.Index].Edges == 0 && (r.State.Runaway || r.gaveUp()):
		out = append(out, "the criterion finds no edge before the path ends; it has not seen denser networks")
	case selective && points[f.Index].Edges == 0 && r.Table.Complete():
		out = append(out, "the criterion finds no edge: the path shows denser networks, and Spec.Network.Select density=0.2 takes one")
	case selective && points[f.Index].Edges == 0:
		out = append(out, "the criterion finds no edge, perhaps because many cells are missing: the path shows denser networks, and Spec.Network.Select density=0.2 takes one")
	}
	iterations, projections, blocks := 0, 0, 0
	for _, p := range points {
		iterations += p.Iterations
		projections += p.Projections
		if p.Projections > 0 {
			blocks++
		}
	}
	if projections > 0 {
		out = append(out, fmt.Sprintf("the precision was shrunk to stay positive definite in %d of %d iterations, at %d of %d λ", projections, iterations, blocks, len(points)))
	}
	if r.matrix != nil && r.matrix.of != nil {
		out = append(out, r.matrix.warnings()...)
	}
	return append(out, r.Degenerate(f.Size)...)
}

func (r *Run) unfinishedWarning() []string {
	lambdas := r.unfinished()
	if r.State.Runaway || r.stuck() { // the last λ has its own warning
		lambdas = lambdas[:len(lambdas)-1]
	}
	if len(lambdas) == 0 {
		return nil
	}
	from, chosen := fmt.Sprintf("λ = %.3g", lambdas[0]), "it is not chosen"
	if len(lambdas) > 1 {
		from, chosen = fmt.Sprintf("%d of %d λ, the largest %.3g", len(lambdas), len(r.State.Points), lambdas[0]), "none of them is chosen"
	}
	if len(lambdas) == len(r.State.Points) {
		chosen = "the choice is among unfinished networks"
	}
	return []string{fmt.Sprintf("at %s, %d iterations did not converge, and %s; %s", from, r.Config.MaxIter, chosen, r.either("raise Spec.Network.Iterations", "get more rows", "leave out nearly collinear columns"))}
}

// With at most as many rows as columns, fewRows replaces first.
func (r *Run) either(first, fewRows, second string) string {
	if r.Table.RowCount() <= r.Table.D {
		first = fewRows
	}
	return first + ", or " + second
}

const denseShare = 0.8 // share of pairs of a dense network
