package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/spatial/r2"
	"gonum.org/v1/plot/vg"

	"missingscore/cmd/picture"
	"missingscore/data"
	"missingscore/internal/atomicfile"
	"missingscore/internal/data/network"
	"missingscore/internal/printable"
	"missingscore/trainers"
	"missingscore/trainers/compare"
	"missingscore/trainers/power"
)

var CompareFiles = append(pictureFiles("networks", "differences", "intervals"), "differences.csv", "layout.csv", "compare.json", "report.html")

// DifferenceRate is the q value up to which pairs are marked as different.
const DifferenceRate = 0.1

type Group struct {
	Name   string // as "gender male" or "women"
	Folder string // below the comparison's, with its own results
	Table  *data.Table
	Result *trainers.Result
}

type Comparison struct {
	Made
	Groups   [2]Group
	Style    picture.Style // of its pictures
	Result   *compare.Result
	Warnings []string
	Without  string         // how many rows are of no group; "" for none
	JSON     map[string]any // compare.json
}

// Differing are the pairs with q ≤ DifferenceRate, smallest q first.
func (c Comparison) Differing() (out []compare.Difference) {
	return slices.DeleteFunc(c.Ranked(), func(d compare.Difference) bool { return !(certain(d).Q <= DifferenceRate) })
}

// certain are the numbers of the estimates, by standard errors, or by permutation for a pair without.
func certain(d compare.Difference) network.Uncertainty {
	u := network.Unknown(0)
	u.Estimate, u.Low, u.High, u.P, u.Q = d.Value, d.Low, d.High, d.P, d.Q
	if e := d.Estimates; e != nil && !math.IsNaN(e.Q) {
		u.Estimate, u.Low, u.High, u.P, u.Q = e.Value, e.Low, e.High, e.P, e.Q
	}
	return u
}

func (c Comparison) Ranked() []compare.Difference {
	ranked := slices.Clone(c.Result.Pairs)
	slices.SortStableFunc(ranked, func(a, b compare.Difference) int {
		return cmp.Or(cmp.Compare(certain(a).Q, certain(b).Q), cmp.Compare(a.P, b.P), cmp.Compare(math.Abs(b.Value), math.Abs(a.Value)))
	})
	return ranked
}

func (c Comparison) scene() *picture.Scene {
	return picture.NewScene(picture.Between(c.Groups[0].Result.Network.Network, c.Groups[1].Result.Network.Network), c.Style)
}

// Shared is the style of the pictures of single groups, with the common places and line widths.
func (c Comparison) Shared() picture.Style {
	style, s := c.Style, c.scene()
	style.Layout = map[string]r2.Vec{}
	for i, name := range c.Groups[0].Result.Network.Names {
		if s.Shown[i] {
			style.Layout[name] = s.Places[i]
		}
	}
	style.Maximum = 0
	for _, g := range c.Groups {
		limits, _ := c.Style.Of(g.Result.Network.Network)
		style.Maximum = max(style.Maximum, limits.Maximum)
	}
	return style
}

// WriteComparison adds all files except the networks' own; compare.json is last.
func WriteComparison(set *atomicfile.Set, dir string, c Comparison) error {
	both := c.Groups
	s := c.scene()
	var sizes [2][]float64 // of nodes in both networks; nil for none
	for i, g := range both {
		var err error
		if _, sizes[i], err = measured(g.Result, c.Style); err != nil {
			return err
		}
	}
	shown, err := save(set, dir, drawComparison(c, s, sizes), c.Style.Theme)
	if err != nil {
		return err
	}
	if err := write(set, dir, []file{
		{"differences.csv", func(w io.Writer) error {
			return c.Result.WriteDifferences(w, [2]string{both[0].Name, both[1].Name})
		}},
		{"layout.csv", func(w io.Writer) error { return s.WriteLayout(w, both[0].Result.Network.Names) }},
		{"report.html", func(w io.Writer) error {
			x := c.explore(s)
			x.size(c.Style.NodeSize, sizes[:]...)
			return c.page(x, shown).write(w)
		}},
		{"compare.json", func(w io.Writer) error { return json.NewEncoder(printable.Writer{W: w}).Encode(c.JSON) }},
	}); err != nil {
		return err
	}
	set.Clear(dir, CompareFiles)
	return nil
}

func drawComparison(c Comparison, s *picture.Scene, sizes [2][]float64) (out []drawing) {
	names := c.Groups[0].Result.Network.Names
	var marked [][2]int
	changes := &network.Network{Nodes: names}
	for _, d := range c.Differing() {
		marked = append(marked, d.Ends)
		changes.Edges = append(changes.Edges, changes.Edge(d.Ends[0], d.Ends[1], 0, certain(d).Estimate))
	}
	side := s.Side()
	var both [2]picture.TitledNetwork
	for i, g := range c.Groups {
		both[i] = picture.TitledNetwork{Title: g.Name, Network: g.Result.Network.Network, Sizes: sizes[i]}
	}
	out = append(out, drawing{"networks", "", picture.Pair("Partial correlation networks", both, marked, s), 2 * side, side})
	none := fmt.Sprintf("no pair of %d differs at q ≤ %g", len(c.Result.Pairs), DifferenceRate)
	p := picture.Differences([2]string{both[0].Title, both[1].Title}, changes, none, s)
	out = append(out, drawing{"differences", fmt.Sprintf("Partial correlations of %s minus %s for the %d of %d pairs with q ≤ %g. Blue: larger in %[1]s; red, dashed: larger in %[2]s.", c.Groups[0].Name, c.Groups[1].Name, len(changes.Edges), len(c.Result.Pairs), DifferenceRate), p, side, side})
	if shown := differences(c.Result.Pairs, c.Groups[0].Result.Network.Network.Labels); len(shown) > 0 {
		x := fmt.Sprintf("partial correlation, %s minus %s", c.Groups[0].Name, c.Groups[1].Name)
		out = append(out, drawForest(shown, len(c.Result.Pairs), c.Result.Config.Level, " by permutation", x))
	}
	return out
}

func differences(pairs []compare.Difference, labels map[string]string) []network.Edge {
	n := &network.Network{Labels: labels}
	for _, d := range pairs {
		if d.Value == 0 {
			continue
		}
		u := network.Unknown(0)
		u.Estimate, u.Low, u.High = d.Value, d.Low, d.High
		n.Pairs = append(n.Pairs, network.Edge{From: d.From, To: d.To, Uncertainty: &u})
	}
	return forest(n)
}

// Verdict says where the networks differ: structure, global strength (p ≤ 0.05) or edges.
func (c Comparison) Verdict() string {
	const level = 0.05
	var in []string
	if c.Result.Structure.P <= level {
		in = append(in, "structure")
	}
	if c.Result.Strength.P <= level {
		in = append(in, "global strength")
	}
	if n := len(c.Differing()); n > 0 {
		in = append(in, fmt.Sprintf("%d of %d edges", n, len(c.Result.Pairs)))
	}
	if in == nil {
		return "No evidence that the networks differ."
	}
	return "The networks differ in " + strings.Join(in, " and in ") + "."
}

func (c Comparison) differencesNote(x *explorer) string {
	note := fmt.Sprintf("%s minus %s with %g %% intervals; grey if the interval contains 0.", c.Groups[0].Name, c.Groups[1].Name, 100*c.Result.Config.Level)
	if x.Low == nil || slices.ContainsFunc(x.Low, math.IsNaN) {
		note += " A pair has none with too few permutations, or too few networks with its edge."
	}
	return note
}

func (c Comparison) page(x *explorer, pictures []Picture) page {
	a, b, r := c.Groups[0], c.Groups[1], c.Result
	s := a.Result.Spec
	p := page{
		Title: fmt.Sprintf("Networks of %s and %s", a.Name, b.Name), Explorer: x, Warnings: slices.Concat(data.LeftOutLines(a.Table.LeftOut, 8), c.Warnings),
		Lead: fmt.Sprintf("%s %s: %d rows, %d edges; %s: %d rows, %d edges. Test of structure: p %s; of global strength: p %s.", c.Verdict(), a.Name, a.Table.RowCount(), len(a.Result.Network.Edges()), b.Name, b.Table.RowCount(), len(b.Result.Network.Edges()), pText(r.Structure.P), pText(r.Strength.P)),
	}
	for _, g := range c.Groups {
		if !g.Result.Converged {
			p.Verdict = g.Name + ": " + g.Result.Verdict
		}
	}
	if len(x.From) > 0 {
		x.Note = c.differencesNote(x)
		x.EdgesNote = "Smallest q first. q is p adjusted for the number of pairs: about one in ten pairs with q ≤ 0.1 is false. differences.csv has all pairs."
	}
	if r.Pairs[0].Estimates != nil && a.Result.Network.Inference.Rests != "" {
		x.EdgesNote += fmt.Sprintf(" Tests use the standard errors of the estimates (%s), and permutations for a pair without one.", a.Result.Network.Inference.Rests)
	}
	tests := &table{Words: 2, Head: []string{"test", "statistic", "value", "p"}}
	tests.add("structure", "M: largest absolute difference of a partial correlation", rounded("%.3f", r.Structure.Observed), pText(r.Structure.P))
	tests.add("global strength", fmt.Sprintf("S: absolute difference of the sums of absolute partial correlations, %s and %s", rounded("%.4g", r.Strengths[0]), rounded("%.4g", r.Strengths[1])), rounded("%.3f", r.Strength.Observed), pText(r.Strength.P))
	p.Sections = append(p.Sections,
		section{Title: "Tests of the whole network", Note: "p is the share of permutations with a statistic at least as large as observed.", Table: tests})
	p.Sections = append(p.Sections, others(pictures)...)
	if len(r.Gaps) > 0 {
		gaps := &table{Words: 1, Head: []string{"column", a.Name, b.Name, "p", "adjusted p"}}
		for _, g := range r.Gaps {
			gaps.add(g.Name, fmt.Sprintf("%d of %d", g.Missing[0], g.Rows[0]), fmt.Sprintf("%d of %d", g.Missing[1], g.Rows[1]), pText(g.P), pText(g.Corrected))
		}
		p.Sections = append(p.Sections, section{Title: "Missing cells", Note: "Fisher's exact test of equal shares of missing cells in both groups; p adjusted by Holm's method.", Table: gaps})
	}
	methods := [][2]string{}
	for i, g := range c.Groups {
		t := g.Table
		methods = append(methods, [2]string{fmt.Sprintf("Table %c", 'a'+i), strings.ToValidUTF8(fmt.Sprintf("%s: %d rows, %d columns, %d cells missing; λ %.4g, %d edges; report in %s/. %s", g.Name, t.N, t.D, t.Missing(), g.Result.Network.Lambda, len(g.Result.Network.Edges()), g.Folder, g.Result.Verdict), "\ufffd")})
	}
	if c.Without != "" {
		methods = append(methods, [2]string{"Left out", c.Without})
	}
	e := a.Result.Estimator
	methods = append(methods, [2]string{"Method", fmt.Sprintf("%s (%s): %s", e.Title, e.Name, e.Note)},
		[2]string{"Selection of λ", s.Network.Select.Describe(a.Result.Model.Domain.Bounded() || s.Missingness != nil, s.Missingness != nil && s.Missingness.Logistic != nil)},
		[2]string{"Permutations", fmt.Sprintf("%d; each exchanges rows with their gaps and estimates both networks again", r.Config.Permutations)})
	p.Sections = append(p.Sections, section{Title: "Methods", Table: settings(methods)}, c.Made.section())
	return p
}

var PowerFiles = append(pictureFiles("power"), "power.csv", "power.json", "report.html")

// Power is how many rows a network needs, as its page shows it.
type Power struct {
	Made
	Answer   string
	Result   *power.Result
	Theme    picture.Theme
	Settings [][2]string
	JSON     map[string]any // power.json
}

func WritePower(set *atomicfile.Set, dir string, p Power) error {
	shown, err := save(set, dir, []drawing{drawPower(p.Result)}, p.Theme)
	if err != nil {
		return err
	}
	return write(set, dir, []file{
		{"power.csv", p.Result.Write},
		{"report.html", func(w io.Writer) error { return p.page(&shown[0]).write(w) }},
		{"power.json", func(w io.Writer) error { return json.NewEncoder(w).Encode(p.JSON) }},
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
