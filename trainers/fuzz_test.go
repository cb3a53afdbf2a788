package trainers_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/memory"
	"missingscore/internal/plainwords"
	"missingscore/trainers"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/inference"
	"missingscore/trainers/internal/testtables"
	"missingscore/trainers/regpath"
)

// fuzzedState hands whatever stands in a state's file under its own checksum to a run: it is
// refused in plain words, or is a state that an estimate takes up, or refuses to.
// Seeds are the state at the end, and what change makes of it, which may be nil.
func fuzzedState(f *testing.F, rows int, spec trainers.Spec, change func(s *trainers.State)) {
	f.Setenv(memory.Variable, "200MB")
	_, table := testtables.Normal(f, rows, 3)
	file := filepath.Join(f.TempDir(), "state.bin")
	_, err := trainers.Estimate(f.Context(), table, spec, trainers.Run{Save: func(s *trainers.State) error { return s.Save(file) }})
	require.NoError(f, err)
	whole, err := os.ReadFile(file)
	require.NoError(f, err)
	state, err := trainers.LoadState(file)
	require.NoError(f, err)
	_, err = trainers.Estimate(f.Context(), table, spec, trainers.Run{State: state})
	require.NoError(f, err)
	mark, _, _ := bytes.Cut(whole, []byte("\n"))
	head := len(mark) + 1
	f.Add(whole[head+sha256.Size:], true)
	f.Add(whole[head+sha256.Size:len(whole)/2], true)
	f.Add([]byte("an older state"), false)
	if change != nil {
		state, err = trainers.LoadState(file)
		require.NoError(f, err)
		change(state)
		require.NoError(f, state.Save(file))
		changed, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(changed[head+sha256.Size:], true)
	}
	var other bytes.Buffer // of the right version, with something else in it
	require.NoError(f, gob.NewEncoder(&other).Encode(struct {
		Version     int
		Fingerprint float64
	}{4, 1}))
	f.Add(other.Bytes(), true)
	f.Fuzz(func(t *testing.T, body []byte, sealed bool) {
		text := body
		if sealed {
			sum := sha256.Sum256(body)
			text = bytes.Join([][]byte{whole[:head], sum[:], body}, nil)
		}
		require.NoError(t, os.WriteFile(file, text, 0o600))
		s, err := trainers.LoadState(file)
		if err != nil {
			require.Empty(t, plainwords.Unknown(err.Error(), string(body)))
			return
		}
		if _, err = trainers.Estimate(t.Context(), table, spec, trainers.Run{State: s}); err != nil {
			require.Empty(t, plainwords.Unknown(err.Error(), string(body)))
		}
	})
}

// Of a fit.
func FuzzLoadState(f *testing.F) {
	fuzzedState(f, 20, trainers.Spec{Steps: engine.Config{Method: "em-exact"}, Descent: descent.Config{Iterations: 3}}, nil)
}

// Of a network, with estimates made again on resamples, some of which may be left.
func FuzzLoadResamples(f *testing.F) {
	spec := trainers.Spec{Steps: engine.Config{Method: "em-exact"}, Network: &regpath.Config{Lambdas: 2}}
	spec.Inference.Kind, spec.Inference.Resamples = "bootstrap", 2
	fuzzedState(f, 20, spec, func(s *trainers.State) {
		s.Inference.Resamples[0] = inference.Fit{Done: true, Edges: []int{99}, Partial: []float64{0.5}}
	})
}
