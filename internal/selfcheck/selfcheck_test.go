package selfcheck

import (
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
