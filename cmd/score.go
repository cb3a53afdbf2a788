package cmd

import (
	"fmt"
	"math"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/trainers/fitted"
)

func newScoreCommand() *cobra.Command {
	var f completingFlags
	cmd := &cobra.Command{
		Use:   "score MODEL.json TABLE.csv",
		Short: "Score a table's rows under a fitted model",
		Long: `Write one line for each row of a table:

  .id              number of the row
  log_density      log density up to a constant; empty with missing cells
  score_X          derivative of the log density by column X; with missing cells the mean
                   over --draws, the score of the observed cells
  error_X          Monte Carlo standard error of score_X
  effective_draws  effective sample size of the draws

Mixtures need no draws; their levels have no derivative. If the model was fitted with
--missingness, density and score include the probability of the row's gaps.

Of a model kept by impute --model-out there are log_density, which is normalised and of the
observed cells of every row, and observed, their number: held-out rows have their log likelihood.

` + samplersText,
		Example: `  missingscore fit examples/airquality.csv --columns Ozone,Wind,Temp --out air.json
  missingscore score air.json examples/airquality.csv --out scores.csv`,
		Args: exactArgs(2, "a model and a table"),
		RunE: func(cmd *cobra.Command, args []string) error { return score(cmd, &f, args[0], args[1]) },
	}
	f.add(cmd, 100, "scores.csv", "`file` for the scores")
	return cmd
}

func score(cmd *cobra.Command, f *completingFlags, model, path string) error {
	m, ready, cells, err := f.read(cmd, model, path)
	if err != nil {
		return err
	}
	if f.config.Draws < 2 {
		return usageError{fmt.Errorf("--draws %d: at least two are needed for a standard error", f.config.Draws)}
	}
	return locked(func() error { return writeScores(cmd, f, m, ready, cells, path) }, f.out)
}

func writeScores(cmd *cobra.Command, f *completingFlags, m *fitted.Saved, ready *fitted.Model, cells *data.Cells, path string) error {
	bar := f.watch(cmd, "score")
	r, err := fitted.Score(cmd.Context(), ready, cells.Table, f.config)
	bar.finish()
	if err != nil {
		return refused(err, path)
	}
	if ready.Posterior != nil {
		return saveDensities(cmd, f, cells.Table, r.LogDensity, m.Kind)
	}
	header, values := []string{".id", "log_density"}, []float64(nil)
	var numbers []int // columns
	for j, levels := range ready.Drawn() {
		if levels == nil {
			numbers = append(numbers, j)
		}
	}
	for _, prefix := range []string{"score_", "error_"} {
		for _, j := range numbers {
			header = append(header, prefix+ready.Names[j])
		}
	}
	for i, size := range r.Size {
		values = append(values, float64(i+1), r.LogDensity[i])
		for _, of := range [][]float64{r.Score, r.Error} {
			for _, j := range numbers {
				values = append(values, of[i*cells.Table.D+j])
			}
		}
		if size == 0 {
			size = math.NaN()
		}
		values = append(values, size)
	}
	known := map[string]any{"model": m.Kind, "sampler": r.Sampler, "draws": f.config.Draws, "rows": cells.Table.N}
	converged, mixing := mixed(known, r.Mixing)
	how := fmt.Sprintf("missing cells drawn %d times by %s%s", f.config.Draws, r.Sampler, mixing)
	if r.Sampler == fitted.ClosedForm {
		how = "in " + r.Sampler
	}
	return f.finish(cmd, known, converged, fmt.Sprintf("scores of %d rows, %s", cells.Table.N, how), func(put data.Put) error {
		return data.WriteNumbers(put, f.out, append(header, "effective_draws"), values)
	})
}

func saveDensities(cmd *cobra.Command, f *completingFlags, t *data.Table, log []float64, kind string) error {
	var values []float64
	for i, v := range log {
		observed := 0.0
		for _, seen := range t.Observed[i*t.D : (i+1)*t.D] {
			if seen {
				observed++
			}
		}
		values = append(values, float64(i+1), v, observed)
	}
	mean := stat.Mean(log, nil)
	known := map[string]any{"model": kind, "rows": t.N, "log_density": plain(mean)}
	summary := fmt.Sprintf("log densities of the observed cells of %d rows: mean %.4g", t.N, mean)
	return f.finish(cmd, known, true, summary, func(put data.Put) error {
		return data.WriteNumbers(put, f.out, []string{".id", "log_density", "observed"}, values)
	})
}
