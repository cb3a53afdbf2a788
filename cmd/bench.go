package cmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"missingscore/benchmarks/timing"
	"missingscore/graph"
	"missingscore/trainers/estimator"
)

// benchCommand is the bench command: its flags, and what its phases make.
type benchCommand struct {
	setting timing.Setting
	methods []string
	seconds float64
	json    bool

	blas    string
	results []benchResult
}

// benchResult is one method's line.
type benchResult struct {
	Method  string  `json:"method"`
	Seconds float64 `json:"seconds_per_iteration"`
}

const benchWarmUp, benchLeast = 3, 5 // iterations

func newBenchCommand() *cobra.Command {
	var f benchCommand
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure the seconds of a parameter iteration",
		Long: `Measure the seconds of one parameter iteration (10 imputer steps where the
method trains one, and one parameter step, each on one batch of rows) in steady
state, with one worker.

  normal  Gaussian by its Cholesky factor, Adam, a fifth of the cells missing
  quartic the quartic model, Adam, half of the cells missing
  star    free symmetric precision, proximal step, half of the cells missing`,
		Example: `  missingscore bench --experiment star --d 20 --method exact,iw --seconds 0.2`,
		Args:    exactArgs(0, "no argument"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	var known []string
	for _, e := range estimator.All {
		if !e.NeedsCompleteRows() && !e.OfMatrix() {
			known = append(known, e.Name)
		}
	}
	fl := cmd.Flags()
	fl.StringVar(&f.setting.Experiment, "experiment", "normal", "normal, quartic or star")
	fl.IntVar(&f.setting.D, "d", 10, "columns")
	fl.IntVar(&f.setting.Batch, "batch", 100, "rows in a batch")
	fl.IntVar(&f.setting.Draws, "draws", 10, "imputations per row")
	fl.TextVar(&f.setting.DType, "dtype", graph.Float64, "number type of the expression graphs, float64 or float32")
	fl.StringSliceVar(&f.methods, "method", known, "methods, as "+strings.Join(known[:2], ","))
	fl.Float64Var(&f.seconds, "seconds", 2, "seconds to measure each method for")
	fl.BoolVar(&f.json, "json", false, "print one JSON object on stdout")
	return cmd
}

// run takes the command through its phases.
func (f *benchCommand) run(cmd *cobra.Command) (err error) {
	if err := f.options(cmd); err != nil {
		return err
	}
	if f.blas, err = graph.BLAS(); err != nil {
		return err
	}
	if err := f.measure(cmd.Context()); err != nil {
		return err
	}
	return f.tell(cmd.OutOrStdout())
}

// options checks the flags.
func (f *benchCommand) options(cmd *cobra.Command) error {
	s := &f.setting
	if s.D < 3 {
		return usageError{fmt.Errorf("--d %d: at least three columns are needed", s.D)}
	}
	if err := nonZero(cmd, "batch", "draws"); err != nil {
		return err
	}
	if err := checkSize(size{s.Batch, "rows (--batch)"}, size{s.Draws, "draws (--draws)"}, size{s.D, "columns (--d)"}); err != nil {
		return err
	}
	if !slices.Contains(timing.Experiments, s.Experiment) {
		return usageError{fmt.Errorf("--experiment %q: it is normal, quartic or star", s.Experiment)}
	}
	if s.Experiment == "quartic" && !cmd.Flags().Changed("method") {
		f.methods = slices.DeleteFunc(f.methods, func(m string) bool { e, _ := estimator.ByName(m); return e.NeedsNormal() })
	}
	for _, m := range f.methods {
		e, err := estimator.ByName(m)
		if err == nil && e.OfMatrix() {
			err = fmt.Errorf("method %s makes no steps over rows, whose time could be told; leave it out", m)
		}
		if err != nil {
			return usageError{fmt.Errorf("--method: %w", err)}
		}
	}
	s.N = s.Batch
	return nil
}

// measure times the methods, one after the other.
func (f *benchCommand) measure(ctx context.Context) error {
	for _, m := range f.methods {
		s := f.setting
		s.Method = m
		step, err := s.Stepper()
		if err != nil {
			return err
		}
		if _, _, err := timing.Time(ctx, step, benchWarmUp, 0); err != nil {
			return err
		}
		each, _, err := timing.Time(ctx, step, benchLeast, f.seconds)
		if err != nil {
			return err
		}
		f.results = append(f.results, benchResult{m, each})
	}
	return nil
}

// tell writes the results.
func (f *benchCommand) tell(w io.Writer) error {
	s := f.setting
	if f.json {
		return printJSON(w, map[string]any{"experiment": s.Experiment, "d": s.D, "batch": s.Batch, "r": s.Draws,
			"dtype": s.DType, "blas": f.blas, "results": f.results})
	}
	fmt.Fprintf(w, "%s, d = %d, batch %d, r = %d, %v, matrix products by %s\n", s.Experiment, s.D, s.Batch, s.Draws, s.DType, f.blas)
	for _, r := range f.results {
		fmt.Fprintf(w, "%-9s %10.3f ms per iteration\n", r.Method, 1e3*r.Seconds)
	}
	return nil
}
