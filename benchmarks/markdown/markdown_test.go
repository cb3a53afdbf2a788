package markdown_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/markdown"
)

func TestTable(t *testing.T) {
	table := markdown.Table{Header: []string{"x", ""}, Lines: [][]string{{"a|b", "1"}}}
	require.Equal(t, "| x |  |\n| --- | --- |\n| a\\|b | 1 |\n", table.String())
}

func TestNumbersInWords(t *testing.T) {
	require.Empty(t, markdown.Interval(nil))
	require.Equal(t, "1.23", markdown.Interval([]float64{1.234}))
	require.Equal(t, "2 ± 2.5", markdown.Interval([]float64{1, 2, 3})) // t(0.975; 2)/√3 = 2.48
	require.Empty(t, markdown.SignedInterval([]float64{1}))
	require.Equal(t, "+2.000 ± 2.484", markdown.SignedInterval([]float64{1, 2, 3}))
	require.Equal(t, "**−3.000 ± 2.484**", markdown.SignedInterval([]float64{-2, -3, -4}))
	require.Equal(t, "2.5", markdown.MeanDraws([]float64{2, 3}))
	require.Empty(t, markdown.MeanDraws([]float64{math.NaN()}))
	require.Equal(t, "−0.50", markdown.Signed("%+.2f", -0.5))
}
