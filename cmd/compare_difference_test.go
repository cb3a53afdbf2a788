package cmd

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/trainers/compare"
)

// A pair's line has the numbers by which it was chosen, and those of the estimates apart from them.
func TestDifferenceText(t *testing.T) {
	d := compare.Difference{Value: 0.2, Low: math.NaN(), High: math.NaN(), Q: 0.07}
	require.Equal(t, "  difference +0.200  q 0.07", differenceText(d))
	d.Estimates = &compare.Estimates{Value: 0.026, Low: -0.258, High: 0.307, Q: 0.91}
	require.Equal(t, "  difference +0.200  q 0.07; with all pairs free  difference +0.026 [-0.258, +0.307]  q 0.91", differenceText(d))
}
