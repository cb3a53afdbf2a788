package picture

import (
	"bytes"
	"compress/zlib"
	"image/color"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

func page(t *testing.T, pdf []byte) string {
	_, after, ok := bytes.Cut(pdf, []byte("stream\n"))
	require.True(t, ok)
	r, err := zlib.NewReader(bytes.NewReader(after))
	require.NoError(t, err)
	content, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(content)
}

// Colour components are byte/255, alpha stands apart; λ and ł are outlines.
func TestPDF(t *testing.T) {
	p := blank("λ ł", "", "")
	p.Add(line(draw.LineStyle{Color: color.NRGBA{R: 0x33, G: 0x66, B: 0xCC, A: 0x80}, Width: 3}, plotter.XYs{{X: 0, Y: 0}, {X: 1, Y: 1}}))
	var first, again bytes.Buffer
	require.NoError(t, PDF(&first, p, 200, 100, ""))
	require.NoError(t, PDF(&again, p, 200, 100, ""))
	require.True(t, bytes.Equal(first.Bytes(), again.Bytes()), "equal bytes")
	require.Contains(t, first.String(), "/MediaBox [0 0 200.00 100.00]")
	require.Contains(t, first.String(), "/CA 0.502")
	require.NotContains(t, first.String(), "/FontFile")
	content := page(t, first.Bytes())
	require.NotContains(t, content, " v\n", "its quadratic curves are none")
	require.Contains(t, content, "0.200 0.400 0.800 RG")
	require.NotContains(t, content, "BT", "no text but outlines")
	require.Contains(t, content, " c\n")
}
