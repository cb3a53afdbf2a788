package trainers_test

import (
	"encoding/gob"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/losses"
	"missingscore/trainers"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/internal/testtables"
	"missingscore/trainers/path"
)

func TestStateRefusals(t *testing.T) {
	_, table := testtables.Star(t, 4, 50, 0.3)
	c := trainers.Spec{Network: &path.Config{Schedule: path.Fixed, InitialIter: 5, IterPerLambda: 1, Lambdas: 3}}
	file := filepath.Join(t.TempDir(), "state")
	_, err := trainers.Estimate(t.Context(), table, c, trainers.Run{Save: func(s *trainers.State) error { return s.Save(file) }})
	require.NoError(t, err)
	loaded, err := trainers.LoadState(file)
	require.NoError(t, err)
	c.Steps.Seed = 9
	_, err = trainers.Estimate(t.Context(), table, c, trainers.Run{State: loaded})
	require.ErrorIs(t, err, trainers.ErrOtherRun)

	b, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, b[:len(b)/2], 0o600))
	_, err = trainers.LoadState(file)
	require.ErrorContains(t, err, "is damaged or not a saved state")
	_, err = trainers.LoadState(file + "x")
	require.ErrorIs(t, err, os.ErrNotExist)
}

// States of earlier programs are refused by their version.
func TestOtherVersionsAreRefused(t *testing.T) {
	for _, version := range []int{1, 2, 3, 5} {
		file := filepath.Join(t.TempDir(), "state")
		f, err := os.Create(file)
		require.NoError(t, err)
		require.NoError(t, gob.NewEncoder(f).Encode(struct {
			Version     int
			Fingerprint string
			Iteration   int
			Model       [][]float64
		}{version, "abc", 7, [][]float64{{1}}}))
		require.NoError(t, f.Close())
		_, err = trainers.LoadState(file)
		require.EqualError(t, err, fmt.Sprintf("%s was written by another version (state version %d, this program reads 4): delete it and start again", file, version))
	}
}

// unsaid is an objective that JSON cannot hold.
type unsaid struct {
	losses.Classical
	Weight func() float64
}

func TestSettingsThatCannotBeSaved(t *testing.T) {
	_, table := testtables.Star(t, 3, 20, 0.3)
	_, err := trainers.Estimate(t.Context(), table, trainers.Spec{
		Objective: trainers.ObjectiveSpec{New: func(losses.ObjectiveSetting) (losses.Objective, error) { return unsaid{}, nil }},
		Steps:     engine.Config{Method: "iw"}, Descent: descent.Passes(1, 0)}, trainers.Run{})
	require.ErrorContains(t, err, "must be JSON")
}
