package speed

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"missingscore/graph"
	"missingscore/trainers/estimator"
)

// benchmark holds the flags of bench.
type benchmark struct {
	setting Setting
	methods []string
	seconds float64
	json    bool
}

const warmUp, leastTimed = 3, 5 // iterations

// BenchCommand returns bench, which times iterations of this program.
func BenchCommand() *cobra.Command {
	var f benchmark
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Time parameter iterations of this program",
		Long: `Time one parameter iteration of each method in steady state with one worker: one
parameter step on a batch of rows, after ten imputer steps if the method has an imputer.

  normal  Gaussian by its Cholesky factor, Adam, a fifth of the cells missing
  quartic the quartic model, Adam, half of the cells missing
  star    free symmetric precision, proximal step, half of the cells missing`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.setting.Experiment == "quartic" && !cmd.Flags().Changed("method") {
				f.methods = slices.DeleteFunc(f.methods, func(m string) bool { e, _ := estimator.ByName(m); return e.NeedsNormal() })
			}
			return f.run(cmd.Context(), cmd.OutOrStdout())
		},
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
	fl.TextVar(&f.setting.DType, "dtype", graph.Float64, "number type of the graphs: float64 or float32")
	fl.StringSliceVar(&f.methods, "method", known, "methods, for example "+strings.Join(known[:2], ","))
	fl.Float64Var(&f.seconds, "seconds", 2, "seconds for each method")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

func (f benchmark) run(ctx context.Context, w io.Writer) error {
	s := f.setting
	if s.D < 3 || s.Batch < 1 || s.Draws < 1 {
		return fmt.Errorf("--d %d --batch %d --draws %d: at least 3, 1 and 1 are needed", s.D, s.Batch, s.Draws)
	}
	for _, m := range f.methods {
		e, err := estimator.ByName(m)
		if err == nil && e.OfMatrix() {
			err = fmt.Errorf("method %s has no steps over rows", m)
		}
		if err != nil {
			return fmt.Errorf("--method: %w", err)
		}
	}
	blas, err := graph.BLAS()
	if err != nil {
		return err
	}
	type result struct {
		Method  string  `json:"method"`
		Seconds float64 `json:"seconds_per_iteration"`
	}
	s.N = s.Batch
	var results []result
	for _, s.Method = range f.methods {
		step, err := s.Stepper()
		if err != nil {
			return err
		}
		if _, _, err := Time(ctx, step, warmUp, 0); err != nil {
			return err
		}
		each, _, err := Time(ctx, step, leastTimed, f.seconds)
		if err != nil {
			return err
		}
		results = append(results, result{s.Method, each})
	}
	if f.json {
		return json.NewEncoder(w).Encode(map[string]any{"experiment": s.Experiment, "d": s.D, "batch": s.Batch, "r": s.Draws,
			"dtype": s.DType, "blas": blas, "results": results})
	}
	fmt.Fprintf(w, "%s, d = %d, batch %d, r = %d, %v, matrix products by %s\n", s.Experiment, s.D, s.Batch, s.Draws, s.DType, blas)
	for _, r := range results {
		fmt.Fprintf(w, "%-9s %10.3f ms per iteration\n", r.Method, 1e3*r.Seconds)
	}
	return nil
}
