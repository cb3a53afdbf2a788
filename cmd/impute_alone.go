package cmd

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"missingscore/data"
	"missingscore/data/diagnose"
	"missingscore/data/transform"
	"missingscore/internal/shell"
	"missingscore/losses"
	"missingscore/trainers/fitted"
	"missingscore/trainers/mcmc"
	"missingscore/trainers/posterior"
)

// fromTable tells whether draws come from the table alone, without a fitted model: by
// --sampler posterior, or where nothing asks for a model.
func (f *imputeCommand) fromTable(cmd *cobra.Command, tables int) (bool, error) {
	words := f.fit.modelFlags()
	model := tables != 1 || f.config.Sampler != "auto" || f.point || f.values.donors > 0 || len(words) > 0
	if f.config.Sampler != fitted.FromPosterior {
		if cmd.Flags().Changed("components") && model {
			return false, usageError{errors.New("--components: it is of draws from a table alone (--sampler posterior), and these are from a model; leave it out")}
		}
		return !model, nil
	}
	refused := func(flag, why string) error {
		return usageError{fmt.Errorf("%s: --sampler posterior draws from the table alone, and %s; leave one of them out", flag, why)}
	}
	switch {
	case tables != 1:
		return false, usageError{errors.New("--sampler posterior: it draws from a table alone; leave the model out")}
	case f.point:
		return false, refused("--point", "expectations are a model's")
	case f.values.donors > 0:
		return false, refused("--pmm", "the matching is by a model's predictions")
	case len(words) > 0:
		return false, refused(words[0], "this is of a model")
	}
	return true, nil
}

// readAlone reads and judges the table.
func (f *imputeCommand) readAlone(cmd *cobra.Command, path string) error {
	if err := checkSamplerFlags(cmd, fitted.FromPosterior); err != nil {
		return err
	}
	fit := &f.fit.fit
	fit.tableFlags.formatFlags = f.table.formatFlags
	spec, err := fit.transform.parse()
	if err != nil {
		return asUsage(f.fit.command, err)
	}
	var found []diagnose.Finding
	err = abandonable(cmd.Context(), func() (err error) {
		found, err = f.judge(path, spec)
		return err
	})
	if err != nil {
		return asUsage(f.fit.command, err)
	}
	t := f.cells.Table
	stderr := cmd.ErrOrStderr()
	if err := fit.announce(stderr, path, t); err != nil {
		return err
	}
	if !t.Complete() {
		fmt.Fprintf(stderr, "draws take missing cells to be %v\n", losses.MAR)
	}
	writeFindings(stderr, found)
	return ensureDirOf(f.out)
}

// judge says what is wrong with the table.
func (f *imputeCommand) judge(path string, spec transform.Spec) ([]diagnose.Finding, error) {
	t, err := f.fit.fit.tableFlags.read(path, f.fit.fit.spec.Steps.Seed)
	if err != nil {
		return nil, err
	}
	if err := checkSize(size{t.N, "rows"}, size{t.D, "columns"}, size{f.config.Draws, "draws (--draws)"}); err != nil {
		return nil, err
	}
	if err := diagnose.Refusal(t); err != nil {
		return nil, inTable(err, path, "")
	}
	functions, err := spec.Fit(t, nil)
	if err != nil {
		return nil, inTable(err, path, rowAdvice(err, "correct the row or leave it out"))
	}
	setting := diagnose.Setting{Transform: functions}
	switch changed := f.fit.command.Flags().Changed("transform"); {
	case !changed:
		functions = fitted.NaturalFunctions(t, functions)
		setting.Natural = functions
	case functions == nil: // none: columns as they are
		functions = make(transform.Columns, t.D)
	}
	o, err := f.fit.fit.tableFlags.options()
	if err != nil {
		return nil, err
	}
	o.Columns, o.Exclude = t.Names, nil
	if f.cells, err = data.ReadCells(path, o); err != nil {
		return nil, err
	}
	f.ready = &fitted.Model{Names: t.Names, Transform: functions}
	return diagnose.Table(t, setting)
}

// drawsAlone completes the table.
func (f *imputeCommand) drawsAlone(cmd *cobra.Command, path string) (values []float64, converged bool, summary string, err error) {
	t := f.cells.Table
	if f.config.Draws > 1 {
		if err := f.cells.CheckLong(); err != nil {
			return nil, false, "", fmt.Errorf("%s: %w", path, err)
		}
	}
	if f.kept.resume {
		fmt.Fprintln(cmd.ErrOrStderr(), "draws from a table alone are not kept where they are cut: starting anew")
	}
	if t.Missing() == 0 {
		f.known["sampler"], f.known["draws"] = "posterior", f.config.Draws
		for row := range slices.Chunk(t.Values, t.D) { // draw k of row i in row i·Draws+k
			values = append(values, slices.Repeat(row, f.config.Draws)...)
		}
		return values, true, "no cell is missing: the table as it was", nil
	}
	bar := newProgress(cmd.ErrOrStderr(), false)
	r, err := fitted.Posterior(cmd.Context(), t, f.ready.Transform, posterior.Config{
		Draws: f.config.Draws, Components: f.components, WarmUp: f.chains.WarmUp, Iterations: f.chains.Draws,
		Seed: f.seed, Workers: f.config.Workers,
		Observe: func(done, total int) { bar.count("impute", "chains", done, total) },
	})
	bar.finish()
	if err != nil {
		return nil, false, "", refused(err, path)
	}
	f.ready.Transform = r.Transform
	how, err := f.values.apply(cmd, f, &r.Imputed)
	if err != nil {
		return nil, false, "", err
	}
	f.outcome.doubt(append(r.Beyond(t), r.Extrapolated(t)...))
	if m := r.Law.Mixture; m != nil {
		f.outcome.notes = append(f.outcome.notes, fmt.Sprintf("the chains of the mixture have not met (R-hat up to %.3g, column %s): the draws are from one normal distribution instead", m.Worst, t.Names[m.Row]))
	}
	if !r.Converged() {
		f.unmet = f.tellUnmet(r.Law.Mixing, t.Names)
	}
	return r.Values, r.Converged(), f.tellLaw(r) + how + mixedColumns(f.known, r.Law.Mixing, t.Names), nil
}

// tellUnmet says of which column the chains have met least, and what helps.
func (f *imputeCommand) tellUnmet(m *mcmc.Mixing, names []string) string {
	worst := names[m.Row]
	advice := fmt.Sprintf("leave it out (--exclude %s)", shell.List([]string{worst}))
	if f.components > 1 {
		advice += ", take one normal distribution (--components 1)"
	}
	return fmt.Sprintf("the Markov chains have not met (R-hat above %v, or above %v in a column; the largest is %.3g, of %s), so the result in %s is not from the law's distribution: the table may not tell the missing cells of %s, as where rows that lack it are unlike all that have it; %s, or try more --iterations and a longer --warm-up",
		posterior.MostRHat, posterior.MostColumnRHat, m.Worst, worst, f.out, worst, advice)
}

// tellLaw adds what is known of the law to the result, and says it.
func (f *imputeCommand) tellLaw(r *fitted.PosteriorImputed) (summary string) {
	t := f.cells.Table
	model := "mixture of normals"
	inUse := fmt.Sprintf("a mixture of normals, %.1f of them in use", r.Law.InUse)
	if f.components == 1 || r.Law.Mixture != nil {
		model, inUse = "one normal", "one normal distribution"
	}
	f.known["sampler"], f.known["draws"], f.known["model"] = r.Sampler, r.Draws, model+", drawn along"
	f.known["components"], f.known["prior_rows"], f.known["iterations"] = r.Law.InUse, r.Law.Weight, r.Law.Iterations
	f.known["transformed"] = r.Transform.Labels(t.Names)
	summary = fmt.Sprintf("%d cells of %d rows drawn %d times, with the law of the rows: %s", t.Missing(), t.N, r.Draws, inUse)
	if of := r.Transform.Describe(t.Names); of != "" {
		summary += ", of " + of
	}
	return summary
}

// mixedColumns adds to known what the chains tell of the columns' completed means, and says it.
func mixedColumns(known map[string]any, m *mcmc.Mixing, names []string) (summary string) {
	if m == nil {
		return ""
	}
	known["r_hat"], known["worst_r_hat"], known["worst_column"] = plain(m.RHat), plain(m.Worst), names[m.Row]
	return fmt.Sprintf("\nR-hat %.3f over columns, at most %.3f (%s)", m.RHat, m.Worst, names[m.Row])
}
