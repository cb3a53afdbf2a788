package trainers_test

import (
	"context"
	"encoding/gob"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/panics"
	"missingscore/losses"
	"missingscore/trainers"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/internal/testtables"
	"missingscore/trainers/regpath"
)

func TestStateRefusals(t *testing.T) {
	_, table := testtables.Star(t, 4, 50, 0.3)
	c := trainers.Spec{Network: &regpath.Config{Schedule: regpath.Fixed, InitialIter: 5, IterPerLambda: 1, Lambdas: 3}}
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
	for _, cut := range []int{0, 1, 10, 19, 40, 51, 60, len(b) / 2, len(b) - 1} {
		require.NoError(t, os.WriteFile(file, b[:cut], 0o600))
		_, err = trainers.LoadState(file)
		require.EqualError(t, err, file+" is damaged or not a saved state: delete it and start again")
	}
	_, err = trainers.LoadState(file + "x")
	require.ErrorIs(t, err, os.ErrNotExist)
}

// A state with what no run leaves in it, here nothing to end at, is refused; what broke is within.
func TestStatesThatNoRunLeaves(t *testing.T) {
	_, table := testtables.Star(t, 3, 30, 0.3)
	s := trainers.Spec{Steps: engine.Config{Method: "em-exact"}}
	state := &trainers.State{}
	_, err := trainers.Estimate(t.Context(), table, s, trainers.Run{State: state})
	require.NoError(t, err)
	state.Descent.EM.Solved = nil
	_, err = trainers.Estimate(t.Context(), table, s, trainers.Run{State: state})
	var unfit *trainers.StateError
	require.ErrorAs(t, err, &unfit)
	require.ErrorContains(t, err, "nothing could go on from the saved state, which may hold what no run leaves there: delete it and start again without resuming; if that fails as well, please report it (missingscore/trainers/em.Turns.Put, at ")
	var broken *panics.Error
	require.ErrorAs(t, err, &broken)
}

// A flipped bit in any byte, or a byte too many, is noticed.
func TestDamagedStates(t *testing.T) {
	_, table := testtables.Star(t, 3, 30, 0.3)
	file := filepath.Join(t.TempDir(), "state")
	_, err := trainers.Estimate(t.Context(), table, trainers.Spec{Network: &regpath.Config{Schedule: regpath.Fixed, InitialIter: 5, IterPerLambda: 1, Lambdas: 3}},
		trainers.Run{Save: func(s *trainers.State) error { return s.Save(file) }})
	require.NoError(t, err)
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	for at := range whole {
		damaged := slices.Clone(whole)
		damaged[at] ^= 1 << (at % 8)
		require.NoError(t, os.WriteFile(file, damaged, 0o600))
		_, err = trainers.LoadState(file)
		require.EqualError(t, err, file+" is damaged or not a saved state: delete it and start again", "byte %d", at)
	}
	require.NoError(t, os.WriteFile(file, append(whole, 0), 0o600))
	_, err = trainers.LoadState(file)
	require.ErrorContains(t, err, "is damaged")
}

// Who resumes with other matrix products is told that bytes may differ.
func TestResumedWithAnotherLibrary(t *testing.T) {
	_, table := testtables.Star(t, 3, 30, 0.3)
	spec := trainers.Spec{Network: &regpath.Config{Schedule: regpath.Fixed, InitialIter: 5, IterPerLambda: 1, Lambdas: 3}}
	for other, want := range map[string]int{"": 0, "openblas of another machine": 1} {
		var cut *trainers.State
		ctx, cancel := context.WithCancel(t.Context())
		_, err := trainers.Estimate(ctx, table, spec, trainers.Run{Save: func(s *trainers.State) error {
			cut = s
			cancel()
			return nil
		}})
		require.ErrorIs(t, err, context.Canceled)
		require.Len(t, cut.Libraries, 1)
		if other != "" {
			cut.Libraries[0] = other
		}
		r, err := trainers.Estimate(t.Context(), table, spec, trainers.Run{State: cut})
		require.NoError(t, err)
		warned := 0
		for _, w := range r.Warnings {
			if strings.Contains(w, "resumed with other matrix products (openblas of another machine, then ") {
				warned++
			}
		}
		require.Equal(t, want, warned)
	}
}

// States of earlier programs are refused by their version.
func TestOtherVersionsAreRefused(t *testing.T) {
	for _, version := range []int{1, 2, 3} {
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
