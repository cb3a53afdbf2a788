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

	"missingscore/cmd/picture"
	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/internal/data/mcar"
	"missingscore/internal/data/network"
	"missingscore/internal/printable"
	"missingscore/internal/trainers/inference"
	"missingscore/internal/trainers/regpath"
	"missingscore/losses"
	"missingscore/trainers"
)

func writePage(w io.Writer, from Source, t *data.Table, result *trainers.Result, s *picture.Scene, nodes []network.Centrality, sizes []float64, pictures []Picture) error {
	r, functions := result.Network, result.Model.Transform
	x := explore(r, s, result.Spec.Inference.Level)
	x.size(from.Style.NodeSize, sizes)
	source := strings.ToValidUTF8(filepath.Base(from.Table), "\ufffd") // a file's name may be any bytes
	if found := r.Inference; found != nil && found.Rests != "" && len(r.Network.Edges) > 0 {
		x.Note = fmt.Sprintf("Estimates with %g %% intervals; grey if the interval contains 0. ", 100*result.Spec.Inference.Level)
		if kind := inference.Kinds[result.Spec.Inference.Kind]; !kind.Resamples {
			x.Note += "They rest on "
		}
		x.Note += strings.TrimSuffix(found.Rests, ".") + "."
	} else if len(r.Network.Edges) > 0 {
		x.Note = "No intervals: " + cmp.Or(from.NoIntervals, "--inference gives them") + "."
	}
	x.EdgesNote = edgesNote(x, r, functions.Describe(t.Names))
	p := page{
		Title: "Network of " + source, Lead: summaryText(t, result), Explorer: x,
		Warnings: slices.Concat(data.LeftOutLines(t.LeftOut, 8), result.Warnings),
	}
	if !result.Converged {
		p.Verdict = result.Verdict
	}
	add := func(title, note string, t *table) {
		if t != nil && len(t.Rows) > 0 {
			p.Sections = append(p.Sections, section{Title: title, Note: note, Table: t})
		}
	}
	columns := columnsOf(t, result, functions.Labels(t.Names))
	add(nodeTable(r.Network, nodes))
	p.Sections = append(p.Sections, others(pictures)...)
	add(columnTable(columns))
	add(patternTable(t, functions.Labels(t.Names)))
	add(gapTable(result.MissingAtRandom))
	add("Methods", "", settings(methods(source, t, result)))
	p.Sections = append(p.Sections, from.Made.section())
	return p.write(w)
}

const mostRows = 1000

// first returns at most mostRows items, and a note if that is not all.
func first[T any](list []T, file string) ([]T, string) {
	if len(list) <= mostRows {
		return list, ""
	}
	return list[:mostRows], fmt.Sprintf(" The first %d of %d are shown; %s has all.", mostRows, len(list), file)
}

func edgesNote(x *explorer, r *trainers.NetworkResult, transform string) string {
	_, more := first(r.Network.Edges, "edges.csv")
	note := "Strongest first." + more
	if transform != "" {
		note += " Partial correlations of transformed columns: " + transform + "."
	}
	if x.Unsigned != nil {
		note += " Edges of nominal columns have no sign."
	}
	if r.Inference != nil {
		note += " pairs.csv has all pairs."
	}
	if x.Q != nil {
		note += " q is p adjusted for the number of pairs: about one in ten edges with q ≤ 0.1 is false."
	}
	return note
}

func nodeTable(n *network.Network, of []network.Centrality) (title, note string, t *table) {
	predicted := slices.ContainsFunc(of, func(c network.Centrality) bool { return !math.IsNaN(c.Predictability) })
	order := make([]int, len(n.Nodes))
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(of[b].Strength, of[a].Strength) })
	order, more := first(order, "centrality.csv")
	t = &table{ID: "centrality", Words: 1, Head: []string{"node", "strength", "expected influence", "closeness", "betweenness"}}
	note = "Strength sums the absolute partial correlations of a node, expected influence the signed ones. Closeness and betweenness use shortest paths with lengths 1/|r|."
	if predicted {
		t.Head = append(t.Head, "R²")
		note += " R² is the share of variance that the other columns explain."
	}
	for _, j := range order {
		name, c := n.Nodes[j], of[j]
		if label := n.Labels[name]; label != "" {
			name = label + " (" + name + ")"
		}
		cells := []string{name, rounded("%.3f", c.Strength), rounded("%.3f", c.ExpectedInfluence), rounded("%.3g", c.Closeness), rounded("%.4g", c.Betweenness)}
		if predicted {
			cells = append(cells, rounded("%.3f", c.Predictability))
		}
		t.add(cells...)
	}
	return "Nodes: centrality", note + " The order of nodes is less certain than the edges." + more, t
}

func columnTable(columns []Column) (title, note string, t *table) {
	if len(columns) > mostRows {
		columns = slices.Clone(columns)
		slices.SortStableFunc(columns, func(a, b Column) int { return cmp.Compare(b.Missing, a.Missing) })
		note = "Most missing cells first."
	}
	columns, more := first(columns, "columns.csv")
	t = &table{Words: 1, Head: []string{"column", "observed", "missing", "mean", "sd"}}
	for _, c := range columns {
		share := float64(c.Missing) / float64(c.Observed+c.Missing)
		t.add(c.Name, strconv.Itoa(c.Observed), rounded("%.1f %%", 100*share), rounded("%.4g", c.Mean), rounded("%.4g", c.Deviation))
	}
	return "Columns", note + more, t
}

const mostPatterns = 30

func patternTable(of *data.Table, names []string) (title, note string, t *table) {
	if of.Complete() || of.Counted != nil && of.Counted.Pairs != nil {
		return "", "", nil
	}
	t = &table{Words: 1, Head: []string{"missing columns", "number", "rows"}}
	type pattern struct{ first, rows int }
	var patterns []pattern
	for _, rows := range of.Patterns(of.AllRows()) {
		total := 0.0
		for _, i := range rows {
			total += of.Count(i)
		}
		patterns = append(patterns, pattern{rows[0], int(math.Round(total))})
	}
	slices.SortStableFunc(patterns, func(a, b pattern) int { return cmp.Compare(b.rows, a.rows) })
	note = fmt.Sprintf("%d patterns of missing cells, the most frequent first.", len(patterns))
	if len(patterns) > mostPatterns {
		note = fmt.Sprintf("The %d most frequent of %d patterns of missing cells.", mostPatterns, len(patterns))
	}
	for _, p := range patterns[:min(len(patterns), mostPatterns)] {
		var missing []string
		for j, name := range names {
			if !of.Observed[p.first*of.D+j] {
				missing = append(missing, name)
			}
		}
		number := strconv.Itoa(len(missing))
		if more := len(missing) - 8; more > 0 {
			missing = append(missing[:8], fmt.Sprintf("%d more", more))
		}
		t.add(cmp.Or(strings.Join(missing, ", "), "none"), number, strconv.Itoa(p.rows))
	}
	return "Missing cells by pattern", note, t
}

func gapTable(gaps []mcar.Column) (title, note string, t *table) {
	gaps = slices.Clone(gaps)
	slices.SortStableFunc(gaps, func(a, b mcar.Column) int {
		if math.IsNaN(a.P) != math.IsNaN(b.P) { // too few to test: last
			return -cmp.Compare(a.P, b.P)
		}
		return cmp.Compare(a.P, b.P)
	})
	gaps, more := first(gaps, "columns.csv")
	t = &table{Words: 2, Head: []string{"column", "missing more often where", "missing", "p", "adjusted p"}}
	for _, g := range gaps {
		t.add(g.Name, g.Where(), strconv.Itoa(g.Missing), pText(g.P), pText(g.Corrected))
	}
	return "Are cells missing completely at random?", "An adjusted p (Holm) below 0.05 is evidence that the column's gaps depend on other columns. No test shows whether gaps depend on the missing values." + more, t
}

func methods(source string, t *data.Table, result *trainers.Result) [][2]string {
	r, spec, e := result.Network, result.Spec, result.Estimator
	c := *spec.Network
	out := [][2]string{
		{"Table", fmt.Sprintf("%s, %d rows, %d columns, %d cells missing, %d rows without any value left out", source, t.RowCount(), t.D, t.Missing(), t.Dropped)},
		{"Method", fmt.Sprintf("%s (%s): %s", e.Title, e.Name, e.Note)},
		{"Penalty", r.Ordering},
		{"Selection of λ", c.Select.Describe(result.Model.Domain.Bounded() || spec.Missingness != nil, spec.Missingness != nil && spec.Missingness.Logistic != nil)},
		{"Chosen λ", fmt.Sprintf("%.4g, number %d of %d from %.4g to %.4g", r.Lambda, r.Chosen+1, len(r.Points), c.LambdaMax, c.LambdaMin)},
		{"Sizes", sizesText(c, r.Choice != "")},
		{"Support", supportText(spec, result.Model.Domain, e.FitsMean())},
		{"Missing cells", missingText(result)},
		{"Edge", fmt.Sprintf("|P_jk| > %g, columns standardised", c.Threshold)},
		{"Score-matching loss", fmt.Sprintf("%.5g per row and column", result.Loss)},
		{"Verdict", result.Verdict},
	}
	add := func(name, text string) {
		if text != "" {
			out = append(out, [2]string{name, text})
		}
	}
	if r.Covariates != nil {
		add("Covariates", strings.ToValidUTF8(strings.Join(r.Covariates, ", "), "\ufffd")+": partial correlations adjust for them; they are not nodes")
	}
	if t.Weights != nil {
		add("Weights", fmt.Sprintf("sampling weights of rows; effective sample size %.1f, used by EBIC and standard errors", t.EffectiveRows()))
	}
	add("Moments", r.Moments)
	add("Chosen edges", r.Choice)
	if found := r.Inference; found != nil {
		kind := inference.Kinds[spec.Inference.Kind]
		uncertain := fmt.Sprintf("%s: %s; intervals of %g %%", spec.Inference.Kind, kind.Note, 100*spec.Inference.Level)
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
	return out
}

func summaryText(t *data.Table, r *trainers.Result) string {
	missing := "no cell missing"
	if r.Assumption != losses.NoGaps {
		missing = fmt.Sprintf("%.1f %% of the cells missing", 100*float64(t.Missing())/float64(t.RowCount()*t.D))
		switch r.Assumption {
		case losses.MAR, losses.EstimatedLaw:
			missing += " (assumed missing at random)"
		case losses.MCAR:
			missing += " (assumed missing completely at random)"
		}
	}
	d := len(r.Network.Names)
	return fmt.Sprintf("%d rows, %d columns, %s: %d of %d edges.", t.RowCount(), t.D, missing, len(r.Network.Edges()), d*(d-1)/2)
}

func sizesText(c regpath.Config, ownEdges bool) string {
	switch {
	case ownEdges:
		return "refitted without the penalty on the chosen edges"
	case c.PathOnly:
		return "from the path at the chosen λ, shrunken by the penalty"
	case !*c.Refit:
		return "at the chosen λ, shrunken by the penalty; --refit removes the shrinkage"
	}
	return "refitted without the penalty on the edges of the chosen λ"
}

func supportText(c trainers.Spec, s *domain.Domain, meanFitted bool) string {
	switch {
	case !s.Bounded() && c.Missingness != nil && c.Missingness.Censored != nil:
		return "R^d with thresholds of censored columns; imputed cells lie beyond them"
	case !s.Bounded() && (meanFitted || c.Missingness != nil):
		return "R^d; the mean is estimated"
	case !s.Bounded():
		return "R^d; the mean is fixed at the observed means"
	}
	return "bounds as in the command below and in model.json. Precision and mean describe the unrestricted normal distribution. The objective is weighted by the distance to the boundary; imputed cells stay inside"
}

func missingText(r *trainers.Result) string {
	switch {
	case r.Model.Missingness != nil:
		return fmt.Sprintf("assumed %v (in model.json); the mean is estimated", r.Assumption)
	case r.Assumption == losses.NoGaps:
		return "none"
	}
	return fmt.Sprintf("assumed %v", r.Assumption)
}

// Column summarises a column; mean and standard deviation are NaN for levels.
type Column struct {
	Name              string
	Observed, Missing int
	Mean, Deviation   float64
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
	lines := [][]string{{"name", "observed", "missing", "mean", "deviation", "p", "p_corrected", "predictor", "direction"}}
	for _, column := range columns {
		g, tested := tests[column.Name]
		if !tested {
			g.P, g.Corrected = math.NaN(), math.NaN()
		}
		lines = append(lines, []string{printable.Text(column.Name), strconv.Itoa(column.Observed), strconv.Itoa(column.Missing), number(column.Mean), number(column.Deviation),
			number(g.P), number(g.Corrected), printable.Text(g.Predictor), g.Direction})
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// measured are the centralities of nodes, and the column that node sizes show.
func measured(result *trainers.Result, style picture.Style) (nodes []network.Centrality, sizes []float64, err error) {
	nodes = centralities(result)
	result.Network.Network.SetBridges(nodes, style.GroupOf)
	sizes, err = CentralityColumn(result.Network.Names, nodes, style.NodeSize)
	return nodes, sizes, err
}

// R² is included for Gaussian models on R^d with at most mostInMatrix columns.
func centralities(result *trainers.Result) []network.Centrality {
	r := result.Network
	out := r.Network.Centralities()
	if result.Model.Domain.Bounded() || len(r.Names) > mostInMatrix {
		return out
	}
	whole := r.Precision
	if r.Blocks != nil {
		whole = r.Whole
	}
	shares, err := network.Predictability(whole)
	if err != nil {
		return out // a fit that stopped short may have no inverse: R² is then not known
	}
	at := 0 // first column of a node
	for j := range out {
		width := 1
		if r.Blocks != nil {
			width = r.Blocks[j].Width
		}
		if width == 1 { // the share of a nominal column's variance is not defined
			out[j].Predictability = shares[at]
		}
		at += width
	}
	return out
}
