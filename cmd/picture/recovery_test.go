package picture

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

func TestRecovery(t *testing.T) {
	rows, nan := []float64{50, 100, 200}, math.NaN()
	sensitivity := Band{Name: "sensitivity", X: rows, Y: []float64{0.2, 0.6, 0.9}, Low: []float64{0.1, 0.5, 0.9}, High: []float64{0.3, 0.7, 0.9}}
	precision := Band{Name: "precision", X: rows, Y: []float64{nan, 0.6, 0.9}, Low: []float64{nan, nan, 0.8}, High: []float64{nan, nan, 1}}
	p, err := Recovery("Rows needed", []Band{sensitivity, precision}, 0.8, 150)
	require.NoError(t, err)
	all := leaves(t, p)
	require.Subset(t, texts(all), []string{"Rows needed", "rows", "50", "100", "200", "sensitivity", "precision"})
	require.Len(t, strokes(all, "#888888"), 2, "two guides")
	require.GreaterOrEqual(t, p.X.Max, 200.0)
	require.Equal(t, []float64{0, 1}, []float64{p.Y.Min, p.Y.Max})
	p, err = Recovery("", []Band{sensitivity}, 0.95, math.Inf(1))
	require.NoError(t, err)
	require.Len(t, strokes(leaves(t, p), "#888888"), 1)

	_, err = Recovery("", []Band{{Name: "f1", X: rows, Y: []float64{1}}}, 0.8, 0)
	require.ErrorContains(t, err, `measure "f1" has 3, 1, 0, 0 numbers`)
	_, err = Recovery("", []Band{{Name: "f1", X: []float64{0}, Y: []float64{1}, Low: []float64{1}, High: []float64{1}}}, 0.8, 0)
	require.ErrorContains(t, err, "at 0 rows")
	_, err = Recovery("", []Band{{Name: "f1", X: []float64{9}, Y: []float64{nan}, Low: []float64{nan}, High: []float64{nan}}}, 0.8, 0)
	require.ErrorContains(t, err, "no measure")
}

// The plot area ends before the widest entry of the legend begins
// whatever the picture's width.
func TestLegendIsBesideThePlotArea(t *testing.T) {
	for _, x := range [][]float64{{1, 10, 100}, {0.2, 0.4, 0.6}} {
		for _, name := range []string{"a", "partial", "a method of quite a long name"} {
			b := Band{Name: name, X: x, Y: []float64{1, 2, 3}, Low: []float64{1, 2, 3}, High: []float64{1, 2, 3}}
			p, err := Recovery("", []Band{b, {Name: "iw", X: x, Y: b.Y, Low: b.Low, High: b.High}}, 0.8, 0)
			require.NoError(t, err)
			for _, width := range []vg.Length{300, 600} {
				c := draw.NewCanvas(new(recorder.Canvas), width, 300)
				begins := c.Max.X - p.Legend.Rectangle(c).Size().X
				require.LessOrEqual(t, p.DataCanvas(c).Max.X.Points(), begins.Points()-5, "%s, %v", name, width)
				require.Greater(t, p.DataCanvas(c).Max.X.Points(), begins.Points()-20, "no room is lost")
			}
		}
	}
}
