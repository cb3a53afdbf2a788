package cmd

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"missingscore/cmd/report"
	"missingscore/data"
	"missingscore/internal/atomicfile"
	"missingscore/internal/data/mcar"
	"missingscore/internal/setting"
	"missingscore/internal/trainers/inference"
	"missingscore/trainers"
	"missingscore/trainers/compare"
	"missingscore/trainers/replicate"
)

type compareCommand struct {
	networkFlags
	out, by      string
	wanted       []string
	permutations int

	groups  [2]comparedGroup
	without int // rows without a value of by
	result  *compare.Result
	page    report.Comparison
}

type comparedGroup struct {
	name         string // in words, as "gender male" or "women"
	value        string // of by, or the name of the file without its suffix
	file, folder string
	table        *data.Table
	prepared     *trainers.Prepared
	result       *trainers.Result
}

func newCompareCommand() *cobra.Command {
	var f compareCommand
	cmd := &cobra.Command{
		Use:   "compare A.csv B.csv | TABLE.csv --by COLUMN",
		Short: "Test whether two networks with missing cells differ",
		Long: `Estimate the networks of two tables, or of two groups of rows in one table, and test whether
they differ: in any partial correlation (M), in global strength (S), and in each pair.

A permutation exchanges rows with their gaps and estimates both networks again, so that
the command takes as long as 2 × --permutations networks. The p values assume that both
groups have the same gaps; a warning reports where they differ. --inference model or robust
compares estimates by their standard errors instead.

Files in --out: differences.csv, compare.json, report.html, pictures of both networks, their
differences and intervals, and a folder for each group with the files of network.`,
		Example: `  missingscore compare examples/airquality.csv --by Month --groups 5,8 --columns Ozone,Wind,Temp`,
		Args:    argsFrom(1, 2, "two tables, or one table with --by COLUMN"),
		RunE:    func(cmd *cobra.Command, args []string) error { return climb(cmd, args, &f) },
	}
	f.trainingFlags.add(cmd)
	f.addPath(cmd, "l1")
	f.addInference(cmd, inference.None)
	fl := cmd.Flags()
	fl.StringVar(&f.out, "out", "compare", "`folder` for the results")
	fl.StringVar(&f.by, "by", "", "`column` that splits one table into two groups")
	fl.StringSliceVar(&f.wanted, "groups", nil, "the two values `a,b` of --by (default: both, if there are two)")
	f.pictures.add(cmd, "column-groups")
	fl.IntVar(&f.permutations, "permutations", compare.DefaultPermutations, "number of permutations; p values are multiples of 1/(1 + N)")
	return cmd
}

func (f *compareCommand) outputs() []string { return []string{f.out} }

func (f *compareCommand) states() []string { return []string{filepath.Join(f.out, stateFile)} }

func (f *compareCommand) work(cmd *cobra.Command, _ []string) (err error) {
	for i := range f.groups {
		g := &f.groups[i]
		if err := f.announce(cmd.ErrOrStderr(), g.name, g.table); err != nil {
			return err
		}
		if g.result, err = f.network(cmd, g.prepared, g.name, ""); err != nil {
			return err
		}
	}
	return f.permute(cmd)
}

func (f *compareCommand) options(cmd *cobra.Command, args []string) error {
	if err := cmp.Or(obey(
		rule{len(args) == 1 && f.by == "", "one table needs --by COLUMN; or give a second table"},
		rule{len(args) == 2 && f.by != "", "--by splits one table, but two are given; leave one of them out"},
		rule{f.by == "" && f.wanted != nil, "--groups needs --by; for groups of columns use --column-groups"},
	), nonZero(cmd, "permutations"), f.parseNetwork(cmd), f.pictures.parse(cmd)); err != nil {
		return err
	}
	setting.Default(&f.config.Penalty.Kind, "l1")
	return distinctFiles(cmd, inFolder(f.out, append(slices.Clone(report.CompareFiles), stateFile)...)...)
}

func (f *compareCommand) load(cmd *cobra.Command, args []string) error {
	f.tableFlags.levels = true // until both tables have the same columns
	if err := f.read(cmd, args); err != nil {
		return err
	}
	f.tableFlags.levels = f.takesLevels(cmd)
	for i := range f.groups {
		var err error
		g := &f.groups[i]
		if g.table, err = f.tableFlags.numbers(g.table, g.file); err != nil {
			return err
		}
		f.tableFlags.stderr = func() io.Writer { return io.Discard } // the same is told of the second table
	}
	a, b := f.groups[0].table, f.groups[1].table
	if a.D < 2 {
		return fmt.Errorf("a network needs two columns, but there is one: %s", a.Names[0])
	}
	if err := cmp.Or(f.pictures.load(cmd.ErrOrStderr(), a.Names),
		checkSize("%d permutations (--permutations) × %d columns × %d columns", f.permutations, a.D, a.D)); err != nil {
		return err
	}
	both, err := data.Stack(a, b)
	if err != nil {
		return err
	}
	p, err := f.prepare(both, "both tables together")
	if err != nil {
		return f.inGroup(err)
	}
	p, err = f.independent("both tables together", p, both.Names, func(kept []string) (*trainers.Prepared, error) {
		for _, t := range []**data.Table{&both, &f.groups[0].table, &f.groups[1].table} {
			if *t, err = (*t).Select(kept); err != nil {
				return nil, err
			}
		}
		return f.prepare(both, "both tables together")
	})
	if err != nil {
		return err
	}
	f.spec.Steps.Method = p.Spec.Steps.Method // what auto comes to for all rows
	for i := range f.groups {
		g := &f.groups[i]
		if g.prepared, err = f.prepare(g.table, g.file); err != nil {
			return fmt.Errorf("%w (group %s)", err, g.name)
		}
	}
	f.nameFolders()
	return ensureDir(f.out)
}

func (f *compareCommand) inGroup(err error) error {
	for i := range f.groups {
		if _, own := f.prepare(f.groups[i].table, f.groups[i].file); own != nil {
			return own
		}
	}
	return err
}

func (f *compareCommand) read(cmd *cobra.Command, args []string) (err error) {
	a, b := &f.groups[0], &f.groups[1]
	if len(args) == 2 {
		a.file, b.file = args[0], args[1]
		a.value, b.value = data.Stem(a.file), data.Stem(b.file)
		if a.value == b.value {
			a.value, b.value = a.file, b.file
		}
		if a.name, b.name = a.value, b.value; a.value == b.value {
			return usageError{fmt.Errorf("%s is compared with itself: two different tables are expected", a.file)}
		}
		for _, g := range []*comparedGroup{a, b} {
			if g.table, err = f.tableFlags.read(g.file); err != nil {
				return err
			}
		}
		var leftOut []data.Column
		if a.table, b.table, leftOut, err = data.SameColumns(a.table, b.table, a.file, b.file); err != nil {
			return err
		}
		tellLeftOut(cmd.ErrOrStderr(), leftOut)
		return nil
	}
	o, err := f.tableFlags.options()
	if err != nil {
		return err
	}
	groups, ungrouped, err := data.ReadGroups(args[0], f.by, f.wanted, o)
	if err != nil {
		return asUsage(cmd, err)
	}
	for i, g := range groups {
		f.groups[i] = comparedGroup{name: f.by + " " + g.Name, value: g.Name, file: args[0], table: g.Table}
	}
	tellLeftOut(cmd.ErrOrStderr(), groups[0].Table.LeftOut)
	if f.without = ungrouped; ungrouped > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "left out: rows without a value of %s (%d)\n", f.by, ungrouped)
	}
	return nil
}

func (f *compareCommand) source(g *comparedGroup) string {
	if f.by == "" {
		return g.file
	}
	return plainName(filepath.Base(g.file) + ", " + g.name)
}

// nameFolders names folders after the groups, or a and b if a name is not safe.
func (f *compareCommand) nameFolders() {
	a, b := &f.groups[0], &f.groups[1]
	a.folder, b.folder = a.value, b.value
	taken := append(slices.Clone(report.CompareFiles), stateFile)
	if !folderName(a.value, taken) || !folderName(b.value, append(taken, a.value)) {
		a.folder, b.folder = "a", "b"
	}
}

func (f *compareCommand) specOf(t *data.Table) trainers.Spec {
	s := f.spec
	if f.known.file == estimateLaw {
		s.Missingness = mcar.Law(t)
	}
	return s
}

func (f *compareCommand) permute(cmd *cobra.Command) error {
	a, b := f.groups[0], f.groups[1]
	p := compare.Problem{Tables: [2]*data.Table{a.table, b.table}, Networks: [2]*trainers.Result{a.result, b.result}, Spec: f.specOf}
	c := compare.Config{Permutations: f.permutations, Level: f.spec.Inference.Level, Seed: f.spec.Steps.Seed}
	of, err := p.Identity(c)
	if err != nil {
		return err
	}
	return replicated(cmd, &f.trainingFlags, "permutations", of, f.out, f.permutations, func(run replicate.Config, done *replicate.Done[compare.Permutation]) (err error) {
		f.result, err = compare.Compare(cmd.Context(), p, c, run, done)
		return err
	})
}

func (f *compareCommand) write(set *atomicfile.Set, cmd *cobra.Command, _ []string) error {
	f.page = report.Comparison{Made: made(cmd, f.spec.Steps.Seed), Result: f.result, Style: f.pictures.style}
	if f.without > 0 {
		f.page.Without = fmt.Sprintf("%d rows have no value of %s", f.without, f.by)
	}
	for i, g := range f.groups {
		f.page.Groups[i] = report.Group{Name: g.name, Folder: g.folder, Table: g.table, Result: g.result}
	}
	style := f.page.Shared()
	var told []string
	for i := range f.groups {
		g := &f.groups[i]
		dir := filepath.Join(f.out, g.folder)
		if err := ensureDir(dir); err != nil {
			return err
		}
		if err := f.known.write(set, filepath.Join(dir, report.EstimatedLaw), g.result); err != nil {
			return err
		}
		if err := report.WriteNetwork(set, dir, report.Source{Table: f.source(g), Made: f.page.Made, NoIntervals: g.prepared.NoIntervals, Style: style}, g.table, g.result, nil); err != nil {
			return err
		}
		for _, w := range g.result.Warnings {
			text := w
			if !slices.Contains(f.groups[1-i].result.Warnings, w) { // else of both groups
				text = g.name + ": " + w
			}
			if slices.Contains(f.told, w) {
				f.told = append(f.told, text)
			}
			if !slices.Contains(told, text) {
				told = append(told, text)
			}
		}
		f.pictures.tellMinimum(cmd.ErrOrStderr(), filepath.Join(g.folder, "network.svg"), g.result.Network.Network)
	}
	f.page.Warnings = append(slices.Clone(f.result.Warnings), told...)
	f.page.JSON = f.object()
	return report.WriteComparison(set, f.out, f.page)
}

func (f *compareCommand) tell(cmd *cobra.Command, took time.Duration) error {
	f.page.JSON["seconds"] = took.Seconds()
	why := ""
	for _, g := range slices.Backward(f.groups[:]) {
		if !g.result.Converged {
			why = g.name + ": " + g.result.Verdict
		}
	}
	return f.end(cmd, f.page.JSON, f.summary, f.page.Warnings, "report: "+filepath.Join(f.out, "report.html"), why)
}

func (f *compareCommand) summary(w io.Writer) {
	r, a, b := f.result, f.groups[0], f.groups[1]
	differing := f.page.Differing()
	fmt.Fprintf(w, "%s %s: %s; %s: %s; %d permutations\n", f.page.Verdict(), a.name, counted(len(a.result.Network.Edges()), "edge"), b.name, counted(len(b.result.Network.Edges()), "edge"), f.permutations-r.Failed)
	fmt.Fprintf(w, "  structure: largest difference M = %.3f, p %s\n", r.Structure.Observed, mcar.FormatP(r.Structure.P))
	fmt.Fprintf(w, "  global strength: %.3f and %.3f, difference S = %.3f, p %s\n", r.Strengths[0], r.Strengths[1], r.Strength.Observed, mcar.FormatP(r.Strength.P))
	fmt.Fprintf(w, "  single edges: %d of %d pairs differ at q ≤ %g\n", len(differing), len(r.Pairs), report.DifferenceRate)
	const shown = 10
	for _, d := range differing[:min(len(differing), shown)] {
		fmt.Fprintf(w, "    %s — %s  %+.3f and %+.3f%s\n", d.From, d.To, d.Weights[0], d.Weights[1], differenceText(d))
	}
	tellMore(w, "    … and %d more\n", len(differing)-shown)
}

func differenceText(d compare.Difference) string {
	text := func(value, low, high, q float64) string {
		interval := ""
		if low <= high { // not NaN
			interval = fmt.Sprintf(" [%+.3f, %+.3f]", low, high)
		}
		return fmt.Sprintf("  difference %+.3f%s  q %s", value, interval, mcar.FormatP(q))
	}
	if e := d.Estimates; e != nil {
		return text(d.Value, d.Low, d.High, d.Q) + "; unpenalised" + text(e.Value, e.Low, e.High, e.Q)
	}
	return text(d.Value, d.Low, d.High, d.Q)
}

// object is compare.json; --json adds the seconds.
func (f *compareCommand) object() map[string]any {
	c, r := f.page, f.result
	groups, missing, pairs := []map[string]any{}, []map[string]any{}, []map[string]any{}
	for i, g := range c.Groups {
		n := g.Result.Network
		groups = append(groups, map[string]any{"name": g.Name, "folder": g.Folder, "rows": g.Table.N, "edges": len(n.Edges()), "lambda": n.Lambda,
			"strength": r.Strengths[i], "converged": g.Result.Converged, "verdict": g.Result.Verdict})
	}
	for _, s := range r.Gaps {
		missing = append(missing, map[string]any{"column": s.Name, "missing": s.Missing, "rows": s.Rows, "p": plain(s.P), "p_corrected": plain(s.Corrected)})
	}
	for _, d := range r.Pairs {
		pair := map[string]any{"from": d.From, "to": d.To, "partial_correlations": d.Weights, "difference": d.Value, "low": plain(d.Low), "high": plain(d.High), "p": d.P, "q": d.Q}
		if e := d.Estimates; e != nil {
			pair["estimates"] = map[string]any{"estimates": []any{plain(e.Estimate[0]), plain(e.Estimate[1])}, "difference": plain(e.Value),
				"low": plain(e.Low), "high": plain(e.High), "p": plain(e.P), "q": plain(e.Q)}
		}
		pairs = append(pairs, pair)
	}
	return map[string]any{"groups": groups, "method": f.spec.Steps.Method, "permutations": r.Config.Permutations, "failed_permutations": r.Failed, "unconverged_permutations": r.Unconverged,
		"structure": map[string]any{"statistic": "M", "value": r.Structure.Observed, "p": r.Structure.P}, "strength": map[string]any{"statistic": "S", "value": r.Strength.Observed, "p": r.Strength.P},
		"level": r.Config.Level, "missing": missing, "left_out": array(c.Groups[0].Table.LeftOut), "pairs": pairs, "warnings": array(c.Warnings), "blas": f.blas}
}

func plainName(name string) string {
	return strings.NewReplacer("/", "|", string(filepath.Separator), "|").Replace(name)
}

// folderPattern matches names that are safe on every file system.
var folderPattern = regexp.MustCompile(`^[A-Za-z0-9_+-][A-Za-z0-9_.+-]*$`)

// folderName reports whether a name is safe and not taken, ignoring case.
func folderName(name string, taken []string) bool {
	return folderPattern.MatchString(name) && len(name) <= 64 &&
		!slices.ContainsFunc(taken, func(other string) bool { return strings.EqualFold(name, other) })
}
