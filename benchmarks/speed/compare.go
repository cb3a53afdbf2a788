package speed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"missingscore/benchmarks/cells"
	"missingscore/graph"
	"missingscore/trainers/estimator"
)

type spread struct{ median, low, high float64 }

func spreadOf(x []float64) spread {
	s, n := slices.Sorted(slices.Values(x)), len(x)
	return spread{(s[(n-1)/2] + s[n/2]) / 2, s[0], s[n-1]}
}

// Sides take turns, so that the machine's speed affects both.
type contest struct {
	ours, peer *side
	rounds     int
	block      float64 // seconds
}

// outcome is seconds per iteration and ours/peer of each round.
type outcome struct {
	ours, peer, ratio spread
	variant           string // the peer's fastest variant
}

func (c contest) iterations(ctx context.Context, s Setting) (o outcome, err error) {
	if err := c.ours.warm(s, c.block); err != nil {
		return o, err
	}
	t, err := s.Table()
	if err != nil {
		return o, err
	}
	q, err := c.fastest(forPeer(s, t))
	if err != nil {
		return o, err
	}
	if err := c.peer.warm(q, c.block); err != nil {
		return o, err
	}
	o, err = alternate(ctx, c.rounds, func() (timed, error) { return c.ours.time(c.block) }, func() (timed, error) { return c.peer.time(c.block) })
	o.variant = q.String()
	return o, err
}

func alternate(ctx context.Context, rounds int, ours, theirs func() (timed, error)) (o outcome, err error) {
	var x, y, ratio []float64
	for range rounds {
		if err := ctx.Err(); err != nil {
			return o, err
		}
		a, err := ours()
		if err != nil {
			return o, err
		}
		b, err := theirs()
		if err != nil {
			return o, err
		}
		x, y, ratio = append(x, a.Seconds), append(y, b.Seconds), append(ratio, a.Seconds/b.Seconds)
	}
	return outcome{ours: spreadOf(x), peer: spreadOf(y), ratio: spreadOf(ratio)}, nil
}

// trials is the number of blocks per variant of the peer; the fastest counts.
const trials = 3

func (c contest) fastest(q peerSetting) (best peerSetting, err error) {
	variants, err := q.variants()
	if err != nil {
		return q, err
	}
	best, least := variants[0], math.Inf(1)
	for i := 0; i < trials*len(variants) && len(variants) > 1; i++ {
		v := variants[i%len(variants)]
		if err := c.peer.warm(v, 0); err != nil {
			return q, err
		}
		t, err := c.peer.time(c.block)
		if err != nil {
			return q, err
		}
		if t.Seconds < least {
			least, best = t.Seconds, v
		}
	}
	return best, nil
}

// Without methods that need a normal model for quartic.
func settings(experiments, methods []string, ds []int, dtypes []graph.DType) (all []Setting) {
	for _, e := range experiments {
		for _, d := range ds {
			for _, m := range methods {
				for _, t := range dtypes {
					s := Setting{Experiment: e, Method: m, D: d, N: 100, Batch: 100, Draws: 10, DType: t}
					if e == "star" { // a path uses all rows in each step
						s.N = 1000
					}
					if estimator, err := estimator.ByName(m); err == nil && (e != "quartic" || !estimator.NeedsNormal()) {
						all = append(all, s)
					}
				}
			}
		}
	}
	return all
}

var settingHeader = []string{"experiment", "method", "d", "n", "batch", "r", "dtype"}

func key(s Setting) []string {
	return []string{s.Experiment, s.Method, strconv.Itoa(s.D), strconv.Itoa(s.N), strconv.Itoa(s.Batch), strconv.Itoa(s.Draws), s.DType.String()}
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 5, 64) }

func (s spread) fields() []string { return []string{number(s.median), number(s.low), number(s.high)} }

// Settings without a line in the file path.
func (c contest) compare(ctx context.Context, w io.Writer, path string, all []Setting, failed func(key []string, err error)) error {
	if len(all) == 0 {
		return errors.New("nothing to measure: exact needs --experiments normal or star")
	}
	var runs []cells.Cell
	for _, s := range all {
		runs = append(runs, cells.Cell{Key: append(key(s), c.peer.name), Run: func(ctx context.Context) ([]string, error) {
			o, err := c.iterations(ctx, s)
			return slices.Concat([]string{o.variant, c.ours.name, strconv.Itoa(c.rounds)}, o.ours.fields(), o.peer.fields(), o.ratio.fields()), err
		}})
	}
	header := append(slices.Clone(settingHeader), "peer", "variant", "blas", "rounds")
	for _, what := range []string{"ours", "peer", "ratio"} {
		header = append(header, what, what+"_low", what+"_high")
	}
	records, err := cells.Run(ctx, path, header, runs, 1, cells.Hooks{Failed: failed})
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "| experiment | method | d | type | ours, s | PyTorch, s | ours / PyTorch | range | PyTorch's variant |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, r := range records {
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s | %s to %s | %s |\n", r[0], r[1], r[2], r[6], r[11], r[14], r[17], r[18], r[19], r[8])
	}
	return nil
}

func dtypes(names []string) (out []graph.DType, err error) {
	for _, f := range names {
		var t graph.DType
		err = errors.Join(err, t.UnmarshalText([]byte(f)))
		out = append(out, t)
	}
	return out, err
}
