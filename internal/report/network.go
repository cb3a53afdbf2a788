package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/network"
	"missingscore/internal/atomicfile"
	"missingscore/internal/picture"
	"missingscore/losses"
	"missingscore/trainers"
	"missingscore/trainers/regpath"
)

// EstimatedLaw is the file of a law of missingness that was estimated from the table. It
// is for the command to write, which knows that it was.
const EstimatedLaw = "estimated_missingness.json"

// NetworkFiles are all that a result may have.
var NetworkFiles = []string{
	"edges.csv", "pairs.csv", "centrality.csv", "columns.csv", "stability.csv", "precision.csv", "path.csv", "model.json", "network.graphml", "network.dot", "network.json", "report.html", EstimatedLaw,
	"network.svg", "network.png", "path.svg", "path.png", "roc.svg", "roc.png",
	"intervals.svg", "intervals.png", "pvalues.svg", "pvalues.png", "inclusion.svg", "inclusion.png",
}

// Source is where a result comes from, and how its nodes are shown.
type Source struct {
	Table   string            // its file
	Command string            // that makes the result again
	Groups  map[string]string // of columns; nil: modules are found
}

// WriteNetwork prepares every file of a result in a folder, model.json last, and removes those of
// an earlier one: when the set is committed. What the set has already stays.
func WriteNetwork(set *atomicfile.Set, dir string, from Source, t *data.Table, result *trainers.Result, rates []network.Rate) error {
	r := result.Network
	scene, err := picture.NewScene(r.Network, from.Groups)
	if err != nil {
		return err
	}
	pictures, err := drawNetwork(r, scene, *result.Spec.Network.Refit && !result.Spec.Network.PathOnly, rates)
	if err != nil {
		return err
	}
	nodes, err := centralities(result)
	if err != nil {
		return err
	}
	shown, err := save(set, dir, pictures)
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
		{"path.csv", func(w io.Writer) error { return r.WritePath(w, rates) }},
		{"report.html", func(w io.Writer) error { return writePage(w, from, t, result, scene, nodes, shown) }},
	}
	if len(r.Names) <= mostInMatrix {
		files = append(files, file{"precision.csv", func(w io.Writer) error { return network.WritePrecision(w, r.Names, r.Precision) }})
	}
	if r.Inference != nil {
		files = append(files, file{"pairs.csv", r.Network.WritePairs})
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

// file of a result.
type file struct {
	name  string
	write func(io.Writer) error
}

// write prepares files of a folder.
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

// drawing is a picture with its size.
type drawing struct {
	name, caption string
	plot          *plot.Plot
	width, height vg.Length
}

// save prepares pictures as files, and gives them as they stand in the page.
func save(set *atomicfile.Set, dir string, pictures []drawing) (shown []Picture, err error) {
	for _, p := range pictures {
		svg, err := picture.SVG(p.plot, p.width, p.height)
		if err != nil {
			return nil, err
		}
		shown = append(shown, Picture{Caption: p.caption, SVG: svg})
		for _, suffix := range []string{".svg", ".png"} {
			encoded, err := picture.Encode(suffix, p.plot, p.width, p.height)
			if err != nil {
				return nil, err
			}
			if err := write(set, dir, []file{{p.name + suffix, encoded}}); err != nil {
				return nil, err
			}
		}
	}
	return shown, nil
}

func drawNetwork(r *trainers.NetworkResult, s *picture.Scene, refitted bool, rates []network.Rate) ([]drawing, error) {
	side := 14 * vg.Centimeter
	if len(r.Names) > 30 {
		side = 24 * vg.Centimeter
	}
	n, err := picture.Network(r.Network, s)
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
	case refitted:
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
		{"network", shown + " Blue and solid: positive partial correlation; red and dashed: negative; the wider, the stronger.", n, side, side},
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
	uncertain, err := drawUncertainty(r)
	return append(out, uncertain...), err
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
	sizes := map[[2]string]float64{}
	for _, e := range r.Network.Edges {
		sizes[[2]string{e.From, e.To}] = e.PartialCorrelation
	}
	for _, pair := range pairs {
		j, k := pair[0], pair[1]
		c := picture.Curve{Name: picture.PairName(r.Network.Label(r.Names[j]), r.Network.Label(r.Names[k])), Chosen: r.Adjacency.Has(j, k), Size: sizes[[2]string{r.Names[j], r.Names[k]}]}
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
	page := describe(from.Table, t, result, pictures[2:])
	var err error
	if page.Explorer, err = explore(result.Network, s, "network", result.Spec.Inference.Level); err != nil {
		return err
	}
	page.Command = strings.ToValidUTF8(from.Command, "\ufffd")
	page.Predicted = slices.ContainsFunc(nodes, func(c network.Centrality) bool { return !math.IsNaN(c.Predictability) })
	page.Centrality = nodeRows(result.Network.Network, nodes, page.Predicted)
	page.Missing = newMissingMap(t, result.Model.Transform.Labels(t.Names))
	return Write(w, page)
}

func describe(source string, t *data.Table, result *trainers.Result, pictures []Picture) Report {
	r, s, e := result.Network, result.Spec, result.Estimator
	c, functions := *s.Network, result.Model.Transform
	source = strings.ToValidUTF8(filepath.Base(source), "\ufffd") // a file's name may be any bytes
	page := Report{
		Title: "Network of " + source, Verdict: result.Verdict, Converged: result.Converged, Warnings: result.Warnings, Transform: functions.Describe(t.Names),
		Edges: r.Network.Edges, Pictures: pictures, Gaps: result.MissingAtRandom, Columns: columnsOf(t, result, functions.Labels(t.Names)),
		Settings: [][2]string{
			{"Table", fmt.Sprintf("%s, %d rows, %d columns, %d cells missing, %d rows without any value left out", source, t.RowCount(), t.D, t.Missing(), t.Dropped)},
			{"Method", fmt.Sprintf("%s (%s): %s", e.Title, e.Name, e.Note)},
			{"Penalty", r.Ordering},
			{"Selection of λ", c.Select.Describe(result.Model.Domain.Bounded() || s.Missingness != nil, s.Missingness != nil && s.Missingness.Logistic != nil)},
			{"Chosen λ", fmt.Sprintf("%.4g, number %d of %d from %.4g to %.4g", r.Lambda, r.Chosen+1, len(r.Points), c.LambdaMax, c.LambdaMin)},
			{"Iterations", iterationsText(c)},
			{"Sizes", sizesText(c, r.Choice != "")},
			{"Support", supportText(s, result.Model.Domain, e.FitsMean(), functions.Labels(t.Names))},
			{"Missing cells", missingText(result, functions.Labels(t.Names))},
			{"Edge", fmt.Sprintf("|P_jk| > %g, columns standardised", c.Threshold)},
			{"Score-matching loss", fmt.Sprintf("%.5g per row and column", result.Loss)},
			{"Seed", strconv.FormatUint(s.Steps.Seed, 10)},
		},
	}
	if r.Covariates != nil {
		page.Settings = append(page.Settings, [2]string{"Covariates", strings.ToValidUTF8(strings.Join(r.Covariates, ", "), "\ufffd") + ": held constant, without a penalty; the network is given them, and they are none of its nodes"})
	}
	if t.Weights != nil {
		page.Settings = append(page.Settings, [2]string{"Weights", fmt.Sprintf("sampling weights of rows: an effective number of %.1f rows, by which EBIC and errors by the model go", t.EffectiveRows())})
	}
	if r.Moments != "" {
		page.Settings = append(page.Settings, [2]string{"Moments", r.Moments})
	}
	if r.Choice != "" {
		page.Settings = append(page.Settings, [2]string{"Chosen edges", r.Choice})
	}
	if found := r.Inference; found != nil {
		page.Inference, page.Level = found.Rests, s.Inference.Level
		page.Settings = append(page.Settings, [2]string{"Uncertainty", inferenceText(s.Inference)})
	}
	if e.Draws() {
		page.Settings = append(page.Settings, [2]string{"Draws", fmt.Sprintf("%d per row and step, batches of %d", s.Steps.Draws, s.Steps.Batch)})
	}
	if e.Trains() {
		page.Settings = append(page.Settings, [2]string{"Imputer", fmt.Sprintf("%d steps per parameter step, Adam %g, loss %v", s.Steps.ImputerSteps, s.Steps.ImputerRate, s.Steps.ImputerLoss)})
	}
	if r.Stability != nil {
		page.Settings = append(page.Settings, [2]string{"Stability", r.Stability.Sentence()})
	}
	return page
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
	if bound := boundText("every column", s.Lower[0], s.Upper[0]); bound != "" && allEqual(s.Lower) && allEqual(s.Upper) {
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

// missingText tells what the result takes missing cells for, and the law, where there is one.
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

func allEqual(x []float64) bool { return slices.Min(x) == slices.Max(x) }
