package main

import (
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/trainers"
	"missingscore/trainers/fitted"
)

func crescent(t *testing.T) string {
	t.Helper()
	rng, values := rand.New(rand.NewPCG(1, 1)), []float64{}
	for range 600 {
		x := rng.NormFloat64()
		for _, v := range []float64{x, x*x + 0.3*rng.NormFloat64(), x + rng.NormFloat64()} {
			if rng.Float64() < 0.2 {
				v = math.NaN()
			}
			values = append(values, v)
		}
	}
	path := filepath.Join(t.TempDir(), "rows.parquet")
	require.NoError(t, data.WriteNumbers(write, path, []string{"a", "b", "c"}, values))
	return path
}

func TestTraining(t *testing.T) {
	path, whole, cut := crescent(t), filepath.Join(t.TempDir(), "new"), t.TempDir()
	steps := 0
	require.NoError(t, train(t.Context(), path, whole, 6, func(p trainers.Progress) {
		if p.Stage == "fit" {
			steps++
		}
	}))
	require.Equal(t, 6*6, steps, "555 rows in batches of 100")

	ctx, cancel := context.WithCancel(t.Context())
	require.ErrorIs(t, train(ctx, path, cut, 4, func(p trainers.Progress) {
		if p.Iteration == 9 {
			cancel()
		}
	}), context.Canceled)
	require.NoError(t, train(t.Context(), path, cut, 4, nil))
	require.NoError(t, train(t.Context(), path, cut, 6, func(p trainers.Progress) { require.True(t, p.Stage == "reading" || p.Iteration > 4*6) }))

	read := func(dir, name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		return string(text)
	}
	require.Equal(t, read(whole, "model.json"), read(cut, "model.json"))
	history := read(whole, "history.csv")
	require.Equal(t, history, read(cut, "history.csv"))
	require.Equal(t, 7, strings.Count(history, "\n"))
	require.True(t, strings.HasPrefix(history, "iteration,epoch,loss,effective_sample_size,held_out_loss\n"), history)

	saved, err := fitted.Load(filepath.Join(cut, "model.json"))
	require.NoError(t, err)
	m, err := saved.Fitted()
	require.NoError(t, err)
	drawn, err := fitted.Sample(t.Context(), m, fitted.SampleConfig{N: 10, Seed: 1})
	require.NoError(t, err)
	require.Len(t, drawn.Values, 30)
}

func write(path string, fill func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(fill(f), f.Close())
}
