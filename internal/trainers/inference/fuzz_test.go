package inference_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/fuzztest"
	"missingscore/internal/trainers/inference"
	_ "missingscore/internal/trainers/inference/bootstrap" // linked in, so that the kinds are registered
	_ "missingscore/internal/trainers/inference/debias"
	_ "missingscore/internal/trainers/inference/sandwich"
)

func FuzzParse(f *testing.F) {
	fuzztest.Reader[inference.Config]{
		Read: inference.Parse,
		Write: func(c inference.Config) (string, error) {
			if c.Resamples > 0 {
				return fmt.Sprintf("%s=%d", c.Kind, c.Resamples), nil
			}
			return c.Kind, nil
		},
		Check: func(t testing.TB, text string, c inference.Config) {
			_, err := c.Resolve()
			require.NoError(t, err, "%q", text)
		},
		Accepts: []string{"none", "model", "robust", "bootstrap=500", "bootstrap=2"},
		Refuses: []string{"", "none=1", "model=1", "bootstrap", "bootstrap=", "bootstrap=1", "bootstrap=-5", "bootstrap=1e3", "bootstrap=99999999999999999999", "Model"},
	}.Fuzz(f)
}
