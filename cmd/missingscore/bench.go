package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/stream"
	"missingscore/trainers"
)

// benchResult is one method's line.
type benchResult struct {
	Method  string  `json:"method"`
	Seconds float64 `json:"seconds_per_iteration"`
}

const benchBatch, benchDraws, benchWarmUp = 100, 10, 3

func newBenchCommand() *cobra.Command {
	var experiment string
	var d int
	var methods []string
	var seconds float64
	var asJSON bool
	var known []string
	for _, e := range trainers.Estimators {
		if !e.Complete {
			known = append(known, e.Name)
		}
	}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure the seconds of a parameter iteration",
		Long: `Measure the seconds of one parameter iteration (10 imputer steps where the
method trains one, and one parameter step) in steady state: one worker, a batch
of 100 rows, 10 draws a row, float64.

  normal  Gaussian by its Cholesky factor, Adam, a fifth of the cells missing
  quartic the quartic model, Adam, half of the cells missing
  star    free symmetric precision, proximal step, half of the cells missing`,
		Example: `  missingscore bench --experiment star --d 20 --method exact,iw --seconds 0.2`,
		Args:    exactArgs(0, "no argument"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if d < 3 {
				return usageError{fmt.Errorf("--d %d: at least three columns are needed", d)}
			}
			if experiment == "quartic" && !cmd.Flags().Changed("method") {
				methods = slices.DeleteFunc(methods, func(m string) bool { e, _ := trainers.EstimatorByName(m); return e.Gaussian })
			}
			for _, m := range methods {
				if _, err := trainers.EstimatorByName(m); err != nil {
					return usageError{fmt.Errorf("--method: %w", err)}
				}
			}
			blas, err := graph.BLAS()
			if err != nil {
				return err
			}
			var results []benchResult
			for _, m := range methods {
				table, err := benchTable(experiment, d, m == "full")
				if err != nil {
					return err
				}
				step, err := trainers.NewStepper(table, experiment, trainers.Config{Method: m, Batch: benchBatch, Draws: benchDraws, Seed: 1})
				if err != nil {
					return err
				}
				n, start := -benchWarmUp, time.Now()
				for ; n < 5 || time.Since(start).Seconds() < seconds; n++ {
					if n == 0 {
						start = time.Now()
					}
					if err := cmd.Context().Err(); err != nil {
						return err
					}
					if err := step(); err != nil {
						return err
					}
				}
				results = append(results, benchResult{m, time.Since(start).Seconds() / float64(n)})
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]any{"experiment": experiment, "d": d, "batch": benchBatch, "r": benchDraws,
					"dtype": "float64", "blas": blas, "results": results})
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s, d = %d, batch %d, r = %d, float64, matrix products by %s\n", experiment, d, benchBatch, benchDraws, blas)
			for _, r := range results {
				fmt.Fprintf(cmd.OutOrStdout(), "%-9s %10.3f ms per iteration\n", r.Method, 1e3*r.Seconds)
			}
			return nil
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&experiment, "experiment", "normal", "normal, quartic or star")
	fl.IntVar(&d, "d", 10, "columns")
	fl.StringSliceVar(&methods, "method", known, "methods, as "+strings.Join(known[:2], ","))
	fl.Float64Var(&seconds, "seconds", 2, "seconds to measure each method for")
	fl.BoolVar(&asJSON, "json", false, "print one JSON object on stdout")
	return cmd
}

// benchTable is one batch of rows.
func benchTable(experiment string, d int, complete bool) (*data.Table, error) {
	rng := stream.New(1, stream.Simulate)
	simulate, missing := data.SimulateStar, 0.5
	switch experiment {
	case "normal":
		simulate, missing = data.SimulateNormal, 0.2
	case "star":
	case "quartic": // the speed of a step does not depend on the numbers
	default:
		return nil, usageError{fmt.Errorf("--experiment %q: it is normal, quartic or star", experiment)}
	}
	truth, err := simulate(d, rng)
	if err != nil {
		return nil, err
	}
	table, err := truth.Sample(benchBatch, rng)
	if err != nil || complete {
		return table, err
	}
	return data.HideMCAR(table, missing, rng)
}
