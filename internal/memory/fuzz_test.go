package memory_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/fuzztest"
	"missingscore/internal/memory"
)

// Whatever follows --memory is a size, or is refused.
func FuzzUse(f *testing.F) {
	fuzztest.Reader[float64]{
		Read: func(text string) (float64, error) {
			defer memory.UseVariable()
			if err := memory.Use(text); err != nil {
				return 0, err
			}
			return memory.Limit()
		},
		Write: func(bytes float64) (string, error) { return fmt.Sprintf("%vB", bytes), nil },
		Check: func(t testing.TB, text string, bytes float64) {
			require.True(t, bytes > 0 && !math.IsInf(bytes, 0), "%q", text)
		},
		Accepts: []string{"8GB", "500 mb", " 1e3kB", "0.5TB", "1B"},
		Refuses: []string{"", "8", "GB", "-1GB", "0B", "NaNB", "InfGB", "1e308TB", "8 GiB", "8GB8"},
	}.Fuzz(f)
}
