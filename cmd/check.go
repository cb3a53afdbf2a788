package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"missingscore/data/diagnose"
	"missingscore/data/mcar"
	"missingscore/graph/model"
	"missingscore/trainers"
	"missingscore/trainers/engine"
	"missingscore/trainers/evaluate"
)

// checkCommand is the check command: its flags, and what its phases make.
type checkCommand struct {
	table              tableFlags
	support            domainFlags
	law                missingnessFlag
	transform          transformFlag
	kind, modelOptions string
	rows               int
	seed               uint64
	json               bool

	gaps     []mcar.Column
	findings []diagnose.Finding
	problem  engine.Problem
	results  []evaluate.Check
}

func newCheckCommand() *cobra.Command {
	var f checkCommand
	cmd := &cobra.Command{
		Use:   "check TABLE.csv",
		Short: "Say what is wrong with a table, and check every gradient of a model on it",
		Long: `Say what is wrong with a table, or worth knowing before it is fitted: columns that
depend on each other, identifiers, codes in place of missing cells, columns too skewed
for their bounds and others; network and fit give the same warnings. For each column
with gaps a test whether they depend on other columns, which methods that take cells
to be missing completely at random do not allow for. Then compare every gradient that
a fit would use with central differences, on the first rows of a table (scaled as fit
does) and at parameters away from their start: the model's score, its diagonal and
Hessian products, the pseudo-loss, the direct Marg-IW loss, the closed form for
Gaussians, and what trains the imputer. With --lower, --upper or --domain: on that
support; with --missingness: of the model with what is known of its gaps. Exit code 1
if one fails.`,
		Example: `  missingscore check examples/airquality.csv --columns Ozone,Solar.R,Wind,Temp --model gaussian`,
		Args:    exactArgs(1, "one table"),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	f.table.add(cmd)
	f.support.add(cmd)
	f.law.add(cmd)
	f.transform.add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.kind, "model", "gaussian", strings.Join(slices.Sorted(maps.Keys(model.Models)), ", ")+"; gaussian has P = LLᵀ, gaussian-network a free symmetric P, gaussian-natural the same with η = Pμ")
	fl.StringVar(&f.modelOptions, "model-options", "", "options of the model as JSON, as for fit")
	fl.IntVar(&f.rows, "rows", 20, "how many rows of the table are used")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of all random draws")
	fl.BoolVar(&f.json, "json", false, "print one JSON object on stdout")
	return cmd
}

// run takes the command through its phases.
func (f *checkCommand) run(cmd *cobra.Command, file string) error {
	if err := abandonable(cmd.Context(), func() error { return f.load(cmd, file) }); err != nil {
		return err
	}
	if err := f.compare(cmd.Context()); err != nil {
		return err
	}
	return f.tell(cmd.OutOrStdout())
}

// load reads the table and prepares what a fit would fit.
func (f *checkCommand) load(cmd *cobra.Command, file string) error {
	t, err := f.table.read(file, f.seed)
	if err != nil {
		return err
	}
	if f.rows < 1 {
		return usageError{fmt.Errorf("--rows %d: at least one is needed", f.rows)}
	}
	spec := trainers.Spec{
		Model: trainers.ModelSpec{Kind: f.kind, Options: json.RawMessage(f.modelOptions)},
		Steps: engine.Config{Seed: f.seed},
	}
	if spec.Transform, err = f.transform.parse(); err != nil {
		return asUsage(cmd, err)
	}
	if spec.Domain, _, err = f.support.around(t, file); err != nil {
		return err
	}
	if spec.Missingness, err = f.law.read(t, spec.Domain); err != nil {
		return err
	}
	p, err := trainers.Prepare(t, spec)
	if err != nil {
		return asUsage(cmd, inTable(err, file, rowAdvice(err, "correct the row, leave it out, or change the thresholds (--missingness)")))
	}
	if f.findings, err = p.Findings(); err != nil {
		return err
	}
	f.gaps = mcar.TestBy(runtime.GOMAXPROCS(0), t)
	f.problem, err = p.Problem(f.rows)
	return err
}

// compare makes all comparisons.
func (f *checkCommand) compare(ctx context.Context) error {
	return abandonable(ctx, func() (err error) {
		f.results, err = evaluate.Gradients(f.problem.Table, f.problem.Joint(), f.problem.Domain, f.rows, f.seed)
		return err
	})
}

// tell says on stdout what came out; a gradient that does not agree is an error.
func (f *checkCommand) tell(stdout io.Writer) (err error) {
	ok := !slices.ContainsFunc(f.results, func(r evaluate.Check) bool { return !r.OK })
	if f.json {
		err = printJSON(stdout, map[string]any{"model": f.kind, "ok": ok, "findings": f.findings, "checks": f.results, "missing_at_random": testedColumns(f.gaps)})
	} else {
		err = f.print(stdout)
	}
	if err == nil && !ok {
		err = errors.New("a gradient does not agree with differences")
	}
	return err
}

// print writes a line for each comparison.
func (f *checkCommand) print(stdout io.Writer) error {
	writeFindings(stdout, f.findings)
	if len(f.findings) == 0 {
		fmt.Fprintln(stdout, "no fault found in the table")
	}
	fmt.Fprintln(stdout)
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "check\tcompared\tlargest error\twhere\ttolerance\t")
	for _, r := range f.results {
		verdict := "ok"
		if !r.OK {
			verdict = "FAILED"
		}
		fmt.Fprintf(w, "%s\t%d\t%.1e\t%s\t%.0e\t%s\n", r.Name, r.Compared, r.Error, r.Where, r.Tolerance, verdict)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return printGaps(stdout, f.gaps)
}

// printGaps writes a line for each column with gaps: whether they depend on other columns.
func printGaps(stdout io.Writer, gaps []mcar.Column) error {
	if len(gaps) == 0 {
		return nil
	}
	fmt.Fprintln(stdout, "\ncells missing completely at random?")
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "column\tmissing\tp\tcorrected\tmissing more often where\t")
	for _, c := range gaps {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t\n", c.Name, c.Missing, mcar.FormatP(c.P), mcar.FormatP(c.Corrected), where(c))
	}
	return w.Flush()
}

// where says in what rows a column is missing more often, and that it is not clear where the test
// leaves that to chance.
func where(c mcar.Column) string {
	if c.Depends() || c.Predictor == "" || c.Corrected >= 1 {
		return c.Where()
	}
	return "not clear; most where " + c.Where()
}
