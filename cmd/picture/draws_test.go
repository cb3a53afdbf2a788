package picture

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/plotter"
)

func TestDraws(t *testing.T) {
	points := plotter.XYs{{X: 0, Y: 1}, {X: 2, Y: 3}}
	p, width, height := Draws([]Panel{{"a", "b", points, points[:1]}, {"a", "c & d", points, points}, {"b", "c & d", points[:1], points}})
	svg := SVG(p, width, height, "")
	require.Less(t, float64(width), float64(height))
	require.Equal(t, 5, strings.Count(svg, "fill:#B0B0B0")-1, "one in the legend")
	require.Equal(t, 5, strings.Count(svg, "fill:#0072B2")-1)
	require.Less(t, strings.LastIndex(svg, "fill:#B0B0B0"), strings.LastIndex(svg, "fill:#0072B2"))
	require.Contains(t, svg, "c &amp; d")
}
