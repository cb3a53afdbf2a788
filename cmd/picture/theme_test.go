package picture

import (
	"fmt"
	"image/color"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// seen is a colour as people without one kind of cones see it, in linear light (Machado, Oliveira &
// Fernandes 2009, doi:10.1109/TVCG.2009.113, severity 1).
func seen(c color.NRGBA, kind string) (out [3]float64) {
	linear := func(v uint8) float64 {
		if x := float64(v) / 255; x > 0.04045 {
			return math.Pow((x+0.055)/1.055, 2.4)
		} else {
			return x / 12.92
		}
	}
	in := [3]float64{linear(c.R), linear(c.G), linear(c.B)}
	for i, row := range map[string][3][3]float64{
		"protan": {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
		"deutan": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
		"usual":  {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	}[kind] {
		for j, v := range row {
			out[i] += v * in[j]
		}
	}
	return out
}

// apart is the distance of two colours in CIE Lab, where 2.3 can just be told apart.
func apart(a, b [3]float64) float64 {
	lab := func(c [3]float64) [3]float64 {
		f := func(x float64) float64 {
			if x > 216./24389 {
				return math.Cbrt(x)
			}
			return (24389./27*x + 16) / 116
		}
		x := f((0.4124564*c[0] + 0.3575761*c[1] + 0.1804375*c[2]) / 0.95047)
		y := f(0.2126729*c[0] + 0.7151522*c[1] + 0.0721750*c[2])
		z := f((0.0193339*c[0] + 0.1191920*c[1] + 0.9503041*c[2]) / 1.08883)
		return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
	}
	p, q := lab(a), lab(b)
	return math.Sqrt((p[0]-q[0])*(p[0]-q[0]) + (p[1]-q[1])*(p[1]-q[1]) + (p[2]-q[2])*(p[2]-q[2]))
}

// In every theme the signs can be told apart with any eyes, and the colours of groups, on which text can
// be read.
func TestThemesCanBeSeen(t *testing.T) {
	of := func(theme Theme, c color.NRGBA) color.NRGBA {
		return color.NRGBAModel.Convert(theme.colour(c)).(color.NRGBA)
	}
	for _, name := range Themes {
		theme := Theme(name)
		least := math.Inf(1)
		for _, kind := range []string{"usual", "protan", "deutan"} {
			require.Greater(t, apart(seen(of(theme, blue), kind), seen(of(theme, red), kind)), 30., "%s %s: signs", theme, kind)
			for i, a := range palette {
				for _, b := range palette[:i] {
					least = min(least, apart(seen(of(theme, a), kind), seen(of(theme, b), kind)))
				}
			}
		}
		t.Logf("%s: groups %.1f apart", theme, least)
		require.Greater(t, least, 4.5, "%s: groups", theme)
		for _, c := range palette {
			light := func(c color.NRGBA) float64 {
				v := seen(c, "usual")
				return 0.2126*v[0] + 0.7152*v[1] + 0.0722*v[2] + 0.05
			}
			require.Greater(t, light(of(theme, c))/light(ink), 3.0, "%s: text on a group", theme)
		}
	}
	require.Equal(t, color.NRGBA{0x1A, 0x1A, 0x1A, 0x80}, Theme("grey").colour(color.NRGBA{blue.R, blue.G, blue.B, 0x80}), "as transparent")
}

// The report's sheets repeat the colours of the theme "colour" for its pictures.
func TestPageHasTheColours(t *testing.T) {
	css, err := os.ReadFile("../report/page/picture.css")
	require.NoError(t, err)
	for name, c := range map[string]color.NRGBA{"positive": blue, "negative": red, "unsigned": slate, "halo": halo, "rim": ink} {
		require.Contains(t, string(css), fmt.Sprintf("var(--%s, #%02x%02x%02x)", name, c.R, c.G, c.B))
	}
}

func TestEvenTicks(t *testing.T) {
	labels := func(low, high float64) (found []string) {
		for _, tick := range (evenTicks{}).Ticks(low, high) {
			require.True(t, tick.Value >= low && tick.Value <= high)
			found = append(found, tick.Label)
		}
		return found
	}
	require.Equal(t, []string{"−0.4", "−0.2", "0.0", "0.2", "0.4", "0.6"}, labels(-0.55, 0.68))
	require.Equal(t, []string{"0", "5", "10", "15", "20", "25", "30"}, labels(0, 31))
	require.Equal(t, []string{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}, labels(0, 1))
	require.Equal(t, []string{"−0.02", "−0.01", "0.00", "0.01", "0.02", "0.03"}, labels(-0.02, 0.035))
	require.Empty(t, labels(1, 1))
}
