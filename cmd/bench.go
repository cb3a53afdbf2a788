package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"missingscore/benchmarks/timing"
	"missingscore/graph"
	"missingscore/trainers/estimator"
)

// benchResult is one method's line.
type benchResult struct {
	Method  string  `json:"method"`
	Seconds float64 `json:"seconds_per_iteration"`
}

const benchWarmUp, benchLeast = 3, 5 // iterations

func newBenchCommand() *cobra.Command {
	var s timing.Setting
	var methods []string
	var seconds float64
	var asJSON bool
	var known []string
	for _, e := range estimator.All {
		if !e.Complete {
			known = append(known, e.Name)
		}
	}
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
		RunE: func(cmd *cobra.Command, _ []string) error {
			if s.D < 3 {
				return usageError{fmt.Errorf("--d %d: at least three columns are needed", s.D)}
			}
			if err := positive(cmd, "batch", "draws"); err != nil {
				return err
			}
			if err := fits(size{s.Batch, "rows (--batch)"}, size{s.Draws, "draws (--draws)"}, size{s.D, "columns (--d)"}); err != nil {
				return err
			}
			if !slices.Contains(timing.Experiments, s.Experiment) {
				return usageError{fmt.Errorf("--experiment %q: it is normal, quartic or star", s.Experiment)}
			}
			if s.Experiment == "quartic" && !cmd.Flags().Changed("method") {
				methods = slices.DeleteFunc(methods, func(m string) bool { e, _ := estimator.ByName(m); return e.Gaussian })
			}
			for _, m := range methods {
				if _, err := estimator.ByName(m); err != nil {
					return usageError{fmt.Errorf("--method: %w", err)}
				}
			}
			blas, err := graph.BLAS()
			if err != nil {
				return err
			}
			s.N = s.Batch
			var results []benchResult
			for _, m := range methods {
				s.Method = m
				step, err := s.Stepper()
				if err != nil {
					return err
				}
				if _, _, err := timing.Time(cmd.Context(), step, benchWarmUp, 0); err != nil {
					return err
				}
				each, _, err := timing.Time(cmd.Context(), step, benchLeast, seconds)
				if err != nil {
					return err
				}
				results = append(results, benchResult{m, each})
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]any{"experiment": s.Experiment, "d": s.D, "batch": s.Batch, "r": s.Draws,
					"dtype": s.DType, "blas": blas, "results": results})
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s, d = %d, batch %d, r = %d, %v, matrix products by %s\n", s.Experiment, s.D, s.Batch, s.Draws, s.DType, blas)
			for _, r := range results {
				fmt.Fprintf(cmd.OutOrStdout(), "%-9s %10.3f ms per iteration\n", r.Method, 1e3*r.Seconds)
			}
			return nil
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&s.Experiment, "experiment", "normal", "normal, quartic or star")
	fl.IntVar(&s.D, "d", 10, "columns")
	fl.IntVar(&s.Batch, "batch", 100, "rows in a batch")
	fl.IntVar(&s.Draws, "draws", 10, "imputations per row")
	fl.TextVar(&s.DType, "dtype", graph.Float64, "number type of the expression graphs, float64 or float32")
	fl.StringSliceVar(&methods, "method", known, "methods, as "+strings.Join(known[:2], ","))
	fl.Float64Var(&seconds, "seconds", 2, "seconds to measure each method for")
	fl.BoolVar(&asJSON, "json", false, "print one JSON object on stdout")
	return cmd
}
