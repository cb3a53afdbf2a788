package cmd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"missingscore/data"
	"missingscore/data/simulate"
	"missingscore/graph"
	"missingscore/internal/atomicfile"
	"missingscore/internal/report"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/inference"
	"missingscore/trainers/power"
	"missingscore/trainers/regpath"
	"missingscore/trainers/replicate"
)

// powerCommand is the power command: its flags, and what its phases make.
type powerCommand struct {
	networkFlags
	truthFlags
	out   string
	study power.Config

	problem power.Problem
	source  string // of the truth and its gaps, in words
	result  *power.Result
	page    report.Power
}

func newPowerCommand() *cobra.Command {
	var f powerCommand
	cmd := &cobra.Command{
		Use:   "power --like RESULT --table TABLE.csv | --d D [--graph SHAPE] [--missing P]",
		Short: "Tell how many rows a network needs, by simulation with gaps",
		Long: `Draw tables of increasing size from a known network, make gaps in them, estimate
the network of each as the network command would, and compare it with the known one:
how many rows does it take to find a wanted share of the edges?

The known network is that of an earlier result (--like, its folder or model.json), with
the gaps of the rows of --table, drawn with replacement; or one of --d columns and a
shape (--graph), whose edges all have the partial correlation --strength:

  random  --edges edges among all pairs      chain  each column joined with the next
  hub     stars of ten columns               star   the first joined with all others

--missing hides cells completely at random instead. A network that was itself estimated
has edges that look stronger than they are: the rows it asks for are then too few.

It writes to --out: power.csv, power.json, power.svg/png, report.html.

Methods:
` + methodList(),
		Example: `  missingscore power --d 10 --graph chain --missing 0.2 --rows 50,100,200,400 --tables 40 --out rows
  missingscore power --like air --table examples/airquality.csv --out air/rows`,
		Args: exactArgs(0, "no argument but flags"),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.truthFlags.add(cmd)
	f.tableFlags.addFormat(cmd)
	f.addSteps(cmd)
	f.addRun(cmd)
	f.addPath(cmd, regpath.UsualPenalty())
	fl := cmd.Flags()
	fl.StringVar(&f.out, "out", "power", "folder for the results")
	fl.IntSliceVar(&f.study.Rows, "rows", nil, "the numbers of rows to try, as 50,100,200 (default: six, each twice the one before, from 50 or two a column)")
	fl.IntVar(&f.study.Tables, "tables", power.DefaultTables, "tables of each number of rows")
	fl.Float64Var(&f.study.Sensitivity, "sensitivity", power.DefaultSensitivity, "the share of true edges that is to be found")
	fl.Float64Var(&f.study.Level, "level", inference.DefaultLevel, "level of the intervals")
	return cmd
}

// run takes the command through its phases.
func (f *powerCommand) run(cmd *cobra.Command) error {
	start := time.Now()
	if err := f.options(cmd); err != nil {
		return err
	}
	if err := abandonable(cmd.Context(), func() error { return f.load(cmd) }); err != nil {
		return asUsage(cmd, err)
	}
	release, err := lock(f.out)
	if err != nil {
		return err
	}
	defer release()
	if err := f.try(cmd); err != nil {
		return asUsage(cmd, err)
	}
	if err := f.write(); err != nil {
		return err
	}
	return f.tell(cmd, time.Since(start))
}

// options turns the flags into a Spec and checks what goes with what.
func (f *powerCommand) options(cmd *cobra.Command) error {
	if err := f.truthFlags.check(cmd); err != nil {
		return err
	}
	if err := nonZero(cmd, "tables", "sensitivity"); err != nil {
		return err
	}
	if err := f.parseNetwork(cmd); err != nil {
		return err
	}
	if f.like != "" && (sameFile(f.out, f.like) || sameFile(f.out, filepath.Dir(f.like))) {
		return usageError{fmt.Errorf("--out: writing into %s would overwrite the report of --like: choose another --out", f.out)}
	}
	return distinctFiles(cmd, inFolder(f.out, append(slices.Clone(report.PowerFiles), stateFile)...)...)
}

// load makes the truth and its gaps, and prepares the estimate on a table drawn from it.
func (f *powerCommand) load(cmd *cobra.Command) (err error) {
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
	if err := checkSize(size{f.study.Rows[len(f.study.Rows)-1], "rows (--rows)"}, size{d, "columns"}); err != nil {
		return err
	}
	if err := checkSize(size{f.config.Lambdas, "λ (--lambdas)"}, size{d, "columns"}, size{d, "columns"}); err != nil {
		return err
	}
	f.spec.Domain = f.problem.Truth.Domain
	asked := f.spec.Steps.Method
	first, err := f.problem.Draw(f.study.Rows[len(f.study.Rows)-1], 0, f.study.Seed)
	if err != nil {
		return err
	}
	p, err := trainers.Prepare(first, f.spec)
	if err != nil {
		return err
	}
	if err := checkMethodFlags(cmd, asked, p); err != nil {
		return err
	}
	if err := beginsPath(p); err != nil {
		return explain(err, "a table of most rows", "", "")
	}
	f.spec.Steps.Method = p.Spec.Steps.Method
	f.problem.Spec = f.spec
	return ensureDir(f.out)
}

// beginsPath refuses settings that no table's path can begin with, before there are many.
func beginsPath(p *trainers.Prepared) error {
	q, err := p.Problem()
	if err == nil {
		_, err = regpath.New(q, p.Spec.Steps, *p.Spec.Network, &regpath.State{})
	}
	return err
}

// try draws and estimates tables, or goes on with a run that was cut.
func (f *powerCommand) try(cmd *cobra.Command) error {
	stderr := cmd.ErrOrStderr()
	fmt.Fprintf(stderr, "%s; %d tables each of %s rows, by %s\n", f.source, f.study.Tables, listed(f.study.Rows), f.spec.Steps.Method)
	of, err := f.problem.Identity(f.study)
	if err != nil {
		return err
	}
	kept := resumableReplicates[power.Found]{path: filepath.Join(f.out, stateFile)}
	if f.resume && !exists(kept.path) {
		fmt.Fprintf(stderr, "nothing to resume in %s: starting anew\n", f.out)
	}
	if err := kept.begin(of, f.resume); err != nil {
		return err
	}
	bar := newProgress(stderr, f.verbose)
	run := replicate.Config{Workers: f.spec.Steps.Workers, Save: func() error { return kept.save(cmd.Context()) },
		Observe: func(done, total int) { bar.count("power", "tables", done, total) }}
	f.result, err = power.Run(cmd.Context(), f.problem, f.study, run, kept.done)
	bar.finish()
	if errors.Is(err, context.Canceled) {
		return interrupted(fmt.Sprintf("%d of %d tables are saved in %s; go on with the same command and --resume", kept.done.Count(), len(f.study.Rows)*f.study.Tables, kept.path))
	}
	return err
}

// write writes every file, and clears up.
func (f *powerCommand) write() error {
	r := f.result
	f.page = report.Power{Title: "Rows that a network needs", Answer: answer(r), Result: r, Settings: [][2]string{
		{"Truth", f.source},
		{"Tables", fmt.Sprintf("%d each of %s rows", f.study.Tables, listed(f.study.Rows))},
		{"Method", f.spec.Steps.Method},
		{"Selection of λ", f.selection},
		{"Edge", fmt.Sprintf("|P_jk| > %g, columns standardised", f.config.Threshold)},
		{"Intervals", fmt.Sprintf("%g %%", 100*f.study.Level)},
		{"Seed", strconv.FormatUint(f.study.Seed, 10)},
	}}
	var err error
	if f.page.JSON, err = f.encoded(nil); err != nil {
		return err
	}
	var set atomicfile.Set
	defer set.Discard()
	if err := report.WritePower(&set, f.out, f.page); err != nil {
		return err
	}
	if err := set.Commit(); err != nil {
		return err
	}
	return atomicfile.Remove(filepath.Join(f.out, stateFile))
}

// tell says on stdout what came out.
func (f *powerCommand) tell(cmd *cobra.Command, took time.Duration) error {
	w, r := cmd.OutOrStdout(), f.result
	for _, warning := range r.Warnings {
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", warning)
	}
	if f.json {
		seconds := took.Seconds()
		text, err := f.encoded(&seconds)
		if err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	} else if err := f.table(w); err != nil {
		return err
	}
	if !r.Converged() {
		return unconverged{"NOT converged: " + r.Warnings[len(r.Warnings)-1]}
	}
	return nil
}

// answer says in a sentence how many rows are needed.
func answer(r *power.Result) string {
	c, n := r.Config, r.Needed
	first, last := r.Points[0], r.Points[len(r.Points)-1]
	switch {
	case n.Rows == 0:
		return fmt.Sprintf("a sensitivity of %g is reached with %d rows, the fewest that were tried, or with fewer", c.Sensitivity, first.Rows)
	case math.IsInf(n.Rows, 1):
		return fmt.Sprintf("a sensitivity of %g needs more than %d rows, the most that were tried, where it is %.3f: try more (--rows)", c.Sensitivity, last.Rows, last.Means[power.Sensitivity].Value)
	}
	low, high := fmt.Sprintf("%.0f", math.Ceil(n.Low)), fmt.Sprintf("%.0f", math.Ceil(n.High))
	if n.Low == 0 {
		low = fmt.Sprintf("fewer than %d", first.Rows)
	}
	if math.IsInf(n.High, 1) {
		high = fmt.Sprintf("more than %d", last.Rows)
	}
	return fmt.Sprintf("a sensitivity of %g needs about %.0f rows (%g %% interval %s to %s)", c.Sensitivity, math.Ceil(n.Rows), 100*c.Level, low, high)
}

// listed are numbers as words.
func listed(numbers []int) string {
	var words []string
	for _, n := range numbers {
		words = append(words, strconv.Itoa(n))
	}
	return strings.Join(words, ", ")
}

// graphTruth draws the truth of a shape.
func graphTruth(shape string, d, edges int, strength float64, seed uint64) (*power.Truth, float64, error) {
	g, err := simulate.Graph(shape, d, edges, strength, stream.New(seed, stream.Initial))
	if err != nil {
		return nil, 0, err
	}
	names := make([]string, d)
	for j := range names {
		names[j] = fmt.Sprintf("x%d", j+1)
	}
	t, err := power.NewTruth(names, g, nil, 0)
	if err != nil {
		return nil, 0, err
	}
	largest := 0.0
	for _, w := range t.Weights {
		largest = max(largest, math.Abs(w))
	}
	return t, largest, nil
}

// encoded is the JSON object, with how long it took where that is given.
func (f *powerCommand) encoded(seconds *float64) ([]byte, error) {
	blas, err := graph.BLAS()
	if err != nil {
		return nil, err
	}
	return encodePower(f, blas, seconds)
}

// gapsText says in words how rows get their gaps.
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

// likeTable reads the table whose gaps are drawn, by the columns of the truth.
func likeTable(path string, o data.ReadOptions, names []string) (*data.Table, error) {
	o.Columns = names
	t, err := data.ReadFile(path, o)
	if err != nil {
		return nil, fmt.Errorf("--table: %w", err)
	}
	return t, nil
}
