package picture

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"missingscore/internal/atomicfile"
)

// dpi of a PNG, enough for print.
const dpi = 200

// Save writes the picture to a file, whole or not at all, as Encode does.
func Save(path string, p *plot.Plot, width, height vg.Length) error {
	write, err := Encode(path, p, width, height)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, write)
}

// Encode draws the picture and gives what writes it, as .svg or .png by the suffix of
// path; any other suffix, or a size that is not positive, is an error.
func Encode(path string, p *plot.Plot, width, height vg.Length) (write func(io.Writer) error, err error) {
	switch suffix := strings.ToLower(filepath.Ext(path)); suffix {
	case ".svg":
		text, err := SVG(p, width, height)
		if err != nil {
			return nil, err
		}
		write = func(w io.Writer) error {
			_, err := io.WriteString(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"+text)
			return err
		}
	case ".png":
		if err := checkSize(width, height); err != nil {
			return nil, err
		}
		c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(color.White))
		onWhite := *p
		if onWhite.BackgroundColor == color.White { // the paper is white: filling it again with antialiased paths takes as long as the rest
			onWhite.BackgroundColor = nil
		}
		inside(c, &onWhite)
		write = func(w io.Writer) error {
			_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
			return err
		}
	default:
		return nil, fmt.Errorf("picture: %s: the format %q is not one of .svg, .png", path, suffix)
	}
	return write, nil
}

// SVG is the picture as an <svg> element, to be put into HTML as it is. It fails
// if a size is not positive.
func SVG(p *plot.Plot, width, height vg.Length) (string, error) {
	if err := checkSize(width, height); err != nil {
		return "", err
	}
	c := vgsvg.New(width, height)
	paint(c, p)
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return "", fmt.Errorf("picture: SVG: %w", err)
	}
	text := b.String()
	return fitted(text[strings.Index(text, "<svg"):]), nil
}

// label matches a piece of text as vgsvg writes it: style, font size, escaped text.
// Text that looks like it cannot match, since its quotes are escaped.
var label = regexp.MustCompile(`style="font-family:Liberation Sans;([^"]*font-size:([0-9.]+)px[^"]*)">([^<]*)</text>`)

// fitted gives each text the width that the layout assumed: few computers have Liberation
// Sans, and another font would run over rims and margins.
func fitted(svg string) string {
	return label.ReplaceAllStringFunc(svg, func(found string) string {
		part := label.FindStringSubmatch(found)
		size, err := strconv.ParseFloat(part[2], 64)
		if err != nil {
			return found
		}
		width := sans(vg.Length(size)).Width(html.UnescapeString(part[3]))
		return fmt.Sprintf(`textLength="%.2f" lengthAdjust="spacingAndGlyphs" style="font-family:'Liberation Sans',Arial,Helvetica,sans-serif;%s">%s</text>`,
			width.Points(), part[1], part[3])
	})
}

// margin around a picture, in points.
const margin = 8

func paint(paper vg.CanvasSizer, p *plot.Plot) {
	c := draw.New(paper)
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	inside(paper, p)
}

// inside draws a plot within the margin of a paper.
func inside(paper vg.CanvasSizer, p *plot.Plot) {
	p.Draw(draw.Crop(draw.New(paper), margin, -margin, margin, -margin))
}

func checkSize(width, height vg.Length) error {
	if !(width > 0) || !(height > 0) {
		return fmt.Errorf("picture: %v × %v points is not a size", float64(width), float64(height))
	}
	return nil
}
