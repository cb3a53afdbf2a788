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
		Long: `Draw complete rows from a fitted model, in the table's units and inside the
model's domain, by --sampler

  exact     independent draws of a Gaussian, or of a mixture, with its levels as text
  hmc       Hamiltonian Monte Carlo, up to 1000 chains, with R-hat and effective size
  mala      the same with one step a proposal
  langevin  annealed Langevin steps along the levels of noise a model was fitted at
  sde       the equation of that noise backwards in time (--corrections: Langevin
            steps after each)
  ode       its probability flow
  predictive  of a model kept by impute --model-out, by its draws of the parameters
  auto      exact where it can be; for models of many levels of noise sde, of a
            ladder of levels langevin; else hmc`,
		Example: `  missingscore simulate quartic --d 3 --out q
  missingscore sample q/truth.json --n 500 --out q/samples.csv`,
		Args: exactArgs(1, "one model"),
		RunE: func(cmd *cobra.Command, args []string) error { return sample(cmd, &f, c, args[0]) },
	}
	f.add(cmd, "samples.csv", "file for the rows")
	cmd.Flags().IntVar(&c.N, "n", 1000, "rows")
	cmd.Flags().StringVar(&c.Sampler, "sampler", "auto", "auto, exact, hmc, mala, langevin, sde, ode or predictive")
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
	if err := checkSize(size{c.N, "rows (--n)"}, size{len(ready.Names), "columns"}); err != nil {
		return err
	}
	c.Seed, c.Chains, c.Diffusion = f.seed, f.chains, f.diffusion
	c, err := c.For(ready)
	if err != nil {
		return refused(err, model)
	}
	if err := checkSamplerFlags(cmd, c.Sampler); err != nil {
		return err
	}
	release, err := lock(f.out)
	if err != nil {
		return err
	}
	defer release()
	var r *fitted.Rows
	if err := abandonable(cmd.Context(), func() (err error) {
		r, err = fitted.Sample(cmd.Context(), ready, c)
		return err
	}); err != nil {
		return refused(err, model)
	}
	known := map[string]any{"model": m.Kind, "sampler": r.Sampler, "n": c.N}
	summary := fmt.Sprintf("%d rows by %s", c.N, r.Sampler)
	if h := r.Chains; h != nil {
		known["accept"], known["r_hat"], known["effective_size"] = h.Accept, plain(h.WorstRHat()), plain(h.LeastSize())
		summary += fmt.Sprintf("\n%.0f %% accepted, R-hat at most %.3f, effective sample size of the chains at least %.0f", 100*h.Accept, h.WorstRHat(), h.LeastSize())
	}
	if err := f.save(cmd, known, r.Converged(), func(put data.Put) error {
		return data.WriteLevels(put, f.out, ready.Names, ready.Drawn(), r.Values)
	}); err != nil {
		return err
	}
	return f.finish(cmd, known, r.Converged(), summary)
}
