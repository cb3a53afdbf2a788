package picture

import (
	"fmt"
	"image/color"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPageHasTheColours(t *testing.T) {
	require.Equal(t, color.NRGBA{0x1A, 0x1A, 0x1A, 0x80}, Theme("grey").colour(color.NRGBA{blue.R, blue.G, blue.B, 0x80}), "as transparent")
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
