package main

import (
	"context"
	"fmt"
	"math"

	"missingscore/benchmarks/timing"
	"missingscore/graph"
	"missingscore/trainers/estimator"
)

// product is a matrix product op(a) op(b) of shape (m, n) and inner size k, made some
// number of times in an iteration.
type product struct {
	ta, tb  bool
	m, n, k int
	times   int
}

func (p product) flops() int { return 2 * p.m * p.n * p.k * p.times }

const hidden, imputerSteps = 200, 10 // of the imputer

// products are the matrix products that an iteration cannot do without. Of the
// closed form it has none: that spends its time in small factorisations.
func products(s timing.Setting) (all []product, err error) {
	e, err := estimator.ByName(s.Method)
	if err != nil || e.Name == "exact" {
		return nil, err
	}
	add := func(ta, tb bool, m, n, k, times int) { all = append(all, product{ta, tb, m, n, k, times}) }
	parts := (s.N + s.Batch - 1) / s.Batch
	b, d := s.Batch, s.D
	forward := func(times int) {
		add(false, false, b, hidden, d, times)
		add(false, false, b, hidden, hidden, times)
		add(false, false, b, d, hidden, times)
	}
	if e.Trains() {
		forward(imputerSteps + parts)
		add(true, false, hidden, d, b, imputerSteps) // by the weights, last layer first
		add(true, false, hidden, hidden, b, imputerSteps)
		add(true, false, d, hidden, b, imputerSteps)
		add(false, true, b, hidden, d, imputerSteps) // by the layers' inputs, but the table's rows
		add(false, true, b, hidden, hidden, imputerSteps)
		add(false, false, b, d, d, imputerSteps) // the model's score
	}
	completed := b
	if e.Draws() {
		completed *= s.Draws
	}
	add(false, false, completed, d, d, parts) // the score
	add(true, false, d, d, completed, parts)  // by the matrix
	if s.Experiment == "normal" {
		add(false, true, completed, d, d, parts) // by the mean
	}
	if s.Experiment != "star" { // LLᵀ, and (G + Gᵀ)L by L
		add(false, true, d, d, d, 1)
		add(false, false, d, d, d, 1)
	}
	return all, nil
}

// floor is the time of an iteration's matrix products alone, each as fast as the library
// makes it with every number in it: products with many zeros may be faster. It is 0
// where there are none.
func floor(ctx context.Context, s timing.Setting, seconds float64) (total float64, err error) {
	all, err := products(s)
	if err != nil {
		return 0, err
	}
	for _, p := range all {
		each, err := p.time(ctx, s.DType, seconds)
		if err != nil {
			return 0, err
		}
		total += float64(p.times) * each
	}
	return total, nil
}

// time measures the product, several in one program so that starting a program does
// not count.
func (p product) time(ctx context.Context, t graph.DType, seconds float64) (float64, error) {
	const copies = 16
	program, err := graph.BuildAs(t, func(b *graph.Builder) {
		shape := func(transposed bool, rows, cols int) (int, int) {
			if transposed {
				return cols, rows
			}
			return rows, cols
		}
		am, an := shape(p.ta, p.m, p.k)
		bm, bn := shape(p.tb, p.k, p.n)
		x, y := b.Input("a", am, an), b.Input("b", bm, bn)
		for i := range copies {
			b.Output(fmt.Sprint(i), b.MatMul(p.ta, p.tb, x, y))
		}
	})
	if err != nil {
		return 0, err
	}
	for _, name := range []string{"a", "b"} {
		in := program.Input(name)
		for i := range in {
			in[i] = float64(i%7) - 3
		}
	}
	if err := program.Run(); err != nil {
		return 0, err
	}
	least := math.Inf(1)
	for range 5 {
		each, _, err := timing.Time(ctx, program.Run, 1, seconds/5)
		if err != nil {
			return 0, err
		}
		least = min(least, each/copies)
	}
	return least, nil
}
