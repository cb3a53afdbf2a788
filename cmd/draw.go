package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"missingscore/data"
	"missingscore/internal/atomicfile"
	"missingscore/internal/spelling"
	"missingscore/internal/trainers/mcmc"
	"missingscore/trainers/fitted"
)

type drawingFlags struct {
	out    string
	seed   uint64
	chains mcmc.Options
	steps  int
	json   bool

	outcome struct {
		unconverged string   // what is wrong with the model's fit, empty for nothing
		unreliable  bool     // by a check of the fit, converged or not
		doubts      []string // columns with draws that cannot be
		unlike      string   // how draws differ from the model's table, empty for not
		notes       []string // warnings that leave the exit code as it is
	}
	unmet string // what is said of chains that have not met, where they are not of a model
}

func (f *drawingFlags) add(cmd *cobra.Command, out, what string) {
	fl := cmd.Flags()
	fl.StringVar(&f.out, "out", out, what)
	fl.Uint64Var(&f.seed, "seed", 1, "seed of the random draws")
	fl.IntVar(&f.chains.WarmUp, "warm-up", 0, "Monte Carlo iterations to discard (default: 40 to 1600, until chains converge)")
	fl.IntVar(&f.chains.Draws, "iterations", 0, "Monte Carlo iterations to keep (default: 60 to 2000, until chains converge)")
	fl.IntVar(&f.steps, "steps", 0, "steps along the noise levels (default: sde 250, langevin 100, diffusion 250, or the model's levels)")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
}

func (f *drawingFlags) prepare(cmd *cobra.Command, path string, counts ...string) (*fitted.Saved, *fitted.Model, error) {
	if err := f.checkFlags(cmd, counts...); err != nil {
		return nil, nil, err
	}
	m, err := fitted.Load(path)
	if err != nil {
		return nil, nil, err
	}
	ready, err := m.Fitted()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if m.Outcome != nil && !m.Outcome.Converged {
		why, unreliable := strings.CutPrefix(m.Outcome.Verdict, "NOT reliable: ")
		f.outcome.unreliable = unreliable
		f.outcome.unconverged = fmt.Sprintf("the fit of %s is not reliable: %s", path, why)
	}
	return m, ready, ensureDirOf(f.out)
}

// counts name more flags that must be positive.
func (f *drawingFlags) checkFlags(cmd *cobra.Command, counts ...string) error {
	if err := nonZero(cmd, append(counts, "warm-up", "iterations", "steps")...); err != nil {
		return err
	}
	if info, err := os.Stat(f.out); strings.HasSuffix(f.out, "/") || err == nil && info.IsDir() {
		f.out = filepath.Join(f.out, cmd.Flags().Lookup("out").DefValue)
	}
	if err := distinctFiles(cmd, output{"out", f.out}, output{"out", f.about()}); err != nil {
		return err
	}
	if cmd.Flags().Changed("iterations") && f.chains.Draws < mcmc.LeastDraws {
		return usageError{fmt.Errorf("--iterations %d: at least %d are needed to test convergence", f.chains.Draws, mcmc.LeastDraws)}
	}
	return nil
}

// about is the path of the side file, OUT.json; "" for none.
func (f *drawingFlags) about() string { return siblingOf(f.out, filepath.Base(f.out)+".json") }

// finish writes the result, removes the states and prints its summary.
func (f *drawingFlags) finish(cmd *cobra.Command, known map[string]any, converged bool, summary string, write func(data.Put) error, states ...string) error {
	known["seed"], known["converged"], known["out"] = f.seed, converged && f.outcome.unconverged == "" && f.outcome.unlike == "", f.out
	warnings := array(f.outcome.notes)
	if f.outcome.unconverged != "" {
		warnings = append(warnings, f.outcome.unconverged)
	}
	for _, d := range f.outcome.doubts {
		warnings = append(warnings, d+": cells may be missing not at random, or the fit lacked bounds of these columns")
	}
	known["warnings"] = warnings
	for _, w := range warnings {
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", w)
	}
	about := f.about()
	if err := commit(func(set *atomicfile.Set) error {
		if about != "" {
			if err := set.Write(about, func(w io.Writer) error { return printJSON(w, known) }); err != nil {
				return err
			}
		}
		return write(set.Write)
	}); err != nil {
		return err
	}
	if err := removeStates(states...); err != nil {
		return err
	}
	summary += "\nresult: " + f.out
	if about != "" {
		summary += ", details: " + about
	}
	if !f.json {
		fmt.Fprintln(cmd.OutOrStdout(), summary)
	} else if err := printJSON(cmd.OutOrStdout(), known); err != nil {
		return err
	}
	if !converged {
		return unconverged{"NOT converged: " + cmp.Or(f.unmet, fmt.Sprintf("the Markov chains have not converged (R-hat above %v), so the result in %s is not from the model's distribution; try more --iterations and a longer --warm-up, or another --sampler", fitted.MaxRHat, f.out))}
	}
	switch o := f.outcome; {
	case o.unreliable:
		return unconverged{fmt.Sprintf("NOT reliable: the fit of the model is not reliable, so %s is not either", f.out)}
	case o.unconverged != "":
		return unconverged{fmt.Sprintf("NOT converged: the fit of the model has not converged, so %s is not reliable", f.out)}
	case len(o.doubts) > 0:
		return unconverged{fmt.Sprintf("NOT plausible: in %s %s", f.out, strings.Join(o.doubts, "; "))}
	case o.unlike != "":
		return unconverged{fmt.Sprintf("NOT reliable: the rows in %s are unlike the table that the model was fitted to: %s; try fit --model mixture", f.out, o.unlike)}
	}
	return nil
}

func checkSamplerFlags(cmd *cobra.Command, sampler string) error {
	chains, steps := []string{"mcmc", "hmc", fitted.FromPosterior}, []string{"diffusion", "langevin", "sde"}
	return cmp.Or(unread(cmd, "sampler "+sampler, slices.Contains(chains, sampler), "warm-up", "iterations"),
		unread(cmd, "sampler "+sampler, slices.Contains(steps, sampler), "steps"))
}

func refused(err error, path string) error {
	if errors.Is(err, context.Canceled) {
		return interrupted("nothing is written")
	}
	var row *data.RowError
	if errors.As(err, &row) {
		return inTable(err, path, "correct the row or leave it out")
	}
	return fmt.Errorf("%s: %w", path, err)
}

// plain is v for JSON: null for NaN and infinity.
func plain(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return v
}

type completingFlags struct {
	drawingFlags
	table  tableFlags
	config fitted.ImputeConfig
}

func (f *completingFlags) add(cmd *cobra.Command, draws int, out, what string) {
	f.drawingFlags.add(cmd, out, what)
	f.table.addFormat(cmd)
	fl := cmd.Flags()
	fl.IntVar(&f.config.Draws, "draws", draws, "draws of each missing cell")
	fl.StringVar(&f.config.Sampler, "sampler", "auto", "`source` of draws: auto, exact, mcmc, imputer, diffusion, latent, predictive")
	fl.IntVar(&f.config.Workers, "workers", runtime.NumCPU(), "`threads`; results do not depend on them")
}

const samplersText = `Missing cells are drawn given the observed cells of the row, inside the model's support.

--sampler
  exact       conditional normal distribution of a Gaussian model
  mcmc        Hamiltonian Monte Carlo, four chains a row
  imputer     the imputer of var and variw alone: fast, and as good as its training
  diffusion   Langevin steps along the noise levels of a denoising fit
  latent      Gibbs draws of latent normal variables: models with ordered categories
  predictive  the parameter draws that impute --model-out kept
  auto        the first of latent, exact, diffusion, mcmc that the model allows`

func (f *completingFlags) check(cmd *cobra.Command, samplers ...string) error {
	if by := f.config.Sampler; !slices.Contains(samplers, by) {
		return usageError{fmt.Errorf("--sampler %s: it is one of %s%s", by, strings.Join(samplers, ", "), spelling.DidYouMean(by, samplers))}
	}
	return f.checkFlags(cmd, "draws", "workers")
}

func (f *completingFlags) read(cmd *cobra.Command, model, path string) (m *fitted.Saved, ready *fitted.Model, cells *data.Cells, err error) {
	err = abandonable(cmd.Context(), func() (err error) {
		if err := f.check(cmd, fitted.Samplers...); err != nil {
			return err
		}
		if m, ready, err = f.prepare(cmd, model); err != nil {
			return err
		}
		o, err := f.table.options()
		if err := cmp.Or(err, withRows(path)); err != nil {
			return err
		}
		o.Columns, o.Kinds = ready.Names, m.Kinds()
		if cells, err = data.ReadCells(path, o); err != nil {
			return err
		}
		f.outcome.notes = append(f.outcome.notes, ready.Clamped(cells.Table)...)
		c := &f.config
		c.Seed, c.Chains, c.Steps = f.seed, f.chains, f.steps
		if err := checkSize("%d rows × %d columns × %d draws (--draws)", cells.Table.N, cells.Table.D, c.Draws); err != nil {
			return err
		}
		if *c, err = c.For(ready); err != nil {
			return refused(err, model)
		}
		return checkSamplerFlags(cmd, c.Sampler)
	})
	return m, ready, cells, err
}

func (f *completingFlags) watch(cmd *cobra.Command, stage string) *progress {
	bar := newProgress(cmd.ErrOrStderr(), false)
	f.config.Observe = func(done, total int) { bar.count(stage, "rows", done, total) }
	return bar
}

func mixed(known map[string]any, m *fitted.Mixing) (converged bool, summary string) {
	if m == nil {
		return true, ""
	}
	least := slices.Min(append(m.Size[:len(m.Size):len(m.Size)], math.Inf(1)))
	known["r_hat"], known["worst_r_hat"], known["worst_row"], known["effective_size"] = plain(m.RHat), plain(m.Worst), m.Row+1, plain(least)
	summary = fmt.Sprintf("\nR-hat %.3f over rows, at most %.3f (row %d)", m.RHat, m.Worst, m.Row+1)
	if !math.IsInf(least, 1) {
		summary += fmt.Sprintf("; effective number of draws of a row's chains at least %.0f", least)
	}
	return m.Converged(), summary
}
