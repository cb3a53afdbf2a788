package report

import (
	"fmt"
	"io"
	"strconv"

	"gonum.org/v1/plot/vg"

	"missingscore/cmd/picture"
	"missingscore/internal/atomicfile"
	"missingscore/trainers/power"
)

var PowerFiles = append(pictureFiles("power"), "power.csv", "power.json", "report.html")

// Power is how many rows a network needs, as its page shows it.
type Power struct {
	Made
	Answer   string
	Result   *power.Result
	Theme    picture.Theme
	Settings [][2]string
	JSON     []byte // of power.json
}

func WritePower(set *atomicfile.Set, dir string, p Power) error {
	shown, err := save(set, dir, []drawing{drawPower(p.Result)}, p.Theme)
	if err != nil {
		return err
	}
	return write(set, dir, []file{
		{"power.csv", p.Result.Write},
		{"report.html", func(w io.Writer) error { return p.page(&shown[0]).write(w) }},
		{"power.json", func(w io.Writer) error { _, err := w.Write(p.JSON); return err }},
	})
}

func (p Power) page(drawn *Picture) page {
	t := &table{Words: 1, Head: append([]string{"size", "tables"}, power.Names[:]...)}
	for _, point := range p.Result.Points {
		cells := []string{strconv.Itoa(point.Rows) + " rows", strconv.Itoa(point.Tables)}
		for _, m := range point.Means {
			text := rounded("%.2f", m.Value)
			if text != "–" {
				text += fmt.Sprintf(" (%.2f to %.2f)", m.Low, m.High)
			}
			cells = append(cells, text)
		}
		t.add(cells...)
	}
	out := page{Title: "Sample size for a network", Lead: p.Answer, Warnings: p.Result.Warnings, Picture: drawn, Sections: []section{
		{Title: "By number of rows", Note: "Means over simulated tables with Monte Carlo intervals. Sensitivity: share of true edges found. Precision: share of found edges that are true. Correlation: of true and estimated partial correlations.", Table: t},
		{Title: "Methods", Table: settings(p.Settings)},
		p.Made.section(),
	}}
	if last := len(out.Warnings) - 1; !p.Result.Converged() {
		out.Verdict, out.Warnings = "NOT converged: "+out.Warnings[last], out.Warnings[:last]
	}
	return out
}

func drawPower(r *power.Result) drawing {
	var bands []picture.Band
	for m, name := range power.Names {
		if m == power.FDR { // 1 − precision, but where no edge is found
			continue
		}
		b := picture.Band{Name: name}
		for _, p := range r.Points {
			v := p.Means[m]
			b.X, b.Y, b.Low, b.High = append(b.X, float64(p.Rows)), append(b.Y, v.Value), append(b.Low, v.Low), append(b.High, v.High)
		}
		bands = append(bands, b)
	}
	p := picture.Recovery("Recovery of the network", bands, r.Config.Sensitivity, r.Needed.Rows)
	caption := fmt.Sprintf("Means over tables with %g %% intervals. Dashed: the wanted sensitivity and its sample size.", 100*r.Config.Level)
	return drawing{"power", caption, p, 17 * vg.Centimeter, 9 * vg.Centimeter}
}
