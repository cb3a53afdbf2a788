package picture

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot/vg"
)

func TestHeat(t *testing.T) {
	m := mat.NewDense(2, 3, []float64{8, 1, 0, -1, -8, 0})
	p, err := Heat("Precision", m, 2, 8)
	require.NoError(t, err)
	svg, err := SVG(p, 8*vg.Centimeter, 7*vg.Centimeter)
	require.NoError(t, err)
	for _, part := range []string{"Precision", ">8<", ">-8<", ">2<", ">4<", "#2166AC", "#B2182B"} { // the full depth of either sign
		require.True(t, strings.Contains(svg, part), part)
	}
	require.Equal(t, 2, strings.Count(svg, "#90B3D6"), "an eighth of the most has half the depth: its square, and in the legend")
	_, err = Heat("", m, 1, 0)
	require.ErrorContains(t, err, "a scale up to 0")
	m.Set(0, 0, math.NaN())
	_, err = Heat("", m, 1, 8)
	require.ErrorContains(t, err, "entry (0, 0) is NaN")
}
