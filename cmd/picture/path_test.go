package picture

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

func TestPath(t *testing.T) {
	x := []float64{1, 0.1, 0.01}
	p, err := Path([]Curve{
		{"up", x, []float64{0, 0.2, 0.4}, true, 0.3},
		{"crosses", x, []float64{0, -0.1, 0.1}, true, -0.2}, // negative in the result
		{"other", x, []float64{0, 0, 0.3}, false, 0},
	}, 0.1)
	require.NoError(t, err)
	require.Equal(t, 1.0, p.X.Norm(0.01), "λ decreases to the right")
	require.Equal(t, 0.0, p.X.Norm(1))
	require.InDelta(t, 0.5, p.X.Norm(0.1), 1e-12, "λ is on a log scale")

	all := leaves(t, p)
	found := texts(all)
	for _, s := range []string{"up", "crosses", "chosen, positive", "chosen, negative", "not chosen", "chosen λ = 0.1"} {
		require.Contains(t, found, s)
	}
	require.NotContains(t, found, "other")
	// A curve, its entry in the legend and its leader.
	require.Len(t, strokes(all, svgBlue), 3)
	require.Len(t, strokes(all, svgRed), 3)
	require.Contains(t, strokes(all, svgRed)[0], "stroke-dasharray")
	require.Len(t, strokes(all, svgGrey), 2)
}

// A chosen edge that enters the path after the chosen λ, or without one, has the sign of the result;
// one that is 0 there the last sign on the path. No λ, no line.
func TestSignsOfChosenEdges(t *testing.T) {
	x := []float64{1, 0.1, 0.01}
	for _, chosen := range []float64{0.1, math.NaN()} {
		p, err := Path([]Curve{
			{"enters late", x, []float64{0, 0, 0.1}, true, -0.2},
			{"never enters", x, []float64{0, 0, 0}, true, -0.1},
			{"leaves again", x, []float64{0, -0.3, 0}, true, 0},
		}, chosen)
		require.NoError(t, err)
		all := leaves(t, p)
		require.Contains(t, texts(all), "chosen, negative")
		require.NotContains(t, texts(all), "chosen, positive")
		require.Empty(t, strokes(all, svgBlue))
		require.Equal(t, !math.IsNaN(chosen), slices.Contains(texts(all), "chosen λ = 0.1"))
	}
}

// The legend is above the plot area, where no curve is.
func TestLegendCoversNoCurve(t *testing.T) {
	p, err := Path([]Curve{{"a – b", []float64{1, 0.1}, []float64{0.9, 0.9}, true, 0.9}, {"c – d", []float64{1, 0.1}, []float64{-0.9, -0.9}, false, 0}}, 0.1)
	require.NoError(t, err)
	p.Title.Text = ""
	p.Add(topOfArea(func(top vg.Length) {
		require.GreaterOrEqual(t, 6*vg.Inch-margin-top, legendHeight) // of the paper of leaves
	}))
	require.Empty(t, p.Legend.Rectangle(draw.Canvas{}).Size())
	leaves(t, p)
}

// topOfArea is told how high the plot area ends when it is drawn.
type topOfArea func(vg.Length)

func (f topOfArea) Plot(c draw.Canvas, _ *plot.Plot) { f(c.Max.Y) }

func TestPathNamesTheTenStrongest(t *testing.T) {
	var curves []Curve
	for i := range 14 {
		curves = append(curves, Curve{fmt.Sprint("edge ", i), []float64{1, 0.5}, []float64{0, 0.05 * float64(1+i) * math.Pow(-1, float64(i))}, true, 0})
	}
	curves = append(curves, Curve{"stronger, not chosen", []float64{1, 0.5}, []float64{0, 0.99}, false, 0})
	p, err := Path(curves, math.NaN())
	require.NoError(t, err)
	found := texts(leaves(t, p))
	for i := range 14 {
		require.Equal(t, i >= 4, slices.Contains(found, fmt.Sprint("edge ", i)), i)
	}
	require.NotContains(t, found, "stronger, not chosen")
}

func TestPathOfOneLambdaIsSeen(t *testing.T) {
	p, err := Path([]Curve{{"a – b", []float64{0.2}, []float64{-0.4}, true, -0.4}}, 0.2)
	require.NoError(t, err)
	require.Equal(t, 1, dotsOf(leaves(t, p), svgRed))
}

func TestPathWithoutEdges(t *testing.T) {
	for _, curves := range [][]Curve{nil, {{"a – b", []float64{1, 0.1}, []float64{0, 0}, false, 0}}} {
		p, err := Path(curves, 1)
		require.NoError(t, err)
		require.Contains(t, texts(leaves(t, p)), "chosen λ = 1")
		require.Equal(t, []float64{-1, 1}, []float64{p.Y.Min, p.Y.Max})
	}
}

func TestPathErrors(t *testing.T) {
	for name, c := range map[string]struct {
		curve  Curve
		chosen float64
		want   string
	}{
		"length": {Curve{"a", []float64{1}, nil, false, 0}, 1, `picture: curve "a" has 1 lambdas and 0 values`},
		"empty":  {Curve{Name: "a"}, 1, `picture: curve "a" has 0 lambdas and 0 values`},
		"NaN":    {Curve{"a", []float64{2, 1}, []float64{0, math.NaN()}, false, 0}, 1, `picture: curve "a" is NaN at lambda 1`},
		"lambda": {Curve{"a", []float64{0}, []float64{0}, false, 0}, 1, "picture: lambda is 0; a logarithmic axis needs a positive number"},
		"chosen": {Curve{"a", []float64{1}, []float64{0}, false, 0}, -1, "picture: lambda is -1; a logarithmic axis needs a positive number"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Path([]Curve{c.curve}, c.chosen)
			require.EqualError(t, err, c.want)
		})
	}
}

func TestMovingKeepsOneZero(t *testing.T) {
	c := Curve{X: []float64{4, 3, 2, 1}, Y: []float64{0, 0, 0.1, 0}}
	require.Equal(t, plotter.XYs{{X: 3}, {X: 2, Y: 0.1}, {X: 1}}, c.moving())
	c.Y = []float64{0, 0, 0, 0}
	require.Equal(t, plotter.XYs{{X: 2}, {X: 1}}, c.moving())
}

func TestSpread(t *testing.T) {
	y := []vg.Length{0, 1, 2, 50, 99, 100}
	spread(y, 10, 0, 100)
	require.Equal(t, []vg.Length{0, 10, 20, 50, 90, 100}, y)
}
