package cmd

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"missingscore/trainers/engine"
)

// A fit to a streamed file says how many rows it has gone over and the time left: at each tenth,
// and after a minute without a line.
func TestProgressOfAStreamedFit(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out, false)
	at := func(iteration int) engine.Progress {
		return engine.Progress{Stage: "fit", Unit: "iteration", Iteration: iteration, Total: 400, Loss: 1.5,
			Streamed: &engine.Pass{Number: 1 + iteration/200, Passes: 2, Done: 50 * (iteration % 200), Rows: 10_000}}
	}
	p.observe(at(21)) // the first since an earlier run was cut
	p.start = time.Now().Add(-time.Minute)
	p.observe(at(40))
	p.observe(at(41))
	require.Equal(t, "fit: iteration 40 of 400, pass 1 of 2, 2000 of 10000 rows, loss 1.50000, about 18m0s left\n", out.String())
	out.Reset()
	p.start, p.shown = time.Now().Add(-3*time.Minute), time.Now().Add(-2*time.Minute)
	p.observe(at(50))
	p.observe(at(51))
	require.Equal(t, "fit: iteration 50 of 400, pass 1 of 2, 2500 of 10000 rows, loss 1.50000, about 35m0s left\n", out.String())
	out.Reset()
	held := at(79)
	held.Streamed, p.shown = nil, time.Now().Add(-2*time.Minute)
	p.observe(held)
	require.Empty(t, out.String())
}

// Rows that are read before the first step are shown where that takes long.
func TestProgressOfRowsThatAreHeld(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out, false)
	block := engine.Progress{Stage: "reading", Unit: "block", Iteration: 10, Total: 50}
	p.observe(block)
	p.start, block.Iteration = time.Now().Add(-2*slow), 20
	p.observe(block)
	require.Equal(t, "reading: block 20 of 50, about 30s left\n", out.String())
}
func TestANoteKeepsTheClock(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out, false)
	p.count("normal", "cells", 0, 10)
	p.start = time.Now().Add(-time.Minute)
	p.note("a cell failed")
	p.count("normal", "cells", 5, 10)
	require.Equal(t, "a cell failed\nnormal: 5 of 10 cells, about 1m0s left\n", out.String())
}
