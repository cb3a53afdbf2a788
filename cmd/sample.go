package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"missingscore/data"
	"missingscore/trainers/fitted"
)

func newSampleCommand() *cobra.Command {
	var f drawingFlags
	var c fitted.SampleConfig
	cmd := &cobra.Command{
		Use:   "sample MODEL.json",
		Short: "Draw complete rows from a fitted model",
		Long: `Draw complete rows from a fitted model, in the table's units and inside its support.

--sampler
  exact       independent draws: Gaussian models and mixtures
  hmc         Hamiltonian Monte Carlo, up to 1000 chains, with R-hat and effective sample size
  langevin    annealed Langevin steps along the noise levels of a denoising fit
  sde         the reverse-time equation of the noise
  predictive  parameter draws of a model that impute --model-out kept
  auto        exact if possible; sde or langevin for denoising fits; else hmc`,
		Example: `  missingscore fit examples/airquality.csv --columns Ozone,Wind,Temp --out air.json
  missingscore sample air.json --n 500 --out samples.csv`,
		Args: exactArgs(1, "one model"),
		RunE: func(cmd *cobra.Command, args []string) error { return sample(cmd, &f, c, args[0]) },
	}
	f.add(cmd, "samples.csv", "`file` for the rows")
	cmd.Flags().IntVar(&c.N, "n", 1000, "rows")
	cmd.Flags().StringVar(&c.Sampler, "sampler", "auto", "`name` of the sampler: auto, exact, hmc, langevin, sde or predictive")
	return cmd
}

func sample(cmd *cobra.Command, f *drawingFlags, c fitted.SampleConfig, model string) error {
	if !slices.Contains(fitted.RowSamplers, c.Sampler) {
		return usageError{fmt.Errorf("--sampler %s: it is one of %s", c.Sampler, strings.Join(fitted.RowSamplers, ", "))}
	}
	var m *fitted.Saved
	var ready *fitted.Model
	if err := abandonable(cmd.Context(), func() (err error) {
		m, ready, err = f.prepare(cmd, model, "n")
		return err
	}); err != nil {
		return err
	}
	if err := checkSize("%d rows (--n) × %d columns", c.N, len(ready.Names)); err != nil {
		return err
	}
	c.Seed, c.Chains, c.Steps = f.seed, f.chains, f.steps
	c, err := c.For(ready)
	if err != nil {
		return refused(err, model)
	}
	if err := checkSamplerFlags(cmd, c.Sampler); err != nil {
		return err
	}
	return locked(func() error {
		var r *fitted.Rows
		if err := abandonable(cmd.Context(), func() (err error) {
			r, err = fitted.Sample(cmd.Context(), ready, c)
			return err
		}); err != nil {
			return refused(err, model)
		}
		known := map[string]any{"model": m.Kind, "sampler": r.Sampler, "n": c.N}
		summary := fmt.Sprintf("%d rows; sampler: %s", c.N, r.Sampler)
		if h := r.Chains; h != nil {
			known["accept"], known["r_hat"], known["effective_size"] = h.Accept, plain(h.WorstRHat()), plain(h.LeastSize())
			if r.Start > 0 {
				known["start"] = r.Start
				summary += fmt.Sprintf("\nchains from weighted draws of a mixture, of effective size %.0f", r.Start*float64(c.N))
			}
			summary += fmt.Sprintf("\n%.0f %% accepted, R-hat at most %.3f, effective sample size of the chains at least %.0f", 100*h.Accept, h.WorstRHat(), h.LeastSize())
		}
		if m.Check != nil {
			check := m.Check.Again(ready.Names, r.Values)
			known["check"] = check
			f.outcome.unlike = strings.Join(check.Off[:min(4, len(check.Off))], "; ")
		}
		return f.finish(cmd, known, r.Converged(), summary, func(put data.Put) error {
			return data.WriteLevels(put, f.out, ready.Names, ready.Drawn(), r.Values)
		})
	}, f.out)
}
