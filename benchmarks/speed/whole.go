package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"time"

	"missingscore/benchmarks"
	"missingscore/data"
	"missingscore/trainers"
)

// pathIterations of the default schedule: 200 at the largest λ, 10 at each of 100.
const pathIterations = 200 + 100*10

// fit runs a whole L1 path with the defaults, without refinement at a chosen λ.
func fit(ctx context.Context, t *data.Table, s benchmarks.Setting) (*trainers.NetworkResult, error) {
	return trainers.EstimateNetwork(ctx, t, trainers.NetworkConfig{
		PathConfig: trainers.PathConfig{Config: trainers.Config{Method: s.Method, Batch: s.Batch, Draws: s.Draws, DType: s.DType, Seed: s.Seed}},
		Select:     trainers.Selection{Kind: "none"}, Tolerance: 1e9,
	}, &trainers.State{}, nil)
}

// paths times whole star paths. The peer's is the number of iterations times its
// seconds of one, all rows in a step.
func paths(ctx context.Context, w io.Writer, path string, c contest, all []benchmarks.Setting, failed func(key []string, err error)) error {
	peer := "-"
	if c.peer != nil {
		peer = c.peer.name
	}
	var cells []benchmarks.Cell
	for _, s := range all {
		cells = append(cells, benchmarks.Cell{Key: append(key(s), peer), Run: func(ctx context.Context) ([]string, error) {
			t, err := s.Table()
			if err != nil {
				return nil, err
			}
			start := time.Now()
			if _, err := fit(ctx, t, s); err != nil {
				return nil, err
			}
			ours, theirs, variant := time.Since(start).Seconds(), 0.0, "-"
			if c.peer != nil {
				if variant, err = c.startPeer(s); err != nil {
					return nil, err
				}
				var each []float64
				for range c.rounds {
					t, err := c.peer.time(c.block)
					if err != nil {
						return nil, err
					}
					each = append(each, t.Seconds)
				}
				theirs = pathIterations * spreadOf(each).median
			}
			return []string{variant, c.ours.name, number(ours), number(theirs)}, nil
		}})
	}
	header := append(slices.Clone(settingHeader), "peer", "peer_variant", "blas", "ours_seconds", "peer_seconds")
	records, err := benchmarks.Run(ctx, path, header, cells, 1, failed)
	if err != nil {
		return err
	}
	fmt.Fprint(w, "| method | d | type | whole path, s | PyTorch, s | ours / PyTorch |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, r := range records {
		v, err := floats(r[10:])
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "| %s | %s | %s | %.3g |", r[1], r[2], r[6], v[0])
		if v[1] == 0 {
			fmt.Fprint(w, " – | – |\n")
			continue
		}
		fmt.Fprintf(w, " %.3g | %.2f |\n", v[1], v[0]/v[1])
	}
	return nil
}

// scaling runs the same independent fits on one worker and on two.
func scaling(ctx context.Context, w io.Writer, s benchmarks.Setting, replicates int) error {
	folder, err := os.MkdirTemp("", "speed")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	var cells []benchmarks.Cell
	for k := range replicates {
		s := s
		s.Seed = uint64(k + 1)
		t, err := s.Table()
		if err != nil {
			return err
		}
		cells = append(cells, benchmarks.Cell{Key: []string{strconv.Itoa(k)}, Run: func(ctx context.Context) ([]string, error) {
			r, err := fit(ctx, t, s)
			if err != nil {
				return nil, err
			}
			return []string{fmt.Sprint(r.Points[len(r.Points)-1].Packed)}, nil
		}})
	}
	var seconds [2]float64
	var results [2][][]string
	for i := range seconds {
		var failure error
		start := time.Now()
		results[i], err = benchmarks.Run(ctx, filepath.Join(folder, strconv.Itoa(i)), []string{"replicate", "precision"}, cells, i+1,
			func(_ []string, err error) { failure = err })
		if err := errors.Join(err, failure); err != nil {
			return err
		}
		seconds[i] = time.Since(start).Seconds()
	}
	verdict := "equal"
	if !reflect.DeepEqual(results[0], results[1]) {
		verdict = "NOT EQUAL"
	}
	fmt.Fprintf(w, "%s, d = %d, n = %d, %v: %d fits in %.1f s on one worker, %.1f s on two, %.2f times as fast; results %s\n",
		s.Method, s.D, s.N, s.DType, replicates, seconds[0], seconds[1], seconds[0]/seconds[1], verdict)
	return nil
}
