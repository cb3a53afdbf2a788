package picture

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Of a = .3, c = .2, b = −.1 only a and b differ: two dark boxes and four grey ones.
func TestMatrix(t *testing.T) {
	p, width, height := Matrix("Which differ", []Box{{"a", 0.3, 0}, {"b", -0.1, 1}, {"c", 0.2, 2}}, func(i, j int) bool { return i+j == 1 })
	svg := SVG(p, width, height, "")
	paths := func(fill string) string {
		found := regexp.MustCompile(`<path d="([^"]*)"\s*style="fill:`+fill+`[^"]*"`).FindAllStringSubmatch(svg, -1)
		require.NotEmpty(t, found, fill)
		return found[0][1]
	}
	dark, light := paths("#222222"), paths("#B0B0B0")
	require.Equal(t, 2, strings.Count(dark, "M"))
	require.Equal(t, 4, strings.Count(light, "M"))
	require.Less(t, strings.Index(svg, ">a<"), strings.Index(svg, ">c<"))
	require.Less(t, strings.Index(svg, ">c<"), strings.Index(svg, ">b<"))
	require.Contains(t, svg, ">−.10<")
	require.Contains(t, svg, ">.30<")
}

func TestStability(t *testing.T) {
	p := Stability([]Band{{Name: "strength, CS 0.50", X: []float64{0.05, 0.75}, Y: []float64{0.9, 0.4}, Low: []float64{0.8, -0.1}, High: []float64{1, 0.7}}}, 0.7)
	require.Equal(t, -0.1, p.Y.Min)
	svg := SVG(p, 400, 300, "")
	require.Contains(t, svg, ">strength, CS 0.50<")
	require.Contains(t, svg, "fill-opacity:0.18", "the band lets what is behind it shine through")
}
