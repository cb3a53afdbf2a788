package path

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"missingscore/internal/setting"
	"missingscore/internal/stream"
)

// stability chooses edges, not a λ: those that paths on half of the rows find again and
// again (docs/theory/path.md#eq-stability). Rows are halved 50 times; of each half's path the
// densest network with at most q edges counts, and an edge is chosen that is in a share τ
// of these 100; one without a result counts as a network without edges, for which the bound
// holds as well. q is the largest for which the bound on falsely chosen edges, see
// falseEdges, is what was asked for.
type stability struct{ plain }

// Defaults of "stability".
const (
	DefaultFalseEdges = 1.0
	DefaultShare      = 0.75
)

const (
	halvings       = 50
	falseEdgesMust = "it is stability=FALSE@SHARE: an expected number of falsely chosen edges, above 0, and the share of half samples that an edge is in, above 0.5 and at most 1; either may be left out"
)

func (stability) name() string { return "stability" }

func (stability) form() string {
	return "stability[=FALSE][@SHARE] (edges in a SHARE of half samples, so many that at most FALSE wrong ones are expected)"
}

func (stability) parse(value string) (s Selection, err error) {
	s.Kind = "stability"
	number, share, has := strings.Cut(value, "@")
	if number != "" {
		s.FalseEdges, err = strconv.ParseFloat(number, 64)
	}
	if has && err == nil {
		s.Share, err = strconv.ParseFloat(share, 64)
	}
	if err != nil || number != "" && s.FalseEdges == 0 || has && s.Share == 0 {
		return s, errors.New(falseEdgesMust)
	}
	return s, nil
}

func (stability) resolve(s Selection, rows int) (Selection, error) {
	setting.Default(&s.FalseEdges, DefaultFalseEdges)
	setting.Default(&s.Share, DefaultShare)
	if !(s.FalseEdges > 0) || math.IsInf(s.FalseEdges, 0) || !(s.Share > 0.5 && s.Share <= 1) {
		return s, setting.Errorf("select", fmt.Sprintf("stability=%g@%g", s.FalseEdges, s.Share), falseEdgesMust)
	}
	if rows < 8 {
		return s, setting.Errorf("select", "stability", "the table has %d rows, and half of them must be 4 or more", rows)
	}
	return s, nil
}

func (stability) refit(c Config, _ bool) (bool, error) { return ofNoPoint("stability", c) }

// ofNoPoint is the refit of a selection whose edges are of no point of the path, and so have
// no estimate: a must.
func ofNoPoint(kind string, c Config) (bool, error) {
	switch {
	case c.PathOnly:
		return false, setting.Errorf("select", kind, "its edges are of no point of the path, and the path's points are all that is asked for")
	case c.Refit != nil && !*c.Refit:
		return false, setting.Errorf("select", kind, "its edges are of no point of the path, so that they have no sizes but those of a refit; leave --refit=false out")
	}
	return true, nil
}

func (stability) describe(s Selection, _, _ bool) string {
	return fmt.Sprintf("stability: edges in a share of %g or more of the networks of %d complementary half samples, whose size is such that at most %g false ones are expected", s.Share, 2*halvings, s.FalseEdges)
}

// parts are the two halves of each halving; of an odd number of rows one is in neither.
func (stability) parts(_ Selection, rows int, seed uint64) (parts []rowPart) {
	for k := range halvings {
		order, half := stream.New(seed, stream.Replicate, uint64(k)).Perm(rows), rows/2
		parts = append(parts, rowPart{fit: order[:half]}, rowPart{fit: order[half : 2*half]})
	}
	return sorted(parts)
}

func (stability) searches() bool { return true }

// most is q.
func (stability) most(r *Run) int { return halfSize(r.pairs(), r.Config.Select) }

func (stability) choose(ctx context.Context, r *Run) (c choice, err error) {
	s, counts := r.Config.Select, r.State.Resampled.Counts[0]
	if 2*halvings-r.State.Resampled.failed() < needed(s.Share) {
		return c, fmt.Errorf("%s; so no edge can be in %g %% of them: leave out the column, or choose by ebic", r.failedParts(), 100*s.Share)
	}
	c.edges = make([]bool, len(counts))
	chosen := 0
	for i, n := range counts {
		if c.edges[i] = n >= needed(s.Share); c.edges[i] {
			chosen++
		}
	}
	if err := r.pathPast(ctx, c.edges); err != nil {
		return choice{}, err
	}
	c.point = r.nearest(c.edges)
	q := r.State.Resampled.Most
	sharp, unimodal, any := falseEdges(r.pairs(), q, s.Share)
	c.words = fmt.Sprintf("%d edges are in %g %% or more of the networks of %d half samples, of at most %d edges each; expected of them are at most %.2g that a half sample's network has no more often than %.2g %% of pairs at random (bound of Shah and Samworth for r-concave shares; %.2g for unimodal ones, %.2g for any)",
		chosen, 100*s.Share, 2*halvings, q, sharp, 100*float64(q)/float64(r.pairs()), unimodal, any)
	return c, nil
}

// needed is how many of the half samples an edge has to be in.
func needed(share float64) int { return int(math.Ceil(share*2*halvings - 1e-9)) }

// halfSize is q: the largest size of a half sample's network, at least 1, for which the
// bound on falsely chosen edges is what s asks for.
func halfSize(pairs int, s Selection) int {
	low, high := 1, pairs // the bound grows with q
	for low < high {
		middle := (low + high + 1) / 2
		if bound, _, _ := falseEdges(pairs, middle, s.Share); bound <= s.FalseEdges {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}

// falseEdges bounds the expected number of chosen edges among the pairs that the network of
// a half sample, of at most q edges, has with a probability of θ = q/pairs or less: those
// that it finds no more often than one that draws pairs at random. With B halvings, an edge
// being chosen that is in a share τ of the 2B networks (Shah & Samworth 2013),
//
//	sharp     pairs · min(D(θ², 2τ − 1, B, −1/2), D(θ, τ, 2B, −1/4)),   see tailBound
//	unimodal  C q²/pairs,  C = 1/(2(2τ − 1 − 1/(2B))) for τ ≤ 3/4, else 4(1 − τ + 1/(2B))/(1 + 1/B)
//	any       q²/((2τ − 1) pairs)
//
// the first where the shares of such pairs have r-concave distributions, the second where
// they have unimodal ones, the third always, and then for any B (theirs and Meinshausen &
// Bühlmann 2010). None is above pairs.
func falseEdges(pairs, q int, share float64) (sharp, unimodal, any float64) {
	p, theta, tau := float64(pairs), float64(q)/float64(pairs), float64(needed(share))/(2*halvings)
	least := min(tailBound(theta*theta, needed(share)-halvings, halvings, -1./2), tailBound(theta, needed(share), 2*halvings, -1./4))
	any = min(p, theta*float64(q)/(2*tau-1))
	const b = halvings
	factor := 4 * (1 - tau + 1./(2*b)) / (1 + 1./b)
	if tau <= 0.75 {
		factor = 1 / (2 * (2*tau - 1 - 1./(2*b)))
	}
	if unimodal = factor * theta * float64(q); !(tau > min(0.5+theta*theta, 0.5+1./(2*b)+0.75*theta*theta)) {
		unimodal = any
	}
	unimodal = min(unimodal, any)
	return min(p*least, unimodal), unimodal, any
}

// pathPast makes a path that is made as needed until it has so many edges more than some, that
// no denser network is nearest to them.
func (r *Run) pathPast(ctx context.Context, edges []bool) error {
	least, wanted := math.MaxInt, count(edges)
	for k := 0; k < len(r.State.Points) || r.asNeeded() && !r.ended(); k++ {
		if err := r.pathTo(ctx, k+1); err != nil {
			return err
		}
		p := r.State.Points[k]
		if p.Edges-wanted > least {
			break
		}
		if !p.Unfinished {
			least = min(least, differing(r.adjacency(p).Edge, edges))
		}
	}
	return nil
}

// nearest is the point whose network differs least from some edges, of several the first.
func (r *Run) nearest(edges []bool) (point int) {
	least, ok := math.MaxInt, r.choosable()
	for i, p := range r.State.Points {
		if differ := differing(r.adjacency(p).Edge, edges); ok[i] && differ < least {
			least, point = differ, i
		}
	}
	return point
}

// differing is how many elements of a and b differ.
func differing(a, b []bool) (n int) {
	for i, v := range a {
		if v != b[i] {
			n++
		}
	}
	return n
}
