package report

import (
	"fmt"
	"io"

	"gonum.org/v1/plot/vg"

	"missingscore/cmd/picture"
	"missingscore/internal/atomicfile"
	"missingscore/trainers/power"
)

// PowerFiles are all that a study of the number of rows writes.
var PowerFiles = append(pictureFiles("power"), "power.csv", "power.json", "report.html")

// Power is how many rows a network needs, as its page shows it.
type Power struct {
	Title, Answer string
	Result        *power.Result
	Theme         picture.Theme
	Settings      [][2]string
	JSON          []byte // of power.json
}

// WritePower prepares every file, power.json last, for the set to commit.
func WritePower(set *atomicfile.Set, dir string, p Power) error {
	drawn, err := drawPower(p.Result)
	if err != nil {
		return err
	}
	shown, err := save(set, dir, []drawing{drawn}, p.Theme)
	if err != nil {
		return err
	}
	return write(set, dir, []file{
		{"power.csv", p.Result.Write},
		{"report.html", func(w io.Writer) error {
			return render(w, powerPage, struct {
				Power
				Names    []string
				Pictures []Picture
			}{p, power.Names[:], shown})
		}},
		{"power.json", func(w io.Writer) error { _, err := w.Write(p.JSON); return err }},
	})
}

// drawPower draws the measures against the number of rows.
func drawPower(r *power.Result) (drawing, error) {
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
	p, err := picture.Recovery("How well the network is found", bands, r.Config.Sensitivity, r.Needed.Rows)
	caption := fmt.Sprintf("Means over tables with %g %% intervals. Dashed: the wanted sensitivity, and the rows that it needs.", 100*r.Config.Level)
	return drawing{"power", caption, p, 18 * vg.Centimeter, 11 * vg.Centimeter}, err
}

var powerPage = parsed("power.html.tmpl")
