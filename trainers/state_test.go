package trainers_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/fuzztest"
	"missingscore/internal/memory"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/descent"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/inference"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers"
)

func TestStateRefusals(t *testing.T) {
	_, table := testtables.Star(t, 4, 50, 0.3)
	c := trainers.Spec{Network: &regpath.Config{Schedule: regpath.Fixed, InitialIter: 5, IterPerLambda: 1, Lambdas: 3}}
	file := filepath.Join(t.TempDir(), "state")
	estimate(t, table, c, trainers.Run{Save: func(s *trainers.State) error { return s.Save(file) }})
	loaded, err := trainers.LoadState(file)
	require.NoError(t, err)
	c.Steps.Seed = 9
	_, err = trainers.Estimate(t.Context(), table, c, trainers.Run{State: loaded})
	require.ErrorIs(t, err, trainers.ErrOtherRun)

	_, err = trainers.LoadState(file + "x")
	require.ErrorIs(t, err, os.ErrNotExist)
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	whole[len(whole)/2] ^= 1 // package checkedfile tries every bit
	require.NoError(t, os.WriteFile(file, whole, 0o600))
	_, err = trainers.LoadState(file)
	require.EqualError(t, err, file+" is damaged or not a saved state; delete it and start again")
}

func TestStatesThatNoRunLeaves(t *testing.T) {
	_, table := testtables.Star(t, 3, 30, 0.3)
	s := trainers.Spec{Steps: engine.Config{Method: "em-exact"}}
	state := &trainers.State{}
	estimate(t, table, s, trainers.Run{State: state})
	state.Descent.EM.Solved = nil
	_, err := trainers.Estimate(t.Context(), table, s, trainers.Run{State: state})
	require.ErrorContains(t, err, "the saved state is not usable; delete it and start again without resuming; if that also fails, please report it (missingscore/internal/trainers/gaussian/em.(*Turns).Put, at ")
}

// Arbitrary bytes under a valid checksum are refused or usable.
func FuzzLoadState(f *testing.F) {
	f.Setenv(memory.Variable, "200MB")
	_, table := testtables.Normal(f, 20, 3)
	spec := trainers.Spec{Network: &regpath.Config{Lambdas: 2}, Inference: inference.Config{Kind: "bootstrap", Resamples: 2}}
	file, final := filepath.Join(f.TempDir(), "state.bin"), &trainers.State{}
	_, err := trainers.Estimate(f.Context(), table, spec, trainers.Run{State: final})
	require.NoError(f, err)
	body := func() []byte {
		require.NoError(f, final.Save(file))
		whole, err := os.ReadFile(file)
		require.NoError(f, err)
		_, text, _ := bytes.Cut(whole, []byte("\n"))
		return text[sha256.Size:]
	}
	f.Add(body(), true)
	f.Add(body()[:1000], true)
	f.Add([]byte("an older state"), false)
	final.Inference.Resamples[0] = inference.Fit{Done: true, Edges: []int{99}, Partial: []float64{0.5}}
	f.Add(body(), true)
	var other bytes.Buffer // of the right version, with another content
	require.NoError(f, gob.NewEncoder(&other).Encode(struct {
		Version     int
		Fingerprint float64
	}{final.Version, 1}))
	f.Add(other.Bytes(), true)
	f.Fuzz(func(t *testing.T, body []byte, sealed bool) {
		text := body
		if sealed {
			sum := sha256.Sum256(body)
			text = slices.Concat([]byte("missingscore state\n"), sum[:], body)
		}
		require.NoError(t, os.WriteFile(file, text, 0o600))
		s, err := trainers.LoadState(file)
		if err == nil {
			_, err = trainers.Estimate(t.Context(), table, spec, trainers.Run{State: s})
		}
		if err != nil {
			require.Empty(t, fuzztest.Unknown(err.Error(), string(body)))
		}
	})
}

// A fit that ended at its maximum continues to the result of a single run.
func TestMoreStepsGoOn(t *testing.T) {
	_, table := testtables.Normal(t, 100, 3)
	average := 0.1
	for method, d := range map[string][2]descent.Config{
		"iw":       {{Epochs: 2, Average: &average}, {Epochs: 4, Average: &average}},
		"zeroed":   {{Iterations: 2}, {Iterations: 5}},
		"em-exact": {{Iterations: 2}, {Iterations: 5}},
	} {
		spec := trainers.Spec{Steps: engine.Config{Method: method}, Descent: d[1]}
		whole := estimate(t, table, spec)
		state := &trainers.State{}
		spec.Descent = d[0]
		short := estimate(t, table, spec, trainers.Run{State: state})
		require.NotEqual(t, whole.Model.Model.Params()[0].Value, short.Model.Model.Params()[0].Value, method)
		spec.Descent = d[1]
		more := estimate(t, table, spec, trainers.Run{State: state})
		require.Equal(t, whole.Model.Model.Params()[0].Value, more.Model.Model.Params()[0].Value, method)
		require.Len(t, more.History, len(whole.History), method)
		spec.Descent.Rate, spec.Descent.Tolerance = 0.02, 0
		if method != "iw" {
			spec.Descent.Rate, spec.Descent.Tolerance = 0, 1e-3
		}
		_, err := trainers.Estimate(t.Context(), table, spec, trainers.Run{State: state})
		require.ErrorIs(t, err, trainers.ErrOtherRun, method)
	}
}
