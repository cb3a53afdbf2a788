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

	"gonum.org/v1/gonum/floats"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/timing"
	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/trainers"
	"missingscore/trainers/engine"
	"missingscore/trainers/path"
)

// penalties of the iterations of a default path, λ times the number of columns: 200 at
// the largest λ, then 10 at each of 100 down to a 200th of it.
func penalties(t *data.Table) (all []float64) {
	top := float64(t.D) * path.LambdaMax(t, nil, domain.Weight{})
	all = slices.Repeat([]float64{top}, 200)
	for _, p := range floats.LogSpan(make([]float64, 100), top, top/200) {
		all = append(all, slices.Repeat([]float64{p}, 10)...)
	}
	return all
}

// fit runs a whole L1 path with the defaults, without refinement at a chosen λ.
func fit(ctx context.Context, t *data.Table, s timing.Setting) (*trainers.NetworkResult, error) {
	r, err := trainers.Estimate(ctx, t, trainers.Spec{
		Steps:   engine.Config{Method: s.Method, Batch: s.Batch, Draws: s.Draws, DType: s.DType, Seed: s.Seed},
		Network: &path.Config{Schedule: path.Fixed, Select: path.Selection{Kind: "none"}, PathOnly: true},
	}, trainers.Run{})
	if err != nil {
		return nil, err
	}
	return r.Network, nil
}

// paths times whole L1 paths on one table.
func (c contest) paths(ctx context.Context, s timing.Setting) (o outcome, err error) {
	t, err := s.Table()
	if err != nil {
		return o, err
	}
	var variant string
	var theirs func() (float64, error)
	if c.peer != nil {
		standard, _ := data.Standardise(t)
		q, err := c.fastest(forPeer(s, standard))
		if err != nil {
			return o, err
		}
		variant = q.String()
		theirs = func() (float64, error) {
			if err := c.peer.start(q); err != nil {
				return 0, err
			}
			var a timed
			err := c.peer.question("path", penalties(standard), &a)
			return a.Seconds * float64(a.Iterations), err
		}
	}
	return c.alternate(ctx, variant, func() (float64, error) {
		start := time.Now()
		_, err := fit(ctx, t, s)
		return time.Since(start).Seconds(), err
	}, theirs)
}

// scaling runs the same independent fits on one worker and on two.
func scaling(ctx context.Context, w io.Writer, s timing.Setting, replicates int) error {
	folder, err := os.MkdirTemp("", "speed")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	var runs []cells.Cell
	for k := range replicates {
		s := s
		s.Seed = uint64(k + 1)
		t, err := s.Table()
		if err != nil {
			return err
		}
		runs = append(runs, cells.Cell{Key: []string{strconv.Itoa(k)}, Run: func(ctx context.Context) ([]string, error) {
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
		results[i], err = cells.Run(ctx, filepath.Join(folder, strconv.Itoa(i)), []string{"replicate", "precision"}, runs, i+1,
			cells.Hooks{Failed: func(_ []string, err error) { failure = err }})
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
