package regpath

import (
	"context"
	"fmt"
	"math"
	"slices"

	"missingscore/internal/data/network"
)

type choice struct {
	scores   []float64 // by point, smaller is better; nil for none
	point    int       // index in the path
	edges    []bool    // chosen pairs if they differ from the point's; else nil
	unjudged bool      // no point has a score
	words    string    // note; may be ""
}

type Tests struct {
	Pairs    []network.Uncertainty // pairs j < k in column order; nil before the tests
	Rests    string                // basis of the standard errors
	Warnings []string
}

// test tests all pairs, starting from a choice by EBIC.
func choose(ctx context.Context, w *walk, test func(ctx context.Context, start choice) (Tests, error)) (c choice, err error) {
	s, points, ok := w.Config.Select, w.State.Points, choosable(w.State.Points)
	switch s.Kind {
	case byEBIC:
		return chooseEBIC(ctx, w)
	case byFDR:
		return chooseFDR(ctx, w, test)
	case byStability:
		return chooseStable(ctx, w)
	case byCV:
		return leastScore(points, w.State.Resampled.crossValidated(w.Config.Select.parts(w.Table.N, w.Engine.Config.Seed))[:len(points)]), nil
	case byStars:
		c.scores = w.State.Resampled.instability(w.candidates())[:len(points)]
		for i := range points {
			if ok[i] && c.scores[i] <= s.Beta {
				c.point = i
			}
		}
	case byDensity:
		var scores []float64
		for _, p := range points {
			scores = append(scores, math.Abs(float64(p.Edges)/float64(w.candidates())-s.Density))
		}
		return leastScore(points, scores), nil
	default: // the smallest λ
		for c.point = len(ok) - 1; !ok[c.point]; c.point-- {
		}
	}
	return c, nil
}

// choosable reports finished points, or all if none is finished.
func choosable(points []Point) []bool {
	ok := make([]bool, len(points))
	none := !slices.ContainsFunc(points, func(p Point) bool { return !p.Unfinished })
	for i, p := range points {
		ok[i] = none || !p.Unfinished
	}
	return ok
}

// leastScore returns the first point with the smallest score, or the sparsest without scores.
func leastScore(points []Point, scores []float64) choice {
	ok := choosable(points)
	chosen := max(0, slices.Index(ok, true))
	for i, v := range scores {
		if ok[i] && (v < scores[chosen] || math.IsNaN(scores[chosen]) && !math.IsNaN(v)) {
			chosen = i
		}
	}
	return choice{scores: scores, point: chosen, unjudged: math.IsNaN(scores[chosen])}
}

// chooseEBIC chooses by the extended Bayesian information criterion of the points (Foygel & Drton
// 2010) on the observed cells:
//
//	−2 log L + |E| log n + 4 γ |E| log d
//
// n is the mean number of rows in which a pair is observed; with sampling weights n and log L use
// the effective number of rows (docs/theory/weights.md#eq-kish). With blocks an edge counts |A||B|
// parameters in the term with log n. γ is the selection's; default DefaultGamma, or 0.25 if the
// score is not the likelihood of rows. With missingness the point's reported loss (M), summed over
// rows, replaces −2 log L (Lin, Drton & Shojaie 2016); on a domain Run.judge's.
func chooseEBIC(ctx context.Context, w *walk) (choice, error) {
	t := w.Table
	pairs := 0.0
	if w.matrix != nil {
		pairs = w.matrix.of.Pairs
	} else {
		pairs = meanPairCount(w.Problem)
	}
	left, nodes := t.EffectiveRows()/float64(t.RowCount()), len(w.covariates.nodes)
	byDefault := w.Config.Select.Gamma == nil
	if byDefault {
		w.Config.Select.Gamma = new(mostGamma)
		if w.matrix == nil && w.Missingness == nil && !w.Domain.Bounded() {
			*w.Config.Select.Gamma = DefaultGamma(nodes, left*pairs)
		}
	}
	model, mostModel := 4**w.Config.Select.Gamma*math.Log(float64(nodes)), 4*mostGamma*math.Log(float64(nodes))
	edge := math.Log(left*pairs) + model
	cost := func(p Point) float64 {
		if w.covariates.blocks == nil {
			return float64(p.Edges) * edge
		}
		return float64(count(w.adjacency(p, false).Edge))*math.Log(left*pairs) + float64(p.Edges)*model
	}
	score := func(i int, likelihood float64) float64 { return -2*left*likelihood + cost(w.State.Points[i]) }
	var scores []float64
	var err error
	switch {
	case w.Missingness != nil:
		for _, p := range w.State.Points {
			scores = append(scores, p.Loss*float64(t.N*t.D)+float64(p.Edges)*edge)
		}
	case w.Domain.Bounded():
		scores, err = judge(ctx, w, edge)
	default:
		var likelihoods []float64
		likelihoods, err = searchLikelihoods(ctx, w, score)
		of := func() (scores []float64) {
			for i, likelihood := range likelihoods {
				scores = append(scores, score(i, likelihood))
			}
			return scores
		}
		if scores = of(); err != nil || !byDefault || *w.Config.Select.Gamma == mostGamma {
			break
		}
		// With independent columns a small γ finds some edges; the largest may find none.
		edge, model = edge-model+mostModel, mostModel
		if strict := leastScore(w.State.Points, of()); w.State.Points[strict.point].Edges == 0 {
			*w.Config.Select.Gamma = mostGamma
			return strict, nil
		}
	}
	if err != nil {
		return choice{}, err
	}
	return leastScore(w.State.Points, scores), nil
}

// NaN for skipped networks.
func searchLikelihoods(ctx context.Context, w *walk, score func(point int, likelihood float64) float64) ([]float64, error) {
	state := &w.State.Refitted
	networks := func(number int) ([]int, error) {
		all, err := w.networksTo(ctx, number)
		for len(state.Done) < len(w.State.Points) {
			state.Done, state.Likelihood = append(state.Done, false), append(state.Likelihood, math.NaN())
		}
		return all, err
	}
	look := func(points []int) error { return refitAll(ctx, w, points) }
	if _, err := search(networks, look, func(point int) float64 { return score(point, state.Likelihood[point]) }); err != nil {
		return nil, err
	}
	return shared(w.State.Points, w.networks(), state.Likelihood), nil
}

const (
	coarse         = 4    // stride of the coarse search
	coarsePatience = 4    // networks in a row without improvement that end it
	coarseRise     = 0.25 // of the improvement of the best over the first, at least leastRise: a worse score ends it
	leastRise      = 10
)

// search looks at every fourth network from the sparsest on, until four in a row are no better or
// the score has risen by a quarter of its fall; then around the best. look prepares scores.
func search(networks func(number int) ([]int, error), look func(points []int) error, score func(point int) float64) (best int, err error) {
	var all []int
	least, at := math.Inf(1), 0
	idle := 0 // networks since the best
	visit := func(points []int) error {
		if err := look(points); err != nil {
			return err
		}
		for _, p := range points {
			if idle++; score(p) < least {
				least, at, idle = score(p), slices.Index(all, p), 0
			}
		}
		return nil
	}
	for next := 0; ; next += coarse {
		if all, err = networks(next + 1); err != nil {
			return 0, err
		}
		if next >= len(all) {
			break
		}
		if err := visit(all[next : next+1]); err != nil {
			return 0, err
		}
		gain, rise := score(all[0])-least, score(all[next])-least
		if idle >= coarsePatience || gain > 0 && rise > max(leastRise, coarseRise*gain) {
			break
		}
	}
	if all, err = networks(at + coarse); err != nil {
		return 0, err
	}
	err = visit(all[max(0, at-coarse+1):min(len(all), at+coarse)])
	return all[at], err
}

func shared(points []Point, networks []int, values []float64) []float64 {
	out := slices.Clone(values)
	for i := range out {
		if n, _ := slices.BinarySearch(networks, i+1); n > 0 && !points[i].Unfinished {
			out[i] = out[networks[n-1]]
		}
	}
	return out
}

// chooseFDR chooses the pairs with a q value of at most the rate (docs/theory/inference.md#eq-fdr).
func chooseFDR(ctx context.Context, w *walk, test func(ctx context.Context, start choice) (Tests, error)) (choice, error) {
	start, err := chooseEBIC(ctx, w)
	if err != nil {
		return choice{}, err
	}
	tests, rate := &w.State.Tests, w.Config.Select.Rate
	if tests.Pairs == nil {
		w.setPoint(start.point)
		if *tests, err = test(ctx, start); err != nil {
			return choice{}, err
		}
		if err := w.save(); err != nil {
			return choice{}, err
		}
	}
	nodes := make([]bool, len(tests.Pairs))
	for i, u := range tests.Pairs {
		nodes[i] = !math.IsNaN(u.Q) && u.Q <= rate
	}
	c, chosen := choice{edges: w.covariates.columns(nodes)}, count(nodes)
	c.point = nearest(w, c.edges)
	c.words = fmt.Sprintf("%d of %d pairs have q ≤ %g; expect at most about %.3g false edges", chosen, len(tests.Pairs), rate, rate*float64(chosen))
	return c, nil
}

// chooseStable is stability selection (docs/theory/path.md#eq-stability): the network of a half
// sample is the densest with at most q edges; edges in a share τ of the 100 networks are chosen. A
// half without a result counts as empty.
func chooseStable(ctx context.Context, w *walk) (c choice, err error) {
	s, f, pairs := w.Config.Select, &w.State.Resampled, w.candidates()
	if failed, told := f.failed(s.Kind); 2*halvings-failed < needed(s.Share) {
		return c, fmt.Errorf("%s; no edge can be in %g %% of them; leave out the column, or use ebic", told, 100*s.Share)
	}
	chosen := make([]bool, pairs)
	for i, n := range f.Counts[0] {
		chosen[i] = n >= needed(s.Share)
	}
	c.edges = w.covariates.columns(chosen)
	if err := pathPast(ctx, w, c.edges); err != nil {
		return choice{}, err
	}
	c.point = nearest(w, c.edges)
	sharp, unimodal, any := falseEdges(pairs, f.Most, s.Share)
	c.words = fmt.Sprintf("%d edges are in at least %g %% of %d networks of half samples with at most %d edges each; expect at most %.2g false edges, each with probability at most %.2g %% in a half sample; with weaker assumptions at most %.2g for unimodal shares, %.2g for any",
		count(chosen), 100*s.Share, 2*halvings, f.Most, sharp, 100*float64(f.Most)/float64(pairs), unimodal, any)
	return c, nil
}

func pathPast(ctx context.Context, w *walk, edges []bool) error {
	least, wanted := math.MaxInt, count(ofNodes(w.covariates, edges))
	for k := 0; k < len(w.State.Points) || w.asNeeded() && !w.ended(); k++ {
		if err := w.pathTo(ctx, k+1); err != nil {
			return err
		}
		p := w.State.Points[k]
		if p.Edges-wanted > least {
			break
		}
		if !p.Unfinished {
			least = min(least, differing(w.adjacency(p, false).Edge, edges))
		}
	}
	return nil
}

func nearest(w *walk, edges []bool) (point int) {
	least, ok := math.MaxInt, choosable(w.State.Points)
	for i, p := range w.State.Points {
		if differ := differing(w.adjacency(p, false).Edge, edges); ok[i] && differ < least {
			least, point = differ, i
		}
	}
	return point
}

func differing(a, b []bool) (n int) {
	for i, v := range a {
		if v != b[i] {
			n++
		}
	}
	return n
}
