package path

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/fuzztest"
)

// Whatever follows --penalty is one, and comes again as it is written, or is refused.
func FuzzParsePenalty(f *testing.F) {
	fuzztest.Reader[Penalty]{
		Read:    ParsePenalty,
		Write:   func(p Penalty) (string, error) { return p.text(), nil },
		Check:   func(t testing.TB, _ string, p Penalty) { require.Contains(t, Penalties(), p.Kind) },
		Accepts: []string{"l1", "adaptive", "adaptive=0.5", "ridge", "auto"},
		Refuses: []string{"", "l0", "L1", "l1=0.5", "adaptive=", "adaptive=0", "adaptive=1", "adaptive=-0.1", "adaptive=NaN", "adaptive=x", "adaptive=0.5=0.5"},
	}.Fuzz(f)
}
