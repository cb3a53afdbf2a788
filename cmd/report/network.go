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
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"missingscore/cmd/picture"
	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/mcar"
	"missingscore/data/network"
	"missingscore/internal/atomicfile"
	"missingscore/internal/printable"
	"missingscore/losses"
	"missingscore/trainers"
	"missingscore/trainers/inference"
	"missingscore/trainers/regpath"
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
	Table   string        // its file
	Command string        // that makes the result again
	Style   picture.Style // of its pictures
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
		if err := set.Write(path, f.write); err != nil {
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
		shown = append(shown, Picture{Caption: p.caption, SVG: svg})
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

func iterationsText(c regpath.Config) string {
	switch c.Schedule {
	case regpath.Moments:
		return fmt.Sprintf("coordinate descent on second moments, at each λ until no step moves a derivative by %g, at most %d sweeps", c.StopTol, c.MaxIter)
	case regpath.EM:
		return fmt.Sprintf("EM iterations, at each λ until %g is more than 50 would move anything, at most %d", c.StopTol, c.MaxIter)
	case regpath.Accelerated:
		return fmt.Sprintf("accelerated, at each λ until %g is more than 50 proximal gradient steps would move anything, at most %d", c.StopTol, c.MaxIter)
	}
	return fmt.Sprintf("%d at the largest λ, then %d at each; step %.4g per column", c.InitialIter, c.IterPerLambda, c.Rate)
}

func sizesText(c regpath.Config, ownEdges bool) string {
	switch {
	case ownEdges:
		return "fitted again without the penalty, on the chosen edges"
	case c.PathOnly:
		return "those of the path at the chosen λ, shrunken by the penalty"
	case !*c.Refit:
		return "those at the chosen λ, shrunken by the penalty; --refit gives them without"
	}
	return "fitted again without the penalty, on the edges of the chosen λ"
}

// writePage writes report.html. Of the pictures the explorer has the network and the path.
func writePage(w io.Writer, from Source, t *data.Table, result *trainers.Result, s *picture.Scene, nodes []network.Centrality, pictures []Picture) error {
	r, spec, e := result.Network, result.Spec, result.Estimator
	c, functions := *spec.Network, result.Model.Transform
	source := strings.ToValidUTF8(filepath.Base(from.Table), "\ufffd") // a file's name may be any bytes
	explorer, err := explore(r, s, "network", spec.Inference.Level)
	if err != nil {
		return err
	}
	page := Report{
		Title: "Network of " + source, Summary: summaryText(t, result), Explorer: explorer, Command: strings.ToValidUTF8(from.Command, "\ufffd"), Missing: newMissingMap(t, functions.Labels(t.Names)), Verdict: result.Verdict, Converged: result.Converged, Warnings: result.Warnings, Transform: functions.Describe(t.Names),
		Edges: r.Network.Edges, Pictures: pictures[2:], Gaps: result.MissingAtRandom, Columns: columnsOf(t, result, functions.Labels(t.Names)),
		Settings: [][2]string{
			{"Table", fmt.Sprintf("%s, %d rows, %d columns, %d cells missing, %d rows without any value left out", source, t.RowCount(), t.D, t.Missing(), t.Dropped)},
			{"Method", fmt.Sprintf("%s (%s): %s", e.Title, e.Name, e.Note)},
			{"Penalty", r.Ordering},
			{"Selection of λ", c.Select.Describe(result.Model.Domain.Bounded() || spec.Missingness != nil, spec.Missingness != nil && spec.Missingness.Logistic != nil)},
			{"Chosen λ", fmt.Sprintf("%.4g, number %d of %d from %.4g to %.4g", r.Lambda, r.Chosen+1, len(r.Points), c.LambdaMax, c.LambdaMin)},
			{"Iterations", iterationsText(c)},
			{"Sizes", sizesText(c, r.Choice != "")},
			{"Support", supportText(spec, result.Model.Domain, e.FitsMean(), functions.Labels(t.Names))},
			{"Missing cells", missingText(result, functions.Labels(t.Names))},
			{"Edge", fmt.Sprintf("|P_jk| > %g, columns standardised", c.Threshold)},
			{"Score-matching loss", fmt.Sprintf("%.5g per row and column", result.Loss)},
			{"Seed", strconv.FormatUint(spec.Steps.Seed, 10)},
		},
	}
	add := func(name, text string) { page.Settings = append(page.Settings, [2]string{name, text}) }
	if r.Covariates != nil {
		add("Covariates", strings.ToValidUTF8(strings.Join(r.Covariates, ", "), "\ufffd")+": held constant, without a penalty; the network is given them, and they are none of its nodes")
	}
	if t.Weights != nil {
		add("Weights", fmt.Sprintf("sampling weights of rows: an effective number of %.1f rows, by which EBIC and errors by the model go", t.EffectiveRows()))
	}
	if r.Moments != "" {
		add("Moments", r.Moments)
	}
	if r.Choice != "" {
		add("Chosen edges", r.Choice)
	}
	if found := r.Inference; found != nil {
		page.Inference, page.Level = found.Rests, spec.Inference.Level
		kind := inference.Kinds[spec.Inference.Kind]
		uncertain := fmt.Sprintf("%s: %s; intervals of %g %%", spec.Inference.Kind, kind.Note, 100*page.Level)
		if kind.Resamples {
			uncertain = fmt.Sprintf("%d × %s", spec.Inference.Resamples, uncertain)
		}
		add("Uncertainty", uncertain)
	}
	if e.Draws() {
		add("Draws", fmt.Sprintf("%d per row and step, batches of %d", spec.Steps.Draws, spec.Steps.Batch))
	}
	if e.Trains() {
		add("Imputer", fmt.Sprintf("%d steps per parameter step, Adam %g, loss %v", spec.Steps.ImputerSteps, spec.Steps.ImputerRate, spec.Steps.ImputerLoss))
	}
	if r.Stability != nil {
		add("Stability", r.Stability.Sentence())
	}
	page.Predicted = slices.ContainsFunc(nodes, func(c network.Centrality) bool { return !math.IsNaN(c.Predictability) })
	page.Centrality = nodeRows(r.Network, nodes, page.Predicted)
	return Write(w, page)
}

// supportText tells where the data can lie and how the objective is weighted.
func supportText(c trainers.Spec, s *domain.Domain, meanFitted bool, names []string) string {
	switch {
	case !s.Bounded() && c.Missingness != nil && c.Missingness.Censored != nil:
		return "all of R^d, cut at the thresholds of censored columns: the objective is weighted by the distance to them, imputed cells lie beyond"
	case !s.Bounded() && c.Missingness != nil:
		return "all of R^d"
	case !s.Bounded() && meanFitted:
		return "all of R^d; the mean is estimated along"
	case !s.Bounded():
		return "all of R^d; the mean is kept at the observed means"
	}
	var parts []string
	if bound := boundText("every column", s.Lower[0], s.Upper[0]); bound != "" && slices.Min(s.Lower) == slices.Max(s.Lower) && slices.Min(s.Upper) == slices.Max(s.Upper) {
		parts = append(parts, bound)
	} else {
		for j, name := range names {
			if bound := boundText(name, s.Lower[j], s.Upper[j]); bound != "" {
				parts = append(parts, bound)
			}
		}
	}
	if n := len(s.Half); n > 0 {
		parts = append(parts, fmt.Sprintf("%d half-space(s)", n))
	}
	cap := c.Weight.Cap
	if cap == 0 {
		cap = 1
	}
	g := "one g for each cell"
	if c.Weight.Scalar {
		g = "one g for a row"
	}
	if c.Weight.NoTangent {
		g += ", without the tangential correction"
	}
	return fmt.Sprintf("%s. A normal distribution restricted to it: precision and mean are those before the restriction. Objective weighted by the distance to the boundary, up to %.3g standard deviations (%s); imputed cells stay inside", strings.Join(parts, ", "), cap, g)
}

// summaryText is the page's first sentence.
func summaryText(t *data.Table, r *trainers.Result) string {
	missing := ", no cell missing"
	if r.Assumption != losses.NoGaps {
		missing = fmt.Sprintf(", %.1f %% of the cells missing", 100*float64(t.Missing())/float64(t.RowCount()*t.D))
		switch r.Assumption {
		case losses.MAR, losses.EstimatedLaw:
			missing += " (taken as missing at random)"
		case losses.MCAR:
			missing += " (taken as missing completely at random)"
		}
	}
	return fmt.Sprintf("%d rows, %d columns%s: %d edges.", t.RowCount(), t.D, missing, len(r.Network.Edges()))
}

func missingText(r *trainers.Result, names []string) string {
	m := r.Model.Missingness
	if m == nil && r.Assumption == losses.NoGaps {
		return "none"
	}
	if m == nil {
		return fmt.Sprintf("taken to be %v", r.Assumption)
	}
	var parts []string
	for j, name := range names {
		if m.Logistic != nil && m.Logistic.Concerns(j) {
			parts = append(parts, name+" by a logistic regression")
		}
		if c := m.Censored; c != nil && !math.IsInf(c.Above[j], 1) {
			parts = append(parts, fmt.Sprintf("%s above %.4g", name, c.Above[j]))
		} else if c != nil && !math.IsInf(c.Below[j], -1) {
			parts = append(parts, fmt.Sprintf("%s below %.4g", name, c.Below[j]))
		}
	}
	return fmt.Sprintf("taken to be %v: %s (in model.json); the mean is estimated along", r.Assumption, strings.Join(parts, ", "))
}

// boundText is how a column's bounds are written, empty if it has none.
func boundText(name string, low, high float64) string {
	switch {
	case math.IsInf(low, -1) && math.IsInf(high, 1):
		return ""
	case math.IsInf(high, 1):
		return fmt.Sprintf("%s ≥ %.4g", name, low)
	case math.IsInf(low, -1):
		return fmt.Sprintf("%s ≤ %.4g", name, high)
	}
	return fmt.Sprintf("%.4g ≤ %s ≤ %.4g", low, name, high)
}

// Column tells what was seen of a variable: counts of cells, and the mean and standard
// deviation of the observed ones in the user's units, NaN for a column of levels.
type Column struct {
	Name              string
	Observed, Missing int
	Mean, Deviation   float64
}

// Share is the part of the cells that is missing, NaN without cells.
func (c Column) Share() float64 {
	return float64(c.Missing) / float64(c.Observed+c.Missing)
}

func columnsOf(t *data.Table, result *trainers.Result, names []string) (out []Column) {
	n, ordinal := result.Network.Network, result.Model.Transform.Ordinal()
	for j, name := range names {
		seen := t.ObservedIn(j)
		c := Column{Name: name, Observed: seen, Missing: t.RowCount() - seen, Mean: result.Model.Scale.Mean[j], Deviation: result.Model.Scale.Deviation[j]}
		node := slices.Index(n.Nodes, t.Names[j]) // covariates are none
		if n.Levels != nil && node >= 0 && n.Levels[node] != nil || slices.Contains(ordinal, j) {
			c.Name, c.Mean, c.Deviation = t.Names[j], math.NaN(), math.NaN()
		}
		out = append(out, c)
	}
	return out
}

// ColumnRows are the columns of the table, in order; of more than mostRows those with most
// missing cells, most first.
func (r Report) ColumnRows() []Column {
	if len(r.Columns) <= mostRows {
		return r.Columns
	}
	rows := slices.Clone(r.Columns)
	slices.SortStableFunc(rows, func(a, b Column) int { return cmp.Compare(b.Missing, a.Missing) })
	return rows[:mostRows]
}

// GapRows are the tests of gaps, the smallest p first, at most mostRows.
func (r Report) GapRows() []mcar.Column {
	rows := slices.Clone(r.Gaps)
	slices.SortStableFunc(rows, func(a, b mcar.Column) int {
		if math.IsNaN(a.P) != math.IsNaN(b.P) { // nothing to test with: last
			return -cmp.Compare(a.P, b.P)
		}
		return cmp.Compare(a.P, b.P)
	})
	return rows[:min(len(rows), mostRows)]
}

// writeColumns writes a line for each column: name, observed, missing, mean, deviation, and of
// the test of its gaps p, p_corrected, predictor, direction; what is not known is empty.
func writeColumns(w io.Writer, columns []Column, gaps []mcar.Column) error {
	tests := map[string]mcar.Column{}
	for _, g := range gaps {
		tests[g.Name] = g
	}
	number := func(x float64) string {
		if math.IsNaN(x) {
			return ""
		}
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	c := csv.NewWriter(w)
	c.Write([]string{"name", "observed", "missing", "mean", "deviation", "p", "p_corrected", "predictor", "direction"})
	for _, column := range columns {
		g, tested := tests[column.Name]
		if !tested {
			g.P, g.Corrected = math.NaN(), math.NaN()
		}
		c.Write([]string{printable.Text(column.Name), strconv.Itoa(column.Observed), strconv.Itoa(column.Missing), number(column.Mean), number(column.Deviation),
			number(g.P), number(g.Corrected), printable.Text(g.Predictor), g.Direction})
	}
	c.Flush()
	return c.Error()
}

type nodeRow struct {
	Name  string
	Cells []barCell
}

// barCell is a number with a bar beside it, as wide as it is large in its column.
type barCell struct {
	Text     string
	Width    float64 // in rem, 0 for none
	Negative bool
}

// centralities are those of a result's nodes, with R² where the model is a normal distribution
// on all of R^d of at most mostInMatrix columns.
func centralities(result *trainers.Result) ([]network.Centrality, error) {
	r := result.Network
	out, err := r.Network.Centralities()
	if err != nil || result.Model.Domain.Bounded() || len(r.Names) > mostInMatrix {
		return out, err
	}
	whole := r.Precision
	if r.Blocks != nil {
		whole = r.Whole
	}
	shares, err := network.Predictability(whole)
	if err != nil {
		return out, nil // a fit that stopped short may have no inverse: R² is then not known
	}
	if r.Blocks == nil {
		for j, share := range shares {
			out[j].Predictability = share
		}
		return out, nil
	}
	at := 0 // first column of a node
	for j, b := range r.Blocks {
		if b.Width == 1 { // the share of a nominal column's variance is not defined
			out[j].Predictability = shares[at]
		}
		at += b.Width
	}
	return out, nil
}

// nodeRows are the nodes with the largest strengths first, at most mostRows.
func nodeRows(n *network.Network, of []network.Centrality, predicted bool) []nodeRow {
	measures := []struct {
		of     func(c network.Centrality) float64
		format string
	}{
		{func(c network.Centrality) float64 { return c.Strength }, "%.3f"},
		{func(c network.Centrality) float64 { return c.ExpectedInfluence }, "%.3f"},
		{func(c network.Centrality) float64 { return c.Closeness }, "%.3g"},
		{func(c network.Centrality) float64 { return c.Betweenness }, "%.4g"},
		{func(c network.Centrality) float64 { return c.Predictability }, "%.3f"},
	}
	if !predicted {
		measures = measures[:4]
	}
	order := make([]int, len(n.Nodes))
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(of[b].Strength, of[a].Strength) })
	var rows []nodeRow
	for _, j := range order[:min(len(order), mostRows)] {
		name := n.Nodes[j]
		if label := n.Labels[name]; label != "" {
			name = label + " (" + name + ")"
		}
		rows = append(rows, nodeRow{Name: name})
	}
	for _, m := range measures {
		largest := 0.0
		for _, c := range of {
			if v := math.Abs(m.of(c)); v > largest { // not NaN
				largest = v
			}
		}
		for i := range rows {
			v := m.of(of[order[i]])
			cell := barCell{Text: rounded(m.format, v), Negative: v < 0}
			if share := math.Abs(v) / largest; share > 0 {
				cell.Width = math.Round(300*share) / 100
			}
			rows[i].Cells = append(rows[i].Cells, cell)
		}
	}
	return rows
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

// missingMap draws which cells are missing together: a column for each of the table's columns
// that have gaps, a row for each pattern of gaps.
type missingMap struct {
	Width, Height   int
	Names, Counts   []placedText
	Seen, Gaps      string // as paths
	Caption, Spoken string
}

type placedText struct {
	X, Y int
	Text string
}

const (
	mostPatterns = 30  // that are drawn
	mostGapped   = 120 // columns that are drawn
)

// newMissingMap is nil for a table without gaps, and for one that tells of pairs of columns only.
func newMissingMap(t *data.Table, names []string) *missingMap {
	if t.Counted != nil && t.Counted.Pairs != nil {
		return nil
	}
	gaps := make([]int, t.D)
	for j := range gaps {
		gaps[j] = t.RowCount() - t.ObservedIn(j)
	}
	var columns []int
	for j, n := range gaps {
		if n > 0 {
			columns = append(columns, j)
		}
	}
	if len(columns) == 0 {
		return nil
	}
	all := len(columns)
	slices.SortStableFunc(columns, func(a, b int) int { return cmp.Compare(gaps[b], gaps[a]) })
	columns = columns[:min(all, mostGapped)]
	patterns := patternsOf(t)
	drawn := patterns[:min(len(patterns), mostPatterns)]
	m := &missingMap{}
	m.Caption = fmt.Sprintf("Patterns of missing cells: a column for each of the %d columns with gaps, most gaps first, a row for each pattern, the most frequent first, with its number of rows. Red: missing.", all)
	if all > len(columns) {
		m.Caption += fmt.Sprintf(" The %d columns with most gaps are drawn.", len(columns))
	}
	shown := 0
	for _, p := range drawn {
		shown += p.rows
	}
	if len(patterns) > len(drawn) {
		m.Caption += fmt.Sprintf(" There are %d patterns; the %d drawn are those of %d of the %d rows.", len(patterns), len(drawn), shown, t.RowCount())
	}
	m.Spoken = spoken(t, names, drawn, columns)
	m.draw(t, names, drawn, columns)
	return m
}

// pattern is rows with the same gaps: the first of them, and for how many rows they stand.
type pattern struct{ first, rows int }

func patternsOf(t *data.Table) (out []pattern) {
	for _, rows := range t.Patterns(t.AllRows()) {
		total := 0.0
		for _, i := range rows {
			total += t.Count(i)
		}
		out = append(out, pattern{rows[0], int(math.Round(total))})
	}
	slices.SortStableFunc(out, func(a, b pattern) int { return cmp.Compare(b.rows, a.rows) })
	return out
}

func spoken(t *data.Table, names []string, patterns []pattern, columns []int) string {
	var parts []string
	for _, p := range patterns[:min(len(patterns), 8)] {
		var lacking []string
		for _, j := range columns {
			if !t.Observed[p.first*t.D+j] {
				lacking = append(lacking, names[j])
			}
		}
		words := "nothing"
		if len(lacking) > 0 {
			words = strings.Join(lacking[:min(len(lacking), 6)], ", ")
			if more := len(lacking) - 6; more > 0 {
				words += fmt.Sprintf(" and %d more", more)
			}
		}
		parts = append(parts, fmt.Sprintf("%d rows lack %s", p.rows, words))
	}
	return "Missing cells by pattern: " + strings.Join(parts, "; ")
}

func (m *missingMap) draw(t *data.Table, names []string, patterns []pattern, columns []int) {
	const high, gap, most = 15, 1, 20 // of a cell; most letters of a name
	wide := max(4, min(30, 800/len(columns)))
	top := 8
	if wide >= 11 { // names have room
		letters := 0
		for _, j := range columns {
			letters = max(letters, min(most, utf8.RuneCountInString(names[j])))
		}
		top = 14 + 6*letters
		for i, j := range columns {
			m.Names = append(m.Names, placedText{i*wide + wide/2 + 4, top - 6, cut(names[j], most)})
		}
	}
	var seen, missing strings.Builder
	for row, p := range patterns {
		y := top + row*(high+gap)
		for i, j := range columns {
			to := &missing
			if t.Observed[p.first*t.D+j] {
				to = &seen
			}
			fmt.Fprintf(to, "M%d %dh%dv%dh-%dz", i*wide, y, wide-gap, high, wide-gap)
		}
		m.Counts = append(m.Counts, placedText{len(columns)*wide + 8, y + 12, fmt.Sprint(p.rows)})
	}
	m.Seen, m.Gaps = seen.String(), missing.String()
	m.Width, m.Height = max(900, len(columns)*wide+70), top+len(patterns)*(high+gap)+8
}

// cut is a name of at most so many characters.
func cut(name string, most int) string {
	if r := []rune(name); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return name
}
