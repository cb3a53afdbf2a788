package picture

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/plotter"

	"missingscore/internal/data/network"
)

func TestRecovery(t *testing.T) {
	rows, nan := []float64{50, 100, 200}, math.NaN()
	sensitivity := Band{Name: "sensitivity", X: rows, Y: []float64{0.2, 0.6, 0.9}, Low: []float64{0.1, 0.5, 0.9}, High: []float64{0.3, 0.7, 0.9}}
	precision := Band{Name: "precision", X: rows, Y: []float64{nan, 0.6, 0.9}, Low: []float64{nan, nan, 0.8}, High: []float64{nan, nan, 1}}
	p := Recovery("Rows needed", []Band{sensitivity, precision}, 0.8, 150)
	all := leaves(t, p)
	require.Subset(t, texts(all), []string{"Rows needed", "rows", "50", "100", "200", "sensitivity", "precision"})
	require.Len(t, strokes(all, "#888888"), 2, "two guides")
	require.GreaterOrEqual(t, p.X.Max, 200.0)
	require.Equal(t, []float64{0, 1}, []float64{p.Y.Min, p.Y.Max})
	p = Recovery("", []Band{sensitivity}, 0.95, math.Inf(1))
	require.Len(t, strokes(leaves(t, p), "#888888"), 1)
}

func TestROC(t *testing.T) {
	rates := []network.Rate{{FPR: 0.5, TPR: 0.75}, {FPR: 0.25, TPR: 0.5}}
	p := ROC(rates, network.AUC(rates))
	all := leaves(t, p)
	require.Contains(t, texts(all), "Edge recovery along the path: AUC = 0.656")
	require.Equal(t, 4, dotsOf(all, svgBlue), "two rates and the corners")
	require.Equal(t, []float64{0, 1, 0, 1}, []float64{p.X.Min, p.X.Max, p.Y.Min, p.Y.Max})
}

func uncertain(from, to string, estimate, low, high, inclusion float64) network.Edge {
	u := network.Unknown(10)
	u.Estimate, u.Low, u.High, u.Inclusion = estimate, low, high, inclusion
	return network.Edge{From: from, To: to, Uncertainty: &u}
}

func TestForest(t *testing.T) {
	p := Forest("Intervals", "partial correlation", []network.Edge{
		uncertain("a", "b<", 0.5, 0.3, 0.6, 1),
		uncertain("a", "c", 0.1, -0.1, 0.3, 0.2),
		uncertain("b<", "c", -0.4, -0.5, -0.2, 0.9),
		uncertain("c", "d", 0.2, math.NaN(), math.NaN(), 0.9),
	})
	all := leaves(t, p)
	require.Subset(t, texts(all), []string{"a – b<", "a – c", "b< – c", "c – d"})
	require.Len(t, strokes(all, svgBlue), 1)
	require.Len(t, strokes(all, svgRed), 1)
	require.Len(t, strokes(all, svgGrey), 1)
	require.Less(t, p.X.Min, -0.5, "no interval touches the frame")
	require.Greater(t, p.X.Max, 0.6)
	require.Equal(t, 1, dotsOf(all, svgBlue))
	require.Equal(t, 2, dotsOf(all, svgGrey), "an interval with 0 and one that is not known")
}

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
	p := Bands("", "", "", []Band{{Name: "strength, CS 0.50", X: []float64{0.05, 0.75}, Y: []float64{0.9, 0.4}, Low: []float64{0.8, -0.1}, High: []float64{1, 0.7}}}, 0.7)
	require.Equal(t, -0.1, p.Y.Min)
	svg := SVG(p, 400, 300, "")
	require.Contains(t, svg, ">strength, CS 0.50<")
	require.Contains(t, svg, "fill-opacity:0.18", "the band lets what is behind it shine through")
}
