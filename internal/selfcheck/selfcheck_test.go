package selfcheck

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// A part that fails says what, and is not ok.
func TestLine(t *testing.T) {
	p := Part{Name: "calibration", Tried: 10, Found: "all is well"}
	require.True(t, p.OK())
	require.Equal(t, "calibration       ok          10  all is well", p.Line())
	p.fail("%s: p = %.2g", "impute", 1e-9)
	p.fail("another")
	require.False(t, p.OK())
	require.Equal(t, "calibration       FAILED      10  impute: p = 1e-09\n                                  another", p.Line())
}

// Each certified case is listed with its digits.
func TestOptima(t *testing.T) {
	p, err := optima(t.Context(), 1)
	require.NoError(t, err)
	require.True(t, p.OK(), "%v", p.Failed)
	require.Len(t, p.Optima, p.Tried)
	for _, o := range p.Optima {
		require.Greater(t, o.Digits, 5.0, o.Case)
		require.Positive(t, o.Promised, o.Case)
	}
	text, err := json.Marshal(p.Optima[0])
	require.NoError(t, err)
	require.Regexp(t, `^{"case":"plain \| gaussian \| `+"`full`"+`","digits":1\d(\.\d)?,"promised":\d+}$`, string(text))
}
