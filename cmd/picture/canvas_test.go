package picture

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/png"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
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
		p := Network(smallNetwork(), nil, scene(t, smallNetwork()))
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
	require.Equal(t, "Größe", short("Größe", 5))
	require.Equal(t, "Grö…", short("Größe", 4))
	require.Equal(t, `a b\u0001c�`, short("a\nb\x01c\xff", 24))
}
