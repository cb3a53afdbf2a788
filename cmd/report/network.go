package report

import (
	"bytes"
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
	"missingscore/data/network"
	"missingscore/internal/atomicfile"
	"missingscore/internal/printable"
	"missingscore/trainers"
)

// EstimatedLaw is the file of a law of missingness that was estimated from the table. It
// is for the command to write, which knows that it was.
const EstimatedLaw = "estimated_missingness.json"

// NetworkFiles are all that a result may have.
var NetworkFiles = append(pictureFiles("network", "path", "roc", "intervals", "pvalues", "inclusion", "edge_differences", "centrality_differences", "stability"),
	"edge_differences.csv", "centrality_differences.csv", "edges.csv", "levels.csv", "pairs.csv", "centrality.csv", "layout.csv", "columns.csv", "stability.csv", "precision.csv", "path.csv", "model.json", "network.graphml", "network.dot", "network.json", "report.html", EstimatedLaw)

// pictureFiles are the names of pictures with the endings that save gives them.
func pictureFiles(names ...string) (files []string) {
	for _, name := range names {
		files = append(files, name+".svg", name+".png", name+".pdf")
	}
	return files
}

// Source is where a result comes from, and how its nodes are shown.
type Source struct {
	Table string // its file
	Made
	NoIntervals string        // why there are none; "" if there are, or none were asked for
	Style       picture.Style // of its pictures
}

// WriteNetwork prepares every file of a result in a folder, model.json last, and removes those of
// an earlier one: when the set is committed. What the set has already stays.
func WriteNetwork(set *atomicfile.Set, dir string, from Source, t *data.Table, result *trainers.Result, rates []network.Rate) error {
	r := result.Network
	scene, err := picture.NewScene(r.Network, from.Style)
	if err != nil {
		return err
	}
	nodes, err := centralities(result)
	if err != nil {
		return err
	}
	if err := r.Network.SetBridges(nodes, from.Style.GroupOf); err != nil {
		return err
	}
	sizes, err := CentralityColumn(r.Names, nodes, from.Style.NodeSize)
	if err != nil {
		return err
	}
	pictures, err := drawNetwork(result, scene, sizes, rates)
	if err != nil {
		return err
	}
	pictures = append(pictures, drawResamples(r, result.Spec.Inference.Level)...)
	shown, err := save(set, dir, pictures, from.Style.Theme)
	if err != nil {
		return err
	}
	files := []file{
		{"edges.csv", r.Network.WriteEdges},
		{"network.graphml", r.Network.WriteGraphML},
		{"network.dot", r.Network.WriteDOT},
		{"network.json", r.Network.WriteJSON},
		{"centrality.csv", func(w io.Writer) error { return network.WriteCentrality(w, r.Names, nodes) }},
		{"columns.csv", func(w io.Writer) error {
			return writeColumns(w, columnsOf(t, result, t.Names), result.MissingAtRandom)
		}},
		{"layout.csv", func(w io.Writer) error { return scene.WriteLayout(w, r.Names) }},
		{"path.csv", func(w io.Writer) error { return r.WritePath(w, rates) }},
		{"report.html", func(w io.Writer) error { return writePage(w, from, t, result, scene, nodes, shown) }},
	}
	if len(r.Names) <= mostInMatrix {
		files = append(files, file{"precision.csv", func(w io.Writer) error { return network.WritePrecision(w, r.Names, r.Precision) }})
	}
	if r.Network.HasLevels() {
		files = append(files, file{"levels.csv", r.Network.WriteLevels})
	}
	if r.Inference != nil {
		files = append(files, file{"pairs.csv", r.Network.WritePairs})
	}
	if found := r.Inference; found != nil && found.Edges != nil {
		files = append(files, file{"edge_differences.csv", func(w io.Writer) error {
			return writeDifferences(w, []string{"from", "to"}, func(pair int) []string { return []string{r.Network.Pairs[pair].From, r.Network.Pairs[pair].To} }, found.Edges)
		}}, file{"centrality_differences.csv", func(w io.Writer) error {
			return writeDifferences(w, []string{"node"}, func(node int) []string { return r.Names[node : node+1] }, found.Strengths)
		}})
	}
	if r.Stability != nil {
		files = append(files, file{"stability.csv", r.Stability.Write})
	}
	files = append(files, file{"model.json", func(w io.Writer) error { // last: it marks the result as whole
		text, err := result.Encode()
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	}})
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

// mostInMatrix is up to how many columns precision.csv has the matrix; of more, model.json and
// edges.csv have what is not zero.
const mostInMatrix = 1000

type drawing struct {
	name, caption string
	plot          *plot.Plot
	width, height vg.Length
}

// save prepares pictures as files, and gives them as they stand in the page.
func save(set *atomicfile.Set, dir string, pictures []drawing, theme picture.Theme) (shown []Picture, err error) {
	for _, p := range pictures {
		svg, err := picture.SVG(p.plot, p.width, p.height, theme)
		if err != nil {
			return nil, err
		}
		shown = append(shown, Picture{p.name, p.caption, svg})
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

func drawNetwork(result *trainers.Result, s *picture.Scene, sizes []float64, rates []network.Rate) ([]drawing, error) {
	r, spec := result.Network, result.Spec
	side := s.Side()
	n, err := picture.Network(r.Network, sizes, s)
	if err != nil {
		return nil, err
	}
	drawn, left := curves(r)
	lambda := r.Lambda
	shown := "The network at the chosen λ."
	along := "Partial correlations along the path; the dashed line is the chosen λ. Colours are by the signs of the network's edges."
	switch {
	case r.Choice != "": // the edges are of no point of the path
		lambda = math.NaN()
		shown = "The network of the chosen edges."
		along = "Partial correlations along the path, shrunken by its penalty. The chosen edges are of no single λ and have sizes fitted without the penalty; colours are by their signs."
	case *spec.Network.Refit && !spec.Network.PathOnly:
		along = "Partial correlations along the path, shrunken by its penalty; the dashed line is the chosen λ, whose edges the network has, with sizes fitted again without the penalty. Colours are by the signs of these."
	}
	paths, err := picture.Path(drawn, lambda)
	if err != nil {
		return nil, err
	}
	if left > 0 {
		along += fmt.Sprintf(" Of the pairs that are edges somewhere on the path the %d strongest are drawn, those of the chosen network first; %d more are not.", len(drawn), left)
	}
	out := []drawing{
		{"network", shown + " Blue and solid: positive partial correlation; red and dashed: negative;" + withoutSign(r.Network) + " the wider, the stronger.", n, side, side},
		{"path", along, paths, 18 * vg.Centimeter, 12 * vg.Centimeter},
	}
	if rates != nil {
		auc := network.AUC(rates)
		roc, err := picture.ROC(rates, auc)
		if err != nil {
			return nil, err
		}
		out = append(out, drawing{"roc", "True against false positive rate along the path, for the given truth.", roc, 12 * vg.Centimeter, 12 * vg.Centimeter})
	}
	uncertain, err := drawUncertainty(r, spec.Inference.Level)
	return append(out, uncertain...), err
}

// CentralityColumn has the values of a column of centrality.csv, NaN where it is empty; nil for the column "". It fails if
// there is no such column.
func CentralityColumn(names []string, nodes []network.Centrality, column string) (values []float64, err error) {
	if column == "" {
		return nil, nil
	}
	var b bytes.Buffer
	if err := network.WriteCentrality(&b, names, nodes); err != nil {
		return nil, err
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		return nil, err
	}
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

// withoutSign says how edges without a sign are drawn, "" where there are none.
func withoutSign(n *network.Network) string {
	if !slices.ContainsFunc(n.Edges, func(e network.Edge) bool { return e.Unsigned }) {
		return ""
	}
	return " grey: strength of an edge with a nominal column, which has no sign;"
}

// mostCurves is how many pairs a picture of the path has, so that it can be seen and its
// file stays below a megabyte.
const mostCurves = 500

// curves are the partial correlations of the pairs that are ever an edge, at most mostCurves
// of them: those of the chosen network and then the largest, and how many are left out.
func curves(r *trainers.NetworkResult) (drawn []picture.Curve, left int) {
	d, pairs := len(r.Names), alongPath(r)
	chosen := func(pair [2]int) int {
		if r.Adjacency.Has(pair[0], pair[1]) {
			return 0
		}
		return 1
	}
	if left = max(0, len(pairs)-mostCurves); left > 0 {
		slices.SortStableFunc(pairs, func(a, b [2]int) int { return cmp.Compare(chosen(a), chosen(b)) })
		pairs = pairs[:mostCurves]
	} else {
		slices.SortFunc(pairs, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	}
	edges := map[[2]string]network.Edge{}
	for _, e := range r.Network.Edges {
		edges[[2]string{e.From, e.To}] = e
	}
	for _, pair := range pairs {
		j, k := pair[0], pair[1]
		c := picture.Curve{Name: picture.PairName(r.Network.Label(r.Names[j]), r.Network.Label(r.Names[k])), Chosen: r.Adjacency.Has(j, k)}
		edge := edges[[2]string{r.Names[j], r.Names[k]}]
		c.Size, c.Unsigned = edge.PartialCorrelation, edge.Unsigned
		for _, p := range r.Points {
			c.X = append(c.X, p.Lambda)
			c.Y = append(c.Y, p.PartialCorrelation(d, j, k))
		}
		drawn = append(drawn, c)
	}
	return drawn, left
}

const (
	forestPairs    = 40   // intervals that a picture shows, at most
	shownInclusion = 0.25 // of resamples, of a pair that is no edge of the network, to be shown
)

// drawUncertainty draws what is known of the pairs: intervals, p values, inclusion.
func drawUncertainty(r *trainers.NetworkResult, level float64) (out []drawing, err error) {
	if r.Inference == nil {
		return nil, nil
	}
	shown := forest(r.Network)
	if len(shown) > 0 {
		title := fmt.Sprintf("%.3g %% intervals: %s", 100*level, largestOf(len(shown), len(r.Network.Pairs)))
		p, err := picture.Forest(title, "partial correlation", shown)
		if err != nil {
			return nil, err
		}
		out = append(out, drawing{"intervals", fmt.Sprintf("The %d pairs of the largest estimates, with their intervals: grey where 0 is inside.", len(shown)), p, picture.ForestWidth(shown), picture.ForestHeight(len(shown))})
	}
	var p []float64
	resampled := false
	for _, e := range r.Network.Pairs {
		if u := e.Uncertainty; !math.IsNaN(u.P) {
			p = append(p, u.P)
		}
		resampled = resampled || !math.IsNaN(e.Uncertainty.Inclusion) && !math.IsNaN(e.Uncertainty.Estimate)
	}
	if len(p) > 0 {
		drawn, err := picture.PValues(p)
		if err != nil {
			return nil, err
		}
		out = append(out, drawing{"pvalues", "p values of all pairs. Pairs without an edge are spread evenly, at the height of the part on the right; what stands above that on the left are edges.", drawn, 12 * vg.Centimeter, 8 * vg.Centimeter})
	}
	if resampled {
		drawn, left, err := picture.Inclusion(r.Network.Pairs)
		if err != nil {
			return nil, err
		}
		caption := "Each pair: its estimate, and the share of resamples whose network has it as an edge."
		if left > 0 {
			caption += fmt.Sprintf(" The pairs with the largest shares are drawn; the %d others are in pairs.csv.", left)
		}
		out = append(out, drawing{"inclusion", caption, drawn, 12 * vg.Centimeter, 8 * vg.Centimeter})
	}
	return out, nil
}

// largestOf says how many of how many pairs are drawn.
func largestOf(drawn, all int) string {
	if drawn == all {
		return fmt.Sprintf("all %d pairs", all)
	}
	return fmt.Sprintf("the %d largest of %d pairs", drawn, all)
}

// forest are the pairs with the largest estimates, from the most positive to the most
// negative, with their nodes' labels.
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

// cut is a name of at most so many characters.
func cut(name string, most int) string {
	if r := []rune(name); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return name
}
