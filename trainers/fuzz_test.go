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
	"missingscore/trainers/internal/testtables"
)

// Whatever stands in a state's file under its own checksum is refused in plain words, or is
// a state that a fit takes up, or refuses to.
func FuzzLoadState(f *testing.F) {
	f.Setenv(memory.Variable, "200MB")
	_, table := testtables.Normal(f, 20, 3)
	spec := trainers.Spec{Steps: engine.Config{Method: "em-exact"}, Descent: descent.Config{Iterations: 3}}
	path := filepath.Join(f.TempDir(), "state.bin")
	_, err := trainers.Estimate(f.Context(), table, spec, trainers.Run{Save: func(s *trainers.State) error { return s.Save(path) }})
	require.NoError(f, err)
	whole, err := os.ReadFile(path)
	require.NoError(f, err)
	state, err := trainers.LoadState(path)
	require.NoError(f, err)
	_, err = trainers.Estimate(f.Context(), table, spec, trainers.Run{State: state})
	require.NoError(f, err)
	mark, _, _ := bytes.Cut(whole, []byte("\n"))
	head := len(mark) + 1
	f.Add(whole[head+sha256.Size:], true)
	f.Add(whole[head+sha256.Size:len(whole)/2], true)
	f.Add([]byte("an older state"), false)
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
		require.NoError(t, os.WriteFile(path, text, 0o600))
		s, err := trainers.LoadState(path)
		if err != nil {
			require.Empty(t, plainwords.Unknown(err.Error(), string(body)))
			return
		}
		if _, err = trainers.Estimate(t.Context(), table, spec, trainers.Run{State: s}); err != nil {
			require.Empty(t, plainwords.Unknown(err.Error(), string(body)))
		}
	})
}
