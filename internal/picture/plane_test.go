package picture

import (
	"image/color"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"
)

func TestPlanes(t *testing.T) {
	points := []float64{0, 0, 0.9, -0.9, 5, 0} // the last is outside
	p, err := Planes("Title", []Plane{{"truth", []float64{0, 0.5, 1, 2}, nil}, {"draws", nil, points}}, 2, 0, 0, 2, 1)
	require.NoError(t, err)
	require.Equal(t, 2, dotsOf(leaves(t, p), "#D55E00"))
	svg, err := SVG(p, 10*vg.Centimeter, 6*vg.Centimeter)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(svg, "<image"))
	for _, part := range []string{"Title", "truth", "draws"} {
		require.Contains(t, svg, part)
	}
	for _, bad := range [][]float64{{1, 2, 3}, {1, 1, 1, -1}, {}} {
		_, err = Planes("", []Plane{{"bad", bad, nil}}, 1, 0, 0, 1, 1)
		require.ErrorContains(t, err, "picture: bad: ")
	}
	_, err = Planes("", nil, 0, 0, 0, 1, 1)
	require.ErrorContains(t, err, "0 in a row")
}

// The first row of a density is at the bottom, as y grows upwards.
func TestShade(t *testing.T) {
	picture, err := shade([]float64{0, 0, 0, 3}, 1)
	require.NoError(t, err)
	require.Equal(t, blue, picture.At(1, 0))
	require.Equal(t, color.NRGBA{255, 255, 255, 255}, picture.At(0, 1))
}
