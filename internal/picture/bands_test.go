package picture

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

func TestBands(t *testing.T) {
	b := Band{Name: "var", X: []float64{1, 10, 100}, Y: []float64{4, 1, 0.5}, Low: []float64{3, 0.5, -0.1}, High: []float64{5, 1.5, 0.9}}
	p, err := Bands("Title", "epoch", "error", []Band{b, {Name: "iw", X: b.X, Y: b.Y, Low: b.Low, High: b.High}})
	require.NoError(t, err)
	svg, err := SVG(p, 10*vg.Centimeter, 8*vg.Centimeter)
	require.NoError(t, err)
	for _, part := range []string{"Title", "epoch", "error", "Marg-Var", "Marg-IW", ">100<"} {
		require.True(t, strings.Contains(svg, part), part)
	}
	b.Floor = []float64{2, 0.5, 0.02}
	p, err = Bands("Title", "epoch", "error", []Band{b})
	require.NoError(t, err)
	require.InDelta(t, 0.02/1.6, p.Y.Min, 1e-12, "room for the floor")
	b.Floor[1] = 0
	_, err = Bands("", "", "", []Band{b})
	require.ErrorContains(t, err, `floor of band "var": 0 at 10; a logarithmic axis needs positive numbers`)
	b.Floor = b.Floor[:2]
	_, err = Bands("", "", "", []Band{b})
	require.ErrorContains(t, err, "2 numbers for 3 places")
	b.Floor = nil
	b.Y[1] = 0
	_, err = Bands("", "", "", []Band{b})
	require.ErrorContains(t, err, "means must be positive")
	b.Y[1] = 1
	b.X[0] = -1
	_, err = Bands("", "", "", []Band{b})
	require.ErrorContains(t, err, "places not negative")
	b.X[0] = 0 // no logarithm, then
	p, err = Bands("", "", "", []Band{b})
	require.NoError(t, err)
	require.Equal(t, plot.LinearScale{}, p.X.Scale)
	none := Band{Name: "var", X: []float64{0}, Y: []float64{1}, Low: []float64{1}, High: []float64{1}}
	p, err = Bands("", "", "", []Band{none})
	require.NoError(t, err)
	_, err = SVG(p, 10*vg.Centimeter, 8*vg.Centimeter)
	require.NoError(t, err)
	b.Y = b.Y[:2]
	_, err = Bands("", "", "", []Band{b})
	require.ErrorContains(t, err, `band "var" has`)
}

// The plot area ends before the widest entry of the legend begins, on either kind of axis and
// whatever the picture's width.
func TestLegendIsBesideThePlotArea(t *testing.T) {
	for _, x := range [][]float64{{1, 10, 100}, {0.2, 0.4, 0.6}} {
		for _, name := range []string{"a", "partial", "a method of quite a long name"} {
			b := Band{Name: name, X: x, Y: []float64{1, 2, 3}, Low: []float64{1, 2, 3}, High: []float64{1, 2, 3}}
			p, err := Bands("", "x", "y", []Band{b, {Name: "iw", X: x, Y: b.Y, Low: b.Low, High: b.High}})
			require.NoError(t, err)
			require.Equal(t, x[2], p.X.Max, "the axis ends where the data do")
			for _, width := range []vg.Length{300, 600} {
				c := draw.NewCanvas(new(recorder.Canvas), width, 300)
				begins := c.Max.X - p.Legend.Rectangle(c).Size().X
				require.LessOrEqual(t, p.DataCanvas(c).Max.X.Points(), begins.Points()-5, "%s, %v", name, width)
				require.Greater(t, p.DataCanvas(c).Max.X.Points(), begins.Points()-20, "no room is lost")
			}
		}
	}
}

// A method treated in some way is named after the method; what is neither keeps its name.
func TestMethodTitle(t *testing.T) {
	require.Equal(t, "Marg-IW", MethodTitle("iw"))
	require.Equal(t, "Marg-IW, held out", MethodTitle("iw, held out"))
	require.Equal(t, "l1, ebic", MethodTitle("l1, ebic"))
}
