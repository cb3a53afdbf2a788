package report

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"missingscore/cmd/picture"
	"missingscore/cmd/words"
	"missingscore/data"
	"missingscore/internal/atomicfile"
	"missingscore/internal/data/network"
	"missingscore/internal/printable"
	"missingscore/internal/trainers/inference"
	"missingscore/internal/trainers/inference/bootstrap"
	"missingscore/trainers"
)

const EstimatedLaw = "estimated_missingness.json"

// NetworkFiles has path.* as well, which earlier versions wrote: an earlier result is removed.
var NetworkFiles = append(pictureFiles("network", "path", "roc", "intervals", "edge_differences", "centrality_differences", "stability"),
	"edge_differences.csv", "centrality_differences.csv", "edges.csv", "levels.csv", "pairs.csv", "centrality.csv", "layout.csv", "columns.csv", "stability.csv", "precision.csv", "path.csv", "model.json", "network.graphml", "network.dot", "network.json", "report.html", EstimatedLaw)

func pictureFiles(names ...string) (files []string) {
	for _, name := range names {
		files = append(files, name+".svg", name+".png", name+".pdf")
	}
	return files
}

type Source struct {
	Table string // its file
	Made
	NoIntervals string        // why there are none; "" if there are, or none were asked for
	Style       picture.Style // of its pictures
}

// WriteNetwork adds all files, model.json last, and removes files of an earlier result.
func WriteNetwork(set *atomicfile.Set, dir string, from Source, t *data.Table, result *trainers.Result, rates []network.Rate) error {
	r := result.Network
	scene := picture.NewScene(r.Network, from.Style)
	nodes, sizes, err := measured(result, from.Style)
	if err != nil {
		return err
	}
	shown, err := save(set, dir, append(drawNetwork(result, scene, sizes, rates), drawResamples(r, result.Spec.Inference.Level)...), from.Style.Theme)
	if err != nil {
		return err
	}
	var files []file
	add := func(when bool, name string, write func(io.Writer) error) {
		if when {
			files = append(files, file{name, write})
		}
	}
	add(true, "edges.csv", r.Network.WriteEdges)
	add(true, "network.graphml", r.Network.WriteGraphML)
	add(true, "network.dot", r.Network.WriteDOT)
	add(true, "network.json", r.Network.WriteJSON)
	add(true, "centrality.csv", func(w io.Writer) error { return network.WriteCentrality(w, r.Names, nodes) })
	add(true, "columns.csv", func(w io.Writer) error { return writeColumns(w, columnsOf(t, result, t.Names), result.MissingAtRandom) })
	add(true, "layout.csv", func(w io.Writer) error { return scene.WriteLayout(w, r.Names) })
	add(true, "path.csv", func(w io.Writer) error { return r.WritePath(w, rates) })
	add(true, "report.html", func(w io.Writer) error { return writePage(w, from, t, result, scene, nodes, sizes, shown) })
	add(len(r.Names) <= mostInMatrix, "precision.csv", func(w io.Writer) error { return network.WritePrecision(w, r.Names, r.Precision) })
	add(r.Network.HasLevels(), "levels.csv", r.Network.WriteLevels)
	add(r.Inference != nil, "pairs.csv", r.Network.WritePairs)
	add(r.Inference != nil && r.Inference.Edges != nil, "edge_differences.csv", func(w io.Writer) error {
		ends := func(pair int) []string { return []string{r.Network.Pairs[pair].From, r.Network.Pairs[pair].To} }
		return writeDifferences(w, []string{"from", "to"}, ends, r.Inference.Edges)
	})
	add(r.Inference != nil && r.Inference.Edges != nil, "centrality_differences.csv", func(w io.Writer) error {
		return writeDifferences(w, []string{"node"}, func(node int) []string { return r.Names[node : node+1] }, r.Inference.Strengths)
	})
	add(r.Stability != nil, "stability.csv", func(w io.Writer) error { return r.Stability.Write(w) })
	add(true, "model.json", func(w io.Writer) error { // last: it marks the result as whole
		text, err := result.Encode()
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	})
	if err := write(set, dir, files); err != nil {
		return err
	}
	set.Clear(dir, NetworkFiles)
	return nil
}

type file struct {
	name  string
	write func(io.Writer) error
}

func write(set *atomicfile.Set, dir string, files []file) error {
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		write := f.write
		if ext := filepath.Ext(f.name); ext == ".html" || ext == ".json" {
			write = func(w io.Writer) error { return f.write(words.Writer{W: w}) }
		}
		if err := set.Write(path, write); err != nil {
			return fmt.Errorf("writing %s: %w", path, err)
		}
	}
	return nil
}

// mostInMatrix limits the columns for which precision.csv is written.
const mostInMatrix = 1000

type drawing struct {
	name, caption string // without a caption it is in no report, whose explorer has the same
	plot          *plot.Plot
	width, height vg.Length
}

func save(set *atomicfile.Set, dir string, pictures []drawing, theme picture.Theme) (shown []Picture, err error) {
	for _, p := range pictures {
		svg := picture.SVG(p.plot, p.width, p.height, theme)
		shown = append(shown, Picture{p.caption, svg})
		if err := write(set, dir, []file{
			{p.name + ".svg", func(w io.Writer) error { _, err := io.WriteString(w, picture.XML+svg); return err }},
			{p.name + ".png", picture.PNG(p.plot, p.width, p.height, theme)},
			{p.name + ".pdf", func(w io.Writer) error { return picture.PDF(w, p.plot, p.width, p.height, theme) }},
		}); err != nil {
			return nil, err
		}
	}
	return shown, nil
}

func drawNetwork(result *trainers.Result, s *picture.Scene, sizes []float64, rates []network.Rate) []drawing {
	r, side := result.Network, s.Side()
	out := []drawing{{"network", "", picture.Network(r.Network, sizes, s), side, side}}
	if rates != nil {
		out = append(out, drawing{"roc", "True against false positive rate along the path.", picture.ROC(rates, network.AUC(rates)), 12 * vg.Centimeter, 12 * vg.Centimeter})
	}
	if pairs := forest(r.Network); len(pairs) > 0 {
		out = append(out, drawForest(pairs, len(r.Network.Pairs), result.Spec.Inference.Level, "", "partial correlation"))
	}
	return out
}

// drawForest draws the intervals of pairs, of which there are all; by says what the intervals come from.
func drawForest(pairs []network.Edge, all int, level float64, by, x string) drawing {
	which := fmt.Sprintf("the %d largest of %d pairs", len(pairs), all)
	if len(pairs) == all {
		which = fmt.Sprintf("all %d pairs", all)
	}
	title := fmt.Sprintf("%.3g %% intervals%s: %s", 100*level, by, which)
	return drawing{"intervals", "", picture.Forest(title, x, pairs), picture.ForestWidth(pairs), picture.ForestHeight(len(pairs))}
}

// CentralityColumn returns a column of centrality.csv, NaN for empty cells; nil for "".
func CentralityColumn(names []string, nodes []network.Centrality, column string) (values []float64, err error) {
	if column == "" {
		return nil, nil
	}
	lines := network.CentralityTable(names, nodes)
	j := slices.Index(lines[0], column)
	if j < 1 {
		return nil, fmt.Errorf("centrality.csv has no column %q; it has %s", printable.Cell(column), strings.Join(lines[0][1:], ", "))
	}
	for _, line := range lines[1:] {
		v, err := strconv.ParseFloat(line[j], 64)
		if err != nil {
			v = math.NaN()
		}
		values = append(values, v)
	}
	return values, nil
}

const (
	forestPairs    = 40   // intervals that a picture shows, at most
	shownInclusion = 0.25 // of resamples, of a pair that is no edge of the network, to be shown
)

// forest are the pairs with the largest estimates, sorted by value, with labels as names.
func forest(n *network.Network) []network.Edge {
	var pairs []network.Edge
	for _, e := range n.Pairs {
		u := e.Uncertainty
		if absent := u.Estimate == 0 && !(u.Inclusion >= shownInclusion); !math.IsNaN(u.Estimate) && !absent {
			e.From, e.To = n.Label(e.From), n.Label(e.To)
			pairs = append(pairs, e)
		}
	}
	slices.SortStableFunc(pairs, func(a, b network.Edge) int {
		return cmp.Compare(math.Abs(b.Uncertainty.Estimate), math.Abs(a.Uncertainty.Estimate))
	})
	pairs = pairs[:min(len(pairs), forestPairs)]
	slices.SortStableFunc(pairs, func(a, b network.Edge) int { return cmp.Compare(b.Uncertainty.Estimate, a.Uncertainty.Estimate) })
	return pairs
}

const mostBoxes = 40

func drawResamples(r *trainers.NetworkResult, level float64) (out []drawing) {
	if found := r.Inference; found != nil && found.Edges != nil {
		for _, c := range []struct {
			file, title, what string
			numbers           *inference.Differences
			name              func(place int) string
		}{
			{"edge_differences", "Which edges differ", "edges", found.Edges, func(pair int) string {
				e := r.Network.Pairs[pair]
				return picture.PairName(r.Network.Label(e.From), r.Network.Label(e.To))
			}},
			{"centrality_differences", "Which nodes differ in strength", "strengths", found.Strengths, func(node int) string {
				return r.Network.Label(r.Names[node])
			}},
		} {
			drawn := min(len(c.numbers.Of), mostBoxes)
			if drawn < 2 {
				continue
			}
			var boxes []picture.Box
			for i, place := range c.numbers.Of[:drawn] {
				boxes = append(boxes, picture.Box{Name: c.name(place), Value: c.numbers.Value[i], Place: i})
			}
			caption := fmt.Sprintf("Dark: the two %s differ, because the %g %% bootstrap interval of their difference excludes 0 (not adjusted for multiplicity). Grey: no difference found.", c.what, 100*level)
			if c.numbers.All > drawn {
				caption += fmt.Sprintf(" The %d largest of %d are drawn; %s.csv has more.", drawn, c.numbers.All, c.file)
			}
			p, width, height := picture.Matrix(c.title, boxes, c.numbers.Differ)
			out = append(out, drawing{c.file, caption, p, width, height})
		}
	}
	if s := r.Stability; s != nil {
		var bands []picture.Band
		for i, l := range s.Levels {
			if i == 0 || l.Statistic != s.Levels[i-1].Statistic {
				bands = append(bands, picture.Band{Name: fmt.Sprintf("%s, CS %.2f", l.Statistic, s.Coefficient[l.Statistic])})
			}
			b := &bands[len(bands)-1]
			b.X, b.Y, b.Low, b.High = append(b.X, l.Dropped), append(b.Y, l.Mean), append(b.Low, l.Low), append(b.High, l.Up)
		}
		out = append(out, drawing{"stability", "Correlation with the results from all rows when rows are dropped: mean and 90 % band. CS is the largest share at which 95 % of the correlations exceed 0.7 (dashed).",
			picture.Bands("Stability when rows are dropped", "share of the rows dropped", "correlation with all rows", bands, bootstrap.WantedCorrelation), 14 * vg.Centimeter, 9 * vg.Centimeter})
	}
	return out
}

// One line for each pair of numbers: names, values, difference, interval, test.
func writeDifferences(w io.Writer, names []string, name func(place int) []string, d *inference.Differences) error {
	var header []string
	for _, side := range []string{"_1", "_2"} {
		for _, n := range names {
			header = append(header, n+side)
		}
	}
	lines := [][]string{append(header, "value_1", "value_2", "difference", "low", "high", "differs")}
	at := 0
	for i, a := range d.Of {
		for j, b := range d.Of[i+1:] {
			line := printable.Texts(slices.Concat(name(a), name(b)))
			first, second := d.Value[i], d.Value[i+1+j]
			for _, x := range []float64{first, second, first - second, d.Low[at], d.High[at]} {
				line = append(line, data.FormatNumber(x))
			}
			lines = append(lines, append(line, strconv.FormatBool(d.Differ(i, i+1+j))))
			at++
		}
	}
	return csv.NewWriter(w).WriteAll(lines)
}
