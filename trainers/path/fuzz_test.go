package path_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/fuzztest"
	"missingscore/trainers/path"
)

// Whatever follows --select chooses from a path, and is resolved already, or is refused.
func FuzzParseSelection(f *testing.F) {
	fuzztest.Reader[path.Selection]{
		Read: path.ParseSelection,
		Check: func(t testing.TB, text string, s path.Selection) {
			require.Contains(t, path.Selections(), s.Kind)
			again, err := s.Resolve(1000)
			if s.Folds <= 1000 {
				require.NoError(t, err, "%q", text)
				require.Equal(t, s, again, "%q", text)
			}
			require.NotEmpty(t, s.Describe(false, false))
			require.NotEmpty(t, s.Describe(true, true))
		},
		Accepts: []string{"ebic", "cv", "cv=2", "stars", "stars=0.1", "stability", "stability=2", "stability=2@0.9", "stability=@0.6", "fdr", "fdr=0.05", "density=0.5", "density=0", "none"},
		Refuses: []string{"", "ebic=", "ebic=1", "EBIC", "cv=1", "cv=x", "cv=1e3", "stars=0", "stars=2", "stability=0", "stability=@0.5", "stability=1@", "fdr=1", "fdr=NaN", "density", "density=NaN", "density=2", "none=1"},
	}.Fuzz(f)
}
