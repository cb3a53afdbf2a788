package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks"
	"missingscore/graph"
	"missingscore/trainers"
)

// spread is the median of some numbers with the least and the largest.
type spread struct{ median, low, high float64 }

func spreadOf(x []float64) spread {
	s := slices.Sorted(slices.Values(x))
	return spread{stat.Quantile(0.5, stat.LinInterp, s, nil), s[0], s[len(s)-1]}
}

// contest times both sides in turns, so that a change in the machine's speed hits both.
type contest struct {
	ours, peer *side // peer nil: ours alone
	rounds     int
	block      float64 // seconds
}

// outcome of a contest: seconds per iteration, and ours/peer round by round.
type outcome struct {
	ours, peer, ratio spread
	variant           string // the peer's choices, its fastest
}

func (c contest) run(ctx context.Context, s benchmarks.Setting) (o outcome, err error) {
	if c.peer != nil {
		if o.variant, err = c.startPeer(s); err != nil {
			return o, err
		}
	}
	if err := c.ours.start(s); err != nil {
		return o, err
	}
	var ours, peer, ratio []float64
	for range c.rounds {
		if err := ctx.Err(); err != nil {
			return o, err
		}
		t, err := c.ours.time(c.block)
		if err != nil {
			return o, err
		}
		ours = append(ours, t.Seconds)
		if c.peer == nil {
			continue
		}
		p, err := c.peer.time(c.block)
		if err != nil {
			return o, err
		}
		peer, ratio = append(peer, p.Seconds), append(ratio, t.Seconds/p.Seconds)
	}
	o.ours = spreadOf(ours)
	if c.peer != nil {
		o.peer, o.ratio = spreadOf(peer), spreadOf(ratio)
	}
	return o, nil
}

// trials of each of the peer's variants; its best block counts.
const trials = 3

// startPeer leaves the peer with its fastest variant for the setting.
func (c contest) startPeer(s benchmarks.Setting) (variant string, err error) {
	q, err := forPeer(s)
	if err != nil {
		return "", err
	}
	variants, err := q.variants()
	if err != nil {
		return "", err
	}
	best, least := variants[0], math.Inf(1)
	for i := 0; i < trials*len(variants) && len(variants) > 1; i++ {
		v := variants[i%len(variants)]
		if err := c.peer.start(v); err != nil {
			return "", err
		}
		t, err := c.peer.time(c.block)
		if err != nil {
			return "", err
		}
		if t.Seconds < least {
			least, best = t.Seconds, v
		}
	}
	return best.String(), c.peer.start(best)
}

// settings are those of the grid that exist: the closed form is for Gaussians.
func settings(experiments, methods []string, ds []int, dtypes []graph.DType) (all []benchmarks.Setting) {
	for _, e := range experiments {
		for _, d := range ds {
			for _, m := range methods {
				for _, t := range dtypes {
					s := benchmarks.Setting{Experiment: e, Method: m, D: d, N: 100, Batch: 100, Draws: 10, DType: t}
					if e == "star" { // the path takes all rows at each step
						s.N = 1000
					}
					if estimator, err := trainers.EstimatorByName(m); err == nil && (e != "quartic" || !estimator.Gaussian) {
						all = append(all, s)
					}
				}
			}
		}
	}
	return all
}

var settingHeader = []string{"experiment", "method", "d", "n", "batch", "r", "dtype"}

func key(s benchmarks.Setting) []string {
	return []string{s.Experiment, s.Method, strconv.Itoa(s.D), strconv.Itoa(s.N), strconv.Itoa(s.Batch), strconv.Itoa(s.Draws), s.DType.String()}
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 5, 64) }

func (s spread) fields() []string { return []string{number(s.median), number(s.low), number(s.high)} }

// compare runs the contest for each setting that the results file does not have yet,
// and prints the table.
func compare(ctx context.Context, w io.Writer, path string, c contest, all []benchmarks.Setting, failed func(key []string, err error)) error {
	peer := "-"
	if c.peer != nil {
		peer = c.peer.name
	}
	var cells []benchmarks.Cell
	for _, s := range all {
		cells = append(cells, benchmarks.Cell{Key: append(key(s), peer), Run: func(ctx context.Context) ([]string, error) {
			o, err := c.run(ctx, s)
			if err != nil {
				return nil, err
			}
			return slices.Concat([]string{o.variant, c.ours.name, strconv.Itoa(c.rounds)}, o.ours.fields(), o.peer.fields(), o.ratio.fields()), nil
		}})
	}
	header := append(slices.Clone(settingHeader), "peer", "peer_variant", "blas", "rounds")
	for _, what := range []string{"ours", "peer", "ratio"} {
		header = append(header, what+"_median", what+"_low", what+"_high")
	}
	records, err := benchmarks.Run(ctx, path, header, cells, 1, failed)
	if err != nil {
		return err
	}
	fmt.Fprint(w, "| experiment | method | d | type | ours, ms | PyTorch, ms | ours / PyTorch | least to largest | PyTorch's variant |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, r := range records {
		v, err := floats(r[11:])
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %.3g |", r[0], r[1], r[2], r[6], 1e3*v[0])
		if r[7] == "-" {
			fmt.Fprint(w, " – | – | – | – |\n")
			continue
		}
		fmt.Fprintf(w, " %.3g | %.2f | %.2f to %.2f | %s |\n", 1e3*v[3], v[6], v[7], v[8], r[8])
	}
	return nil
}

func floats(fields []string) (v []float64, err error) {
	for _, f := range fields {
		x, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return nil, err
		}
		v = append(v, x)
	}
	return v, nil
}

// list reads numbers separated by commas.
func list(text string) (out []int, err error) {
	for _, f := range strings.Split(text, ",") {
		v, err := strconv.Atoi(f)
		if err != nil || v < 1 {
			return nil, fmt.Errorf("%q: numbers above 0 are expected, separated by commas", text)
		}
		out = append(out, v)
	}
	return out, nil
}

// dtypes reads number types separated by commas.
func dtypes(text string) (out []graph.DType, err error) {
	for _, f := range strings.Split(text, ",") {
		var t graph.DType
		err = errors.Join(err, t.UnmarshalText([]byte(f)))
		out = append(out, t)
	}
	return out, err
}
