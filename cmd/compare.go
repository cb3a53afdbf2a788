package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"missingscore/data"
	"missingscore/data/mcar"
	"missingscore/graph"
	"missingscore/internal/atomicfile"
	"missingscore/internal/report"
	"missingscore/internal/setting"
	"missingscore/trainers"
	"missingscore/trainers/compare"
	"missingscore/trainers/replicate"
)

// compareCommand is the compare command: its flags, and what its phases make.
type compareCommand struct {
	networkFlags
	out, by      string
	wanted       []string
	permutations int
	columnGroups string // a file
	labels       labelFlag

	groups   [2]comparedGroup
	leftOut  []string          // why columns are
	coloured map[string]string // groups of columns, for pictures; nil without --column-groups
	resuming bool
	result   *compare.Result
	page     report.Comparison
}

// comparedGroup is one of the two tables with its network.
type comparedGroup struct {
	name, file, folder string
	table              *data.Table
	prepared           *trainers.Prepared
	anew               bool // its network is not one that goes on
	result             *trainers.Result
}

func newCompareCommand() *cobra.Command {
	var f compareCommand
	cmd := &cobra.Command{
		Use:   "compare A.csv B.csv | TABLE.csv --by COLUMN",
		Short: "Test whether two networks with missing cells differ",
		Long: `Estimate the networks of two tables, or of the two groups of rows that a column
makes, and test by permutation whether they differ: in any partial correlation (M),
in global strength (S), and in each partial correlation. Rows are permuted with their
gaps, and each permutation estimates both networks again by the same method, so that
this takes as long as twice --permutations networks.

Both tables must have the same columns; --columns picks common ones. It writes to
--out: differences.csv, compare.json, networks.svg/png, differences.svg/png,
intervals.svg/png, report.html, and the files of network for each group in a folder
named after it.

Permuted groups have the same gaps on average: where the groups differ in which cells
are missing, a warning says what the p values then test, and --inference model or
robust compares estimates by their own standard errors instead.

Methods:
` + methodList(),
		Example: `  missingscore compare examples/airquality.csv --by Month --groups 5,8 --columns Ozone,Solar.R,Wind,Temp --out may-august`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usageError{fmt.Errorf("two tables, or one with --by COLUMN, are expected, got %d arguments", len(args))}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.addTable(cmd)
	f.addSteps(cmd)
	f.addRun(cmd)
	f.addPath(cmd, "l1, so that both networks are by one penalty")
	f.addInference(cmd, "adds the columns of estimates to differences.csv, and what it adds to the files of each network", "of differences and of --inference")
	fl := cmd.Flags()
	fl.StringVar(&f.out, "out", "compare", "folder for the results")
	fl.StringVar(&f.by, "by", "", "the column that makes the two groups of one table; it may hold words")
	fl.StringSliceVar(&f.wanted, "groups", nil, "the two values of --by to compare, as a,b (default: all, if there are two)")
	fl.StringVar(&f.columnGroups, "column-groups", "", "CSV with the columns name and group: what belongs together has one colour in the pictures (default: modules that are found)")
	f.labels.add(cmd)
	fl.IntVar(&f.permutations, "permutations", compare.DefaultPermutations, "how often rows are permuted (N): p values are multiples of 1/(1 + N)")
	return cmd
}

// run takes the command through its phases.
func (f *compareCommand) run(cmd *cobra.Command, args []string) error {
	start := time.Now()
	if err := f.options(cmd, args); err != nil {
		return err
	}
	if err := abandonable(cmd.Context(), func() error { return f.load(cmd, args) }); err != nil {
		return asUsage(cmd, err)
	}
	release, err := lock(f.out)
	if err != nil {
		return err
	}
	defer release()
	if err := f.compare(cmd); err != nil {
		return asUsage(cmd, err)
	}
	if err := f.write(cmd); err != nil {
		return err
	}
	return f.tell(cmd, time.Since(start))
}

// compare makes the networks and compares them. Where what is saved turns out to be of another
// run, the states that this one has made itself go, so that the other can still go on.
func (f *compareCommand) compare(cmd *cobra.Command) (err error) {
	for i := range f.groups {
		if err == nil {
			err = f.estimate(cmd, i)
		}
	}
	if err == nil {
		err = f.permute(cmd)
	}
	if !errors.Is(err, trainers.ErrOtherRun) && !errors.Is(err, replicate.ErrOtherRun) {
		return err
	}
	for i := range f.groups {
		if g := &f.groups[i]; g.anew {
			err = errors.Join(err, atomicfile.Remove(filepath.Join(f.out, compareStates[i])))
		}
	}
	return err
}

// compareStates are the files of a run that was cut: of the two networks, and of permutations.
var compareStates = []string{"state-a.bin", "state-b.bin", stateFile}

// options turns the flags into a Spec and checks what goes with what.
func (f *compareCommand) options(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 1 && f.by == "":
		return usageError{errors.New("one table makes two networks by a column: give --by COLUMN, or a second table")}
	case len(args) == 2 && f.by != "":
		return usageError{errors.New("--by divides one table, and two are given; leave one of them out")}
	case f.by == "" && f.wanted != nil:
		return usageError{errors.New("--groups are values of --by, which is not given; a file of groups of columns is --column-groups")}
	}
	if err := nonZero(cmd, "permutations"); err != nil {
		return err
	}
	if err := f.parseNetwork(cmd); err != nil {
		return err
	}
	setting.Default(&f.config.Penalty.Kind, "l1")
	return distinctFiles(cmd, inFolder(f.out, slices.Concat(report.CompareFiles, compareStates)...)...)
}

// load reads the two tables and prepares both estimates, by one method.
func (f *compareCommand) load(cmd *cobra.Command, args []string) error {
	if err := f.read(cmd, args); err != nil {
		return err
	}
	a, b := f.groups[0].table, f.groups[1].table
	if a.D < 2 {
		return fmt.Errorf("one column (%s) makes no network; at least two are needed", a.Names[0])
	}
	if err := f.readNames(a.Names); err != nil {
		return err
	}
	if err := checkSize(size{f.permutations, "permutations (--permutations)"}, size{a.D, "columns"}, size{a.D, "columns"}); err != nil {
		return err
	}
	both, err := data.Stack(a, b)
	if err != nil {
		return err
	}
	p, err := f.prepare(cmd, both, "both tables together")
	if err != nil {
		return f.inGroup(cmd, err)
	}
	if p, err = f.independent(cmd, p, both); err != nil {
		return err
	}
	f.spec.Steps.Method = p.Spec.Steps.Method // what auto comes to for all rows
	for i := range f.groups {
		g := &f.groups[i]
		if g.prepared, err = f.prepare(cmd, g.table, g.file); err != nil {
			return fmt.Errorf("%w (group %s)", err, g.name)
		}
	}
	f.nameFolders()
	return ensureDir(f.out)
}

// independent leaves out of both tables the columns that others determine but for rounding in all
// rows together, and gives what was prepared of these rows then.
func (f *compareCommand) independent(cmd *cobra.Command, p *trainers.Prepared, both *data.Table) (*trainers.Prepared, error) {
	for {
		kept, why, err := leaveOut(p, both.Names)
		if kept == nil || err != nil {
			return p, err
		}
		f.leftOut = append(f.leftOut, why...)
		for _, t := range []**data.Table{&both, &f.groups[0].table, &f.groups[1].table} {
			if *t, err = (*t).Select(kept); err != nil {
				return nil, err
			}
		}
		if p, err = f.prepare(cmd, both, "both tables together"); err != nil {
			return nil, fmt.Errorf("%w (%s)", err, strings.Join(why, "; "))
		}
	}
}

// readNames reads what columns are called, and which belong together.
func (f *compareCommand) readNames(columns []string) (err error) {
	if err := f.labels.read(columns); err != nil {
		return err
	}
	if f.columnGroups == "" {
		return nil
	}
	if f.coloured, err = readGroupsOfColumns(f.columnGroups, columns); err != nil {
		return fmt.Errorf("--column-groups: %w", err)
	}
	return nil
}

// inGroup is an error of both tables together, or that of the first table which has one by
// itself, which names its file and line.
func (f *compareCommand) inGroup(cmd *cobra.Command, err error) error {
	for i := range f.groups {
		if _, own := f.prepare(cmd, f.groups[i].table, f.groups[i].file); own != nil {
			return own
		}
	}
	return err
}

// read reads two tables, or one and divides its rows.
func (f *compareCommand) read(cmd *cobra.Command, args []string) (err error) {
	a, b := &f.groups[0], &f.groups[1]
	if len(args) == 2 {
		a.file, b.file = args[0], args[1]
		a.name, b.name = data.Stem(a.file), data.Stem(b.file)
		if a.name == b.name {
			a.name, b.name = a.file, b.file
		}
		if a.name == b.name {
			return usageError{fmt.Errorf("%s is compared with itself: two different tables are expected", a.file)}
		}
		for _, g := range []*comparedGroup{a, b} {
			if g.table, err = f.tableFlags.read(g.file, f.spec.Steps.Seed); err != nil {
				return err
			}
		}
		b.table, err = data.SameColumns(a.table, b.table, a.file, b.file)
		return err
	}
	o, err := f.tableFlags.options()
	if err != nil {
		return err
	}
	groups, ungrouped, err := data.ReadGroups(args[0], f.by, f.wanted, o)
	var wrong *data.GroupError
	if errors.As(err, &wrong) {
		return usageError{fmt.Errorf("--by: %w", err)}
	}
	if err != nil {
		return err
	}
	for i, g := range groups {
		f.groups[i] = comparedGroup{name: g.Name, file: args[0], table: g.Table}
	}
	if ungrouped > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "%d rows without a value of %s are left out\n", ungrouped, f.by)
	}
	return nil
}

// source is what a group's own report calls its table.
func (f *compareCommand) source(g *comparedGroup) string {
	if f.by == "" {
		return g.file
	}
	return plainName(filepath.Base(g.file) + ", " + f.title(g))
}

// title is what a group is called in report and pictures.
func (f *compareCommand) title(g *comparedGroup) string {
	if f.by == "" {
		return g.name
	}
	return f.by + " " + g.name
}

// nameFolders names the folders after the groups, a and b where a name makes no plain folder.
func (f *compareCommand) nameFolders() {
	a, b := &f.groups[0], &f.groups[1]
	a.folder, b.folder = a.name, b.name
	taken := slices.Concat(report.CompareFiles, compareStates)
	if !folderName(a.name, taken) || !folderName(b.name, append(taken, a.name)) {
		a.folder, b.folder = "a", "b"
	}
}

// specOf is how a network is estimated of a table, permuted or not.
func (f *compareCommand) specOf(t *data.Table) trainers.Spec {
	s := f.spec
	if f.known.file == estimateLaw {
		s.Missingness = mcar.Law(t)
	}
	return s
}

// estimate makes the network of group i, or goes on with one that was cut.
func (f *compareCommand) estimate(cmd *cobra.Command, i int) (err error) {
	g := &f.groups[i]
	saved := filepath.Join(f.out, compareStates[i])
	if i == 0 {
		if f.resuming = f.resume; f.resuming && !slices.ContainsFunc(compareStates, func(name string) bool { return exists(filepath.Join(f.out, name)) }) {
			fmt.Fprintf(cmd.ErrOrStderr(), "nothing to resume in %s: starting anew\n", f.out)
			f.resuming = false
		}
	}
	f.resume = f.resuming && exists(saved)
	g.anew = !f.resume
	if err := f.announce(cmd.ErrOrStderr(), g.name, g.table); err != nil {
		return err
	}
	g.result, err = f.fit(cmd, g.prepared, g.name, saved, "no result is written. Try another --method, a larger --lambda-min, or look for outliers in the table")
	if err != nil {
		return err
	}
	g.result.Network.Network.Labels = f.labels.of
	if f.leftOut != nil {
		noteLeftOut(g.result, f.leftOut)
	}
	return nil
}

// permute compares the networks, or goes on with a comparison that was cut.
func (f *compareCommand) permute(cmd *cobra.Command) error {
	a, b := f.groups[0], f.groups[1]
	p := compare.Problem{Tables: [2]*data.Table{a.table, b.table}, Networks: [2]*trainers.Result{a.result, b.result}, Spec: f.specOf}
	c := compare.Config{Permutations: f.permutations, Level: f.spec.Inference.Level, Seed: f.spec.Steps.Seed}
	of, err := p.Identity(c)
	if err != nil {
		return err
	}
	kept := resumableReplicates[compare.Permutation]{path: filepath.Join(f.out, stateFile)}
	if err := kept.begin(of, f.resuming); err != nil {
		return err
	}
	bar := newProgress(cmd.ErrOrStderr(), f.verbose)
	run := replicate.Config{Workers: f.spec.Steps.Workers, Save: func() error { return kept.save(cmd.Context()) },
		Observe: func(done, total int) { bar.count("compare", "permutations", done, total) }}
	f.result, err = compare.Compare(cmd.Context(), p, c, run, kept.done)
	bar.finish()
	if errors.Is(err, context.Canceled) {
		return interrupted(fmt.Sprintf("%d of %d permutations are saved in %s; go on with the same command and --resume", kept.done.Count(), f.permutations, kept.path))
	}
	return err
}

// write writes every file, and clears up.
func (f *compareCommand) write(cmd *cobra.Command) error {
	f.page = report.Comparison{Title: fmt.Sprintf("Networks of %s and %s", f.title(&f.groups[0]), f.title(&f.groups[1])), Result: f.result, Warnings: f.result.Warnings, Command: commandLine(cmd), Columns: f.coloured}
	var told []string
	var set atomicfile.Set
	defer set.Discard()
	for i := range f.groups {
		g := &f.groups[i]
		dir := filepath.Join(f.out, g.folder)
		if err := ensureDir(dir); err != nil {
			return err
		}
		if err := f.known.write(&set, filepath.Join(dir, report.EstimatedLaw), g.result); err != nil {
			return err
		}
		if err := report.WriteNetwork(&set, dir, report.Source{Table: f.source(g), Command: commandLine(cmd), Groups: f.coloured}, g.table, g.result, nil); err != nil {
			return err
		}
		for _, w := range g.result.Warnings {
			told = append(told, g.name+": "+w)
		}
		f.page.Groups[i] = report.Group{Name: g.name, Title: f.title(g), Folder: g.folder, Table: g.table, Result: g.result}
	}
	f.page.Warnings = append(slices.Clone(f.result.Warnings), told...)
	text, err := f.encoded(nil)
	if err != nil {
		return err
	}
	f.page.JSON = text
	if err := report.WriteComparison(&set, f.out, f.page); err != nil {
		return err
	}
	if err := set.Commit(); err != nil {
		return err
	}
	for _, name := range compareStates[:2] {
		if err := atomicfile.Remove(filepath.Join(f.out, name)); err != nil {
			return err
		}
	}
	f.told = nil
	return f.finish(filepath.Join(f.out, stateFile), f.page.Warnings, cmd.ErrOrStderr())
}

// tell says on stdout what came out.
func (f *compareCommand) tell(cmd *cobra.Command, took time.Duration) error {
	err := f.summary(cmd.OutOrStdout(), took)
	for _, g := range f.groups {
		if err == nil && !g.result.Converged {
			err = unconverged{g.name + ": " + g.result.Verdict}
		}
	}
	return err
}

// summary writes the JSON object, or what matters in words.
func (f *compareCommand) summary(w io.Writer, took time.Duration) error {
	if f.json {
		seconds := took.Seconds()
		text, err := f.encoded(&seconds)
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	}
	r, a, b := f.result, f.groups[0], f.groups[1]
	differing := f.page.Differing()
	fmt.Fprintf(w, "%s (%d rows, %d edges) and %s (%d rows, %d edges), %d permutations\n", a.name, a.table.N, len(a.result.Network.Edges()), b.name, b.table.N, len(b.result.Network.Edges()), f.permutations-r.Failed)
	fmt.Fprintf(w, "whole network: largest difference M = %.3f, p %s\n", r.Structure.Observed, mcar.FormatP(r.Structure.P))
	fmt.Fprintf(w, "global strength: %.3f and %.3f, difference S = %.3f, p %s\n", r.Strengths[0], r.Strengths[1], r.Strength.Observed, mcar.FormatP(r.Strength.P))
	fmt.Fprintf(w, "%d of %d pairs differ at q ≤ %g\n", len(differing), len(r.Pairs), report.DifferenceRate)
	const shown = 10
	for i, d := range differing {
		if i == shown {
			fmt.Fprintf(w, "  … and %d more\n", len(differing)-shown)
			break
		}
		fmt.Fprintf(w, "  %s — %s  %+.3f and %+.3f%s\n", d.From, d.To, d.Weights[0], d.Weights[1], differenceText(d))
	}
	_, err := fmt.Fprintf(w, "results in %s; open %s\n", f.out, filepath.Join(f.out, "report.html"))
	return err
}

// differenceText is a difference of weights with its interval and q by permutation, by which the pair
// was chosen, and behind it the difference of the unpenalised estimates, if there are any.
func differenceText(d compare.Difference) string {
	text := func(value, low, high, q float64) string {
		interval := ""
		if low <= high { // not NaN
			interval = fmt.Sprintf(" [%+.3f, %+.3f]", low, high)
		}
		return fmt.Sprintf("  difference %+.3f%s  q %s", value, interval, mcar.FormatP(q))
	}
	line := text(d.Value, d.Low, d.High, d.Q)
	if e := d.Estimates; e != nil {
		line += "; with all pairs free" + text(e.Value, e.Low, e.High, e.Q)
	}
	return line
}

// encoded is the JSON object, with how long it took where that is given.
func (f *compareCommand) encoded(seconds *float64) ([]byte, error) {
	blas, err := graph.BLAS()
	if err != nil {
		return nil, err
	}
	return encodeComparison(f.page, f.spec.Steps.Method, blas, seconds)
}
