package picture

import (
	"bytes"
	"compress/zlib"
	"encoding/xml"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

type element struct{ name, style, text string }

// leaves draws p and takes the SVG apart; it must be valid XML.
func leaves(t *testing.T, p *plot.Plot) []element {
	t.Helper()
	svg := SVG(p, 6*vg.Inch, 6*vg.Inch, "")
	var all []element
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if token == nil {
			require.ErrorContains(t, err, "EOF")
			return all
		}
		switch x := token.(type) {
		case xml.StartElement:
			e := element{name: x.Name.Local}
			for _, a := range x.Attr {
				if a.Name.Local == "style" {
					e.style = a.Value
				}
			}
			all = append(all, e)
		case xml.CharData:
			if s := strings.TrimSpace(string(x)); s != "" {
				all[len(all)-1].text = s
			}
		}
	}
}

func texts(all []element) []string {
	var found []string
	for _, e := range all {
		if e.name == "text" {
			found = append(found, e.text)
		}
	}
	return found
}

// strokes are the styles of all lines of a colour. SVG may round a pale colour's channels down by one.
func strokes(all []element, colour string) []string {
	var found []string
	for _, e := range all {
		_, after, ok := strings.Cut(e.style, "stroke:")
		if ok && near(after[:7], colour) {
			found = append(found, e.style)
		}
	}
	return found
}

func near(a, b string) bool {
	for i := 1; i < 7; i += 2 {
		x, errX := strconv.ParseUint(a[i:i+2], 16, 8)
		y, errY := strconv.ParseUint(b[i:i+2], 16, 8)
		if errX != nil || errY != nil || max(x, y)-min(x, y) > 1 {
			return false
		}
	}
	return true
}

func dotsOf(all []element, colour string) int {
	n := 0
	for _, e := range all {
		if e.style == "fill:"+colour {
			n++
		}
	}
	return n
}

const (
	svgBlue = "#2166AC"
	svgRed  = "#B2182B"
	svgGrey = "#B0B0B0"
)

func TestSVGAndPNG(t *testing.T) {
	var texts, pngs []string
	for range 3 {
		p := Network(smallNetwork(), nil, scene(smallNetwork()))
		text := SVG(p, 3*vg.Inch, 2*vg.Inch, "")
		var b bytes.Buffer
		require.NoError(t, PNG(p, 3*vg.Inch, 2*vg.Inch, "")(&b))
		texts, pngs = append(texts, text), append(pngs, b.String())
	}
	require.Equal(t, []string{texts[0], texts[0], texts[0]}, texts, "the same from run to run")
	require.True(t, pngs[0] == pngs[1] && pngs[0] == pngs[2])
	img, err := png.Decode(strings.NewReader(pngs[0]))
	require.NoError(t, err)
	require.Equal(t, 3*dpi, img.Bounds().Dx())
	require.Equal(t, 2*dpi, img.Bounds().Dy())
	require.Contains(t, texts[0], `width="216pt" height="144pt"`)
	require.NotContains(t, texts[0], "font-family:Liberation")
}

func TestTextKeepsItsWidthInOtherFonts(t *testing.T) {
	p := blank("<i> & font-family:Liberation Sans;", "", "")
	svg := SVG(p, 300, 300, "")
	require.Contains(t, svg, fmt.Sprintf(`textLength="%.2f" lengthAdjust="spacingAndGlyphs"`, p.Title.TextStyle.Width(p.Title.Text).Points()))
	require.Contains(t, svg, "&lt;i&gt; &amp; font-family:Liberation Sans;</text>")
	require.Equal(t, strings.Count(svg, "<text"), strings.Count(svg, "textLength"))
}

func TestShort(t *testing.T) {
	require.Equal(t, "Größe", Short("Größe", 5))
	require.Equal(t, "Grö…", Short("Größe", 4))
	require.Equal(t, `a b\u0001c�`, Short("a\nb\x01c\xff", 24))
}

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

func TestPageHasTheColours(t *testing.T) {
	require.Equal(t, color.NRGBA{0x1A, 0x1A, 0x1A, 0x80}, Theme("grey").colour(color.NRGBA{blue.R, blue.G, blue.B, 0x80}), "as transparent")
	css, err := os.ReadFile("../report/page/picture.css")
	require.NoError(t, err)
	for name, c := range map[string]color.NRGBA{"positive": blue, "negative": red, "unsigned": slate, "halo": halo, "rim": ink} {
		require.Contains(t, string(css), fmt.Sprintf("var(--%s, #%02x%02x%02x)", name, c.R, c.G, c.B))
	}
}
