package cmd

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/floats"

	"missingscore/cmd/picture"
	"missingscore/cmd/report"
	"missingscore/data"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/atomicfile"
	"missingscore/internal/data/simulate"
	"missingscore/internal/data/transform"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/inference"
	"missingscore/trainers"
	"missingscore/trainers/fitted"
	"missingscore/trainers/power"
	"missingscore/trainers/replicate"
)

type powerCommand struct {
	networkFlags
	truthFlags
	out   string
	study power.Config

	problem power.Problem
	source  string // of the truth and its gaps, in words
	result  *power.Result
	page    report.Power
	theme   picture.Theme
}

func newPowerCommand() *cobra.Command {
	var f powerCommand
	cmd := &cobra.Command{
		Use:   "power --like RESULT --table TABLE.csv | --d D [--graph SHAPE] [--missing P]",
		Short: "Tell how many rows a network needs, by simulation with gaps",
		Long: `Draw tables of increasing size from a known network, hide cells, estimate each network as
the command network does, and count the true edges that it finds.

The known network is an earlier result (--like) with the gaps of the rows in --table, or a
shape of --d columns (--graph), whose edges have the partial correlation --strength:

  random  --edges edges among all pairs      chain  each column and the next
  hub     stars of ten columns               star   the first column and all others

An estimated network overstates the strength of its edges, so that --like gives a lower
bound of the sample size.

Files in --out: power.csv, power.json, pictures and report.html.`,
		Example: `  missingscore power --d 10 --graph chain --missing 0.2 --rows 50,100,200,400 --tables 40 --out rows
  missingscore power --like air --table examples/airquality.csv --out air/rows`,
		Args: exactArgs(0, "no argument but flags"),
		RunE: func(cmd *cobra.Command, args []string) error { return climb(cmd, args, &f) },
	}
	f.truthFlags.add(cmd)
	f.tableFlags.addFormat(cmd)
	f.addSteps(cmd)
	f.addPath(cmd, "auto up to 100 columns")
	fl := cmd.Flags()
	fl.StringVar(&f.out, "out", "power", "`folder` for the results")
	addTheme(cmd, &f.theme)
	fl.IntSliceVar(&f.study.Rows, "rows", nil, "sample `sizes` a,b,c (default: six, doubled from 50 or 2 per column)")
	fl.IntVar(&f.study.Tables, "tables", power.DefaultTables, "simulated tables per sample size")
	fl.Float64Var(&f.study.Sensitivity, "sensitivity", power.DefaultSensitivity, "`share` of true edges to find")
	fl.Float64Var(&f.study.Level, "level", inference.DefaultLevel, "level of confidence intervals")
	return cmd
}

func (f *powerCommand) outputs() []string { return []string{f.out} }
func (f *powerCommand) states() []string  { return []string{filepath.Join(f.out, stateFile)} }

func (f *powerCommand) options(cmd *cobra.Command, _ []string) error {
	if err := cmp.Or(f.truthFlags.check(cmd), nonZero(cmd, "tables", "sensitivity"), f.theme.Check(), f.parseNetwork(cmd)); err != nil {
		return err
	}
	if f.like != "" && (sameFile(f.out, f.like) || sameFile(f.out, filepath.Dir(f.like))) {
		return usageError{fmt.Errorf("--out: %s holds the report of --like; choose another folder", f.out)}
	}
	return distinctFiles(cmd, inFolder(f.out, append(slices.Clone(report.PowerFiles), stateFile)...)...)
}

func (f *powerCommand) load(cmd *cobra.Command, _ []string) (err error) {
	o, err := f.tableFlags.options()
	if err != nil {
		return err
	}
	f.study.Seed = f.spec.Steps.Seed
	if f.problem.Truth, f.problem.Gaps, f.source, err = f.truthFlags.read(o, f.config.Threshold, f.study.Seed); err != nil {
		return err
	}
	d := len(f.problem.Truth.Names)
	if f.study, err = f.study.Resolve(d); err != nil {
		return err
	}
	most := f.study.Rows[len(f.study.Rows)-1]
	if err := checkSize("%d rows (--rows) × %d columns", most, d); err != nil {
		return err
	}
	f.spec.Domain = f.problem.Truth.Domain
	first, err := f.problem.Draw(most, 0, f.study.Seed)
	if err != nil {
		return err
	}
	p, err := trainers.Prepare(first, f.spec)
	if err != nil {
		return err
	}
	if _, err := p.Path(); err != nil { // settings that no table's path can begin with
		return explain(err, "a table of most rows", "", "")
	}
	f.spec.Steps.Method = p.Spec.Steps.Method
	f.problem.Spec = f.spec
	return ensureDir(f.out)
}

func (f *powerCommand) work(cmd *cobra.Command, _ []string) error {
	stderr := cmd.ErrOrStderr()
	fmt.Fprintf(stderr, "%s; %d tables each of %s rows, by %s\n", f.source, f.study.Tables, listed(f.study.Rows), f.spec.Steps.Method)
	of, err := f.problem.Identity(f.study)
	if err == nil {
		f.blas, err = graph.BLAS()
	}
	if err != nil {
		return err
	}
	return replicated(cmd, &f.trainingFlags, "tables", of, f.out, len(f.study.Rows)*f.study.Tables, func(run replicate.Config, done *replicate.Done[power.Found]) (err error) {
		f.result, err = power.Run(cmd.Context(), f.problem, f.study, run, done)
		return err
	})
}

func (f *powerCommand) write(set *atomicfile.Set, cmd *cobra.Command, _ []string) error {
	r := f.result
	f.page = report.Power{Made: made(cmd, f.study.Seed), Answer: answer(r), Result: r, Theme: f.theme, Settings: [][2]string{
		{"Truth", f.source},
		{"Tables", fmt.Sprintf("%d each of %s rows", f.study.Tables, listed(f.study.Rows))},
		{"Method", f.spec.Steps.Method},
		{"Selection of λ", f.selection},
		{"Edge", fmt.Sprintf("|P_jk| > %g, columns standardised", f.config.Threshold)},
		{"Intervals", fmt.Sprintf("%g %%", 100*f.study.Level)},
	}}
	f.page.JSON = f.object()
	return report.WritePower(set, f.out, f.page)
}

func (f *powerCommand) tell(cmd *cobra.Command, took time.Duration) error {
	r, why := f.result, ""
	f.page.JSON["seconds"] = took.Seconds()
	if !r.Converged() {
		why = "NOT converged: " + r.Warnings[len(r.Warnings)-1]
	}
	warnings := r.Warnings
	if f.like != "" && r.Config.Tables > 0 {
		warnings = append(slices.Clone(warnings), "an estimated network overstates its edges, so the true network needs more rows")
	}
	return f.end(cmd, f.page.JSON, f.table, warnings, "report: "+filepath.Join(f.out, "report.html"), why)
}

func answer(r *power.Result) string {
	c, n := r.Config, r.Needed
	first, last := r.Points[0], r.Points[len(r.Points)-1]
	find := fmt.Sprintf("find %g %% of the true edges (sensitivity %[2]g)", 100*c.Sensitivity, c.Sensitivity)
	switch {
	case n.Rows == 0:
		return fmt.Sprintf("%d rows, the fewest tried, %s or more.", first.Rows, find)
	case math.IsInf(n.Rows, 1):
		return fmt.Sprintf("More than %d rows, the most tried, are needed to %s. With %[1]d rows, the sensitivity is %.3[3]f: try more (--rows).", last.Rows, find, last.Means[power.Sensitivity].Value)
	}
	low, high := fmt.Sprintf("%.0f", math.Ceil(n.Low)), fmt.Sprintf("%.0f", math.Ceil(n.High))
	if n.Low == 0 {
		low = fmt.Sprintf("fewer than %d", first.Rows)
	}
	if math.IsInf(n.High, 1) {
		high = fmt.Sprintf("more than %d", last.Rows)
	}
	return fmt.Sprintf("About %.0f rows (%g %% interval %s to %s) %s.", math.Ceil(n.Rows), 100*c.Level, low, high, find)
}

func listed(numbers []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(numbers), " ", ", "), "[]")
}

func gapsText(g power.Gaps, file string) string {
	if g.Like != nil {
		t := g.Like
		return fmt.Sprintf("gaps of the %d rows of %s, %.1f %% of the cells", t.N, file, 100*float64(t.Missing())/float64(t.N*t.D))
	}
	if g.Share == 0 {
		return "no cell missing"
	}
	return fmt.Sprintf("%.3g %% of the cells missing completely at random", 100*g.Share)
}

func (f *powerCommand) object() map[string]any {
	r, c := f.result, f.result.Config
	reached, points := "within", []map[string]any{}
	switch {
	case r.Needed.Rows == 0:
		reached = "below"
	case math.IsInf(r.Needed.Rows, 1):
		reached = "above"
	}
	for _, p := range r.Points {
		measures := map[string]any{}
		for m, v := range p.Means {
			measures[power.Names[m]] = map[string]any{"mean": plain(v.Value), "low": plain(v.Low), "high": plain(v.High)}
		}
		points = append(points, map[string]any{"rows": p.Rows, "tables": p.Tables, "failed": p.Failed, "unconverged": p.Unconverged, "measures": measures})
	}
	return map[string]any{"sensitivity": c.Sensitivity, "rows": tried(r.Needed.Rows), "low": tried(r.Needed.Low), "high": tried(r.Needed.High), "reached": reached, "answer": answer(r),
		"truth":  map[string]any{"source": f.source, "columns": len(f.problem.Truth.Names), "edges": f.problem.Truth.Edges()},
		"method": f.spec.Steps.Method, "tables": c.Tables, "level": c.Level, "points": points, "warnings": array(r.Warnings), "blas": f.blas}
}

// tried is nil beyond the sizes that were tried.
func tried(rows float64) *int {
	if rows == 0 || math.IsInf(rows, 1) {
		return nil
	}
	return new(int(math.Ceil(rows)))
}

func (f *powerCommand) table(w io.Writer) {
	fmt.Fprintln(w, answer(f.result))
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(columns, "rows\t%s\t\n", strings.Join(power.Names[:], "\t"))
	for _, p := range f.result.Points {
		fmt.Fprintf(columns, "%d\t", p.Rows)
		for _, m := range p.Means {
			fmt.Fprintf(columns, "%s\t", strings.Replace(fmt.Sprintf("%.3f", m.Value), "NaN", "–", 1))
		}
		fmt.Fprintln(columns)
	}
	columns.Flush()
}

type truthFlags struct {
	like, table string
	shape       string
	d, edges    int
	strength    float64
	missing     float64
}

func (f *truthFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.like, "like", "", "true network: a `result` of network, folder or model.json")
	fl.StringVar(&f.table, "table", "", "`file` with the table whose gaps rows get, for --like")
	fl.IntVar(&f.d, "d", 0, "true network: `number` of columns")
	fl.StringVar(&f.shape, "graph", "random", "`shape` of the true network: "+strings.Join(simulate.Shapes, ", "))
	fl.IntVar(&f.edges, "edges", 0, "edges of --graph random (default: one per column)")
	fl.Float64Var(&f.strength, "strength", 0, "partial correlation of each edge (default: 0.25, or 0.9 of the maximum)")
	fl.Float64Var(&f.missing, "missing", 0, "`probability` that a cell is missing (completely at random)")
}

func (f *truthFlags) check(cmd *cobra.Command) error {
	if err := nonZero(cmd, "d", "edges", "strength"); err != nil {
		return err
	}
	changed := cmd.Flags().Changed
	rules := []rule{
		{f.like == "" && !changed("d"), "the true network is missing: give --like RESULT --table TABLE.csv, or --d D with --graph"},
		{f.like != "" && changed("d"), "--like and --d both give the true network; leave one of them out"},
		{f.table != "" && changed("missing"), "--table and --missing both make gaps; leave one of them out"},
		{f.like == "" && f.table != "", "--table needs --like; add it, or make gaps with --missing"},
		{f.like != "" && f.table == "" && !changed("missing"), "--like needs gaps: give --table TABLE.csv, or --missing P"},
		notShare(f.missing),
	}
	return cmp.Or(obey(rules...), unread(cmd, "--like", f.like == "", "graph", "edges", "strength"), unread(cmd, "graph "+f.shape, f.shape == "random", "edges"))
}

func notShare(missing float64) rule {
	return rule{!(missing >= 0 && missing < 1), fmt.Sprintf("--missing %v: a probability from 0 to less than 1 is expected", missing)}
}

func (f *truthFlags) read(o data.ReadOptions, threshold float64, seed uint64) (t *power.Truth, gaps power.Gaps, source string, err error) {
	gaps.Share = f.missing
	if f.like == "" {
		edges := f.edges
		if edges == 0 {
			edges = min(f.d, f.d*(f.d-1)/2)
		}
		g, err := simulate.Graph(f.shape, f.d, edges, f.strength, stream.New(seed, stream.Initial))
		if err == nil {
			t, err = power.NewTruth(columnNames(f.d), g, nil, 0)
		}
		if err != nil {
			return nil, gaps, "", usageError{fmt.Errorf("--d, --graph, --edges, --strength: %w", err)}
		}
		size := floats.Norm(t.Weights, math.Inf(1))
		return t, gaps, fmt.Sprintf("%s network of %d columns, %d edges of size %.3g, %s", f.shape, f.d, t.Edges(), size, gapsText(gaps, "")), nil
	}
	lawful := false
	if t, lawful, err = f.fitted(threshold); err != nil {
		return nil, gaps, "", fmt.Errorf("--like: %w", err)
	}
	if f.table != "" {
		o.Columns, o.Strict, o.Kinds = t.Names, true, map[string]data.Column{}
		for j, name := range t.Names { // whose gaps alone are looked at
			kind := data.Number
			if t.Blocks != nil && t.Blocks[j].Levels != nil {
				kind = data.Nominal
			}
			o.Kinds[name] = data.Column{Name: name, Kind: kind}
		}
		if gaps.Like, err = data.ReadFile(f.table, o); err != nil {
			return nil, gaps, "", fmt.Errorf("--table: %w", err)
		}
	}
	source = fmt.Sprintf("network of %s, %d columns, %d edges, %s", filepath.Base(f.like), len(t.Names), t.Edges(), gapsText(gaps, filepath.Base(f.table)))
	if lawful {
		source += "; gaps do not follow the missingness mechanism of the result"
	}
	return t, gaps, source, nil
}

// lawful reports that the result has a missingness mechanism.
func (f *truthFlags) fitted(threshold float64) (t *power.Truth, lawful bool, err error) {
	path := f.like
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "model.json")
	}
	s, err := fitted.Load(path)
	if err != nil {
		return nil, false, err
	}
	g, ok := s.Model.(*model.Gaussian)
	if !ok {
		return nil, false, fmt.Errorf("%s is a %s model; a Gaussian model is needed", path, s.Kind)
	}
	drawn := simulate.Gaussian{Mean: g.Mean(), Precision: g.Precision()}
	if blocks, cuts, latent := latentColumns(s, g.Dim()); latent {
		t, err = power.NewLatentTruth(drawn, blocks, cuts, threshold)
	} else {
		t, err = power.NewTruth(s.Names, drawn, s.Domain, threshold)
	}
	return t, s.Missingness != nil, err
}

// latentColumns describe the columns of d latent numbers, for power.NewLatentTruth.
func latentColumns(s *fitted.Saved, d int) (blocks []data.Block, cuts [][]float64, latent bool) {
	cuts, first := make([][]float64, d), 0
	for j, name := range s.Names {
		b := data.Block{Name: name, First: first, Width: 1}
		if s.Blocks != nil {
			b.Width, b.Levels = s.Blocks[j].Width, s.Blocks[j].Levels
		}
		if s.Levels != nil && s.Levels[j] != nil {
			b.Levels = s.Levels[j]
		}
		if s.Transform != nil {
			if of, ok := s.Transform[j].(*transform.Ordinal); ok {
				if cuts[first] = of.Cuts(); b.Levels == nil {
					for _, v := range of.Values() {
						b.Levels = append(b.Levels, data.FormatNumber(v))
					}
				}
			}
		}
		blocks, first, latent = append(blocks, b), first+b.Width, latent || b.Levels != nil
	}
	return blocks, cuts, latent
}
