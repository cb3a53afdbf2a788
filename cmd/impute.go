package cmd

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"missingscore/data"
	"missingscore/internal/atomicfile"
	"missingscore/internal/checkedfile"
	"missingscore/internal/data/diagnose"
	"missingscore/internal/data/transform"
	"missingscore/internal/printable"
	"missingscore/internal/shell"
	"missingscore/internal/spelling"
	"missingscore/internal/trainers/mcmc"
	"missingscore/internal/trainers/posterior"
	"missingscore/losses"
	"missingscore/trainers/fitted"
	"missingscore/trainers/replicate"
)

type imputeCommand struct {
	completingFlags
	fit    firstFit
	values valueFlags
	resume bool
	point  bool

	components int // of draws from a table alone

	model string        // the file of the model
	made  *fitted.Saved // of a table alone, for --model-out
	cells *data.Cells
	ready *fitted.Model
	known map[string]any // of the result
}

const imputeHelp = `Fill missing cells by draws. Observed cells and other columns stay as they are.

TABLE.csv alone: a mixture of normals is drawn from its posterior together with the cells, so
that the spread of the draws includes the uncertainty of the model. Skewed columns enter by
normal scores, categories by latent normal variables.

MODEL.json TABLE.csv: draws from a fitted model with fixed parameters. Flags of fit, another
--sampler, and --point or --pmm for a numeric table fit a model first.

--draws N writes the long format of the R package mice (.imp, .id; .imp = 0 is the table), so
that as.mids() reads it. --point writes one table of expectations, for prediction: statistics
of such a table are too certain. Draws may leave the observed range and are not rounded:
--pmm, --round and --clip change that.`

func newImputeCommand() *cobra.Command {
	var f imputeCommand
	cmd := &cobra.Command{
		Use:   "impute [MODEL.json] TABLE.csv",
		Short: "Fill a table's missing cells by draws or expectations",
		Long: imputeHelp + "\n\n" + samplersText + `
  posterior  cells and mixture together, in five chains: the default without a model`,
		Example: `  missingscore impute examples/airquality.csv --draws 20 --out completed.csv`,
		Args:    argsFrom(1, 2, "a table, or a model and a table"),
		RunE:    f.run,
	}
	f.add(cmd, 1, "completed.csv", "`file` for the completed table: .csv, .tsv, .xlsx, .parquet, .feather, .gz")
	fl := cmd.Flags()
	fl.BoolVar(&f.point, "point", false, "write expectations instead of draws")
	fl.BoolVar(&f.resume, "resume", false, "continue an interrupted run with the same --out")
	f.values.add(cmd)
	fl.Lookup("sampler").Usage += "; without a model posterior"
	fl.Lookup("warm-up").Usage = "Monte Carlo iterations to discard (default: 150 or more; without a model 100)"
	fl.Lookup("iterations").Usage = "Monte Carlo iterations to keep (default: 250 or more; without a model 100 to 3200, until chains converge)"
	fl.IntVar(&f.components, "components", 0, "without a model: maximum of mixture components (default: 10; one per 5d rows; below 20d rows one, or 4 if held-out rows prefer a mixture)")
	f.fit.add(cmd)
	return cmd
}

func (f *imputeCommand) run(cmd *cobra.Command, args []string) error {
	if err := f.consistent(cmd); err != nil {
		return err
	}
	path := args[len(args)-1]
	out := cmd.Flags().Lookup("out") // a result without a name of its own has the ending of the table's format
	if out.DefValue = strings.TrimSuffix(out.DefValue, ".csv") + data.WriteFormat(path); !out.Changed {
		f.out = out.DefValue
	}
	f.known = map[string]any{}
	return locked(func() error { return f.complete(cmd, args) }, f.out)
}

func (f *imputeCommand) complete(cmd *cobra.Command, args []string) error {
	path := args[len(args)-1]
	if err := f.placed(cmd, args); err != nil {
		return err
	}
	alone, err := f.fromTable(cmd, args)
	if err != nil {
		return err
	}
	complete := f.fromModel
	if alone {
		complete, err = f.drawsAlone, f.readAlone(cmd, path)
	} else {
		defer f.fit.discard()
		err = f.readModel(cmd, args)
	}
	if err != nil {
		return err
	}
	t := f.cells.Table
	f.known["rows"], f.known["cells"] = t.N, t.Missing()
	if err := f.values.parse(t); err != nil {
		return err
	}
	if f.config.Draws > 1 && !f.point {
		if err := f.cells.CheckLong(); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	values, converged, summary, err := complete(cmd, path)
	if err != nil {
		return err
	}
	draws := len(values) / len(t.Values)
	f.compare(cmd.ErrOrStderr(), values, draws)
	if f.made != nil {
		summary += "\nmodel: " + f.fit.save
	}
	return f.finish(cmd, f.known, converged, summary, func(put data.Put) error {
		if f.made != nil {
			text, err := f.made.Encode(nil)
			if err != nil {
				return err
			}
			if err := put(f.fit.save, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
				return err
			}
		}
		return f.cells.WriteCompleted(put, f.out, values, draws)
	}, f.state())
}

func (f *imputeCommand) readModel(cmd *cobra.Command, args []string) (err error) {
	if len(args) == 1 {
		f.model, err = f.fit.run(cmd, &f.completingFlags, args[0], f.resume)
		if t := f.fit.fit.table; err == nil && t != nil {
			f.known["left_out"] = array(t.LeftOut)
		}
	} else {
		f.model, err = args[0], f.fit.refuse()
	}
	if err != nil {
		return err
	}
	var m *fitted.Saved
	m, f.ready, f.cells, err = f.read(cmd, f.model, args[len(args)-1])
	if err == nil {
		f.known["model"] = m.Kind
	}
	return err
}

func (f *imputeCommand) consistent(cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	if err := cmp.Or(nonZero(cmd, "pmm", "components"), obey(
		rule{f.point && changed("pmm"), "--pmm: it makes draws observed values, and --point makes no draws; leave one of them out"},
		rule{changed("pmm") && (changed("round") || changed("clip")), "--pmm: values that were observed need neither --round nor --clip; leave them out"},
	)); err != nil {
		return err
	}
	if f.point && !changed("draws") {
		f.config.Draws = fitted.PointDraws
	}
	return f.check(cmd, append(slices.Clone(fitted.Samplers), fitted.FromPosterior)...)
}

func (f *imputeCommand) placed(cmd *cobra.Command, args []string) error {
	isModel, err := modelFile(args[0])
	swapped := false
	if len(args) == 2 && !isModel {
		swapped, _ = modelFile(args[1]) // a file that cannot be read is told of as the table
	}
	kind, _ := cmd.Flags().GetString("model")
	named, _ := modelFile(kind) // of most kinds there is no file
	switch {
	case len(args) == 1 && named:
		return usageError{fmt.Errorf("--model: %s is a fitted model, which comes before the table: missingscore impute %[1]s %s --out %s", kind, args[0], f.out)}
	case swapped:
		return usageError{fmt.Errorf("%s is a model, which comes before the table: missingscore impute %[1]s %[2]s --out %[3]s", args[1], args[0], f.out)}
	case len(args) == 2 && err == nil && !isModel && !atomicfile.Special(args[0]):
		return usageError{fmt.Errorf("%s is no model, which comes before the table; without one, the table is imputed alone: missingscore impute %s --out %s", args[0], args[1], f.out)}
	case len(args) == 1 && err != nil:
		return err
	case len(args) == 1 && isModel:
		return usageError{fmt.Errorf("%s is a model, and its table is missing: missingscore impute %[1]s TABLE.csv --out %s", args[0], f.out)}
	}
	return nil
}

// fromModel draws the missing cells from a model, or takes their expectations.
func (f *imputeCommand) fromModel(cmd *cobra.Command, path string) (values []float64, converged bool, summary string, err error) {
	t := f.cells.Table
	f.config.Partial, f.config.Save, err = keptParts(cmd, f, fitted.NewPartial, fitted.LoadPartial)
	if err != nil {
		return nil, false, "", err
	}
	var drawn *fitted.Imputed
	var points *fitted.Points
	var mixing *fitted.Mixing
	bar := f.watch(cmd, map[bool]string{true: "expectations", false: "impute"}[f.point])
	if f.point {
		points, err = fitted.Point(cmd.Context(), f.ready, t, f.config)
	} else {
		drawn, err = fitted.Impute(cmd.Context(), f.ready, t, f.config)
	}
	bar.finish()
	if err != nil {
		return nil, false, "", f.explain(err, path)
	}
	if f.point {
		values, mixing, summary = points.Values, points.Mixing, f.tellPoints(points)
		err = unread(cmd, "--point in closed form", points.Draws > 0, "draws")
	} else {
		f.known["sampler"], f.known["draws"] = drawn.Sampler, drawn.Draws
		how, err := f.values.apply(cmd, f, drawn)
		if errors.Is(err, context.Canceled) {
			err = f.explain(err, path)
		}
		if err != nil {
			return nil, false, "", err
		}
		f.outcome.doubts = drawn.Beyond(t)
		values, mixing = drawn.Values, drawn.Mixing
		summary = fmt.Sprintf("%s of %d rows filled with %s each, by %s%s", counted(t.Missing(), "cell"), t.N, counted(drawn.Draws, "draw"), drawn.Sampler, how)
	}
	converged, more := mixed(f.known, mixing)
	return values, converged, summary + more, err
}

func (f *imputeCommand) tellPoints(r *fitted.Points) string {
	t, how := f.cells.Table, "in closed form"
	f.known["sampler"], f.known["draws"], f.known["point"] = r.Sampler, r.Draws, true
	if r.Draws > 0 {
		worst, errs := pointErrors(t, r)
		f.known["monte_carlo_error"] = errs
		kind := "as"
		if f.ready.Transform.Ordinal() != nil {
			kind = "of ordered categories the most probable one, of others"
		}
		how = fmt.Sprintf(kind+" means of %d draws by %s, Monte-Carlo error at most %.2g of a column's standard deviation", r.Draws, r.Sampler, worst)
	}
	changed := f.values.hold.Apply(f.ready, t, r.Values, 1)
	return fmt.Sprintf("expectations of %d cells of %d rows, %s%s", t.Missing(), t.N, how, f.values.held(f, changed))
}

// pointErrors are the largest Monte Carlo error, in standard deviations, and each column's root
// mean square error.
func pointErrors(t *data.Table, r *fitted.Points) (worst float64, byColumn map[string]any) {
	byColumn = map[string]any{}
	for _, c := range fitted.Summarise(t, r.Values, 1) {
		squares := 0.0
		for i := c.Column; i < len(r.Error); i += t.D {
			squares += r.Error[i] * r.Error[i] / float64(c.Imputed.N)
			if c.Observed.SD > 0 {
				worst = max(worst, r.Error[i]/c.Observed.SD)
			}
		}
		byColumn[c.Name] = plain(math.Sqrt(squares))
	}
	return worst, byColumn
}

// compare prints observed and imputed moments, or shares of levels, side by side.
func (f *imputeCommand) compare(stderr io.Writer, values []float64, draws int) {
	listed := []map[string]any{}
	numbers, levels := tabwriter.NewWriter(stderr, 0, 0, 2, ' ', tabwriter.AlignRight), tabwriter.NewWriter(stderr, 0, 0, 2, ' ', tabwriter.AlignRight)
	numbersTitle, levelsTitle := "column\tmissing\tmean\timputed mean\tsd\timputed sd\trange\timputed range\toutside\t\n", "column\tmissing\tlevel\tobserved\timputed\t\n"
	var negative []string
	for _, c := range fitted.Summarise(f.cells.Table, values, draws) {
		o, i := c.Observed, c.Imputed
		missing := i.N / draws
		if c.Levels == nil && o.Low >= 0 && i.Low < 0 {
			negative = append(negative, c.Name)
		}
		if c.Levels == nil {
			fmt.Fprintf(numbers, "%s%s\t%d\t%s\t%s\t%s\t%s\t%s to %s\t%s to %s\t%.0f %%\t\n", numbersTitle, c.Name, missing, short(o.Mean), short(i.Mean), short(o.SD), short(i.SD),
				short(o.Low), short(o.High), short(i.Low), short(i.High), 100*c.Outside)
			listed = append(listed, map[string]any{"column": c.Name, "missing": missing, "outside": c.Outside, "observed": momentsJSON(o), "imputed": momentsJSON(i)})
			numbersTitle = ""
			continue
		}
		name, gaps, shares := c.Name, strconv.Itoa(missing), []map[string]any{}
		for k, l := range c.Levels {
			shares = append(shares, map[string]any{"level": l.Name, "observed": l.Observed, "imputed": l.Imputed})
			if k < listedLevels {
				fmt.Fprintf(levels, "%s%s\t%s\t%s\t%.0f %%\t%.0f %%\t\n", levelsTitle, name, gaps, printable.Cell(l.Name), 100*l.Observed, 100*l.Imputed)
				name, gaps, levelsTitle = "", "", ""
			}
		}
		listed = append(listed, map[string]any{"column": c.Name, "missing": missing, "levels": shares})
	}
	_, _ = numbers.Flush(), levels.Flush() // to the terminal
	if negative != nil {
		fmt.Fprintf(stderr, "note: some imputed values of %s are negative, and no observed value is: --pmm takes observed values, --clip observed the nearest of their range\n", strings.Join(negative, ", "))
	}
	if len(listed) > 0 {
		f.known["columns"] = listed
	}
}

func short(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%.4g", v)
}

func momentsJSON(m fitted.Moments) map[string]any {
	return map[string]any{"mean": plain(m.Mean), "sd": plain(m.SD), "min": plain(m.Low), "max": plain(m.High)}
}

// fromTable reports whether draws come from the table alone: --sampler posterior, or no flag that needs
// a model. --point and --pmm need one if all columns are numeric.
func (f *imputeCommand) fromTable(cmd *cobra.Command, args []string) (bool, error) {
	name, _, given := strings.Cut(strings.Join(f.fit.given(tableFlagNames...), ""), "=")
	alone := len(args) == 1 && !given
	if f.config.Sampler == fitted.FromPosterior {
		return true, obey(
			rule{len(args) != 1, "--sampler posterior: it draws from a table alone; leave the model out"},
			rule{!alone, name + ": --sampler posterior draws from the table alone, and this is of a model; leave one of them out"},
		)
	}
	if alone = alone && f.config.Sampler == "auto"; alone && (f.point || f.values.donors > 0) {
		var err error
		if alone, err = f.withLevels(args[0]); err != nil {
			return false, err
		}
	}
	return alone, unread(cmd, "impute from a model", alone, "components")
}

func (f *imputeCommand) withLevels(path string) (bool, error) {
	fit := &f.fit.fit
	fit.tableFlags.formatFlags = f.table.formatFlags
	o, err := fit.tableFlags.options()
	if err != nil {
		return false, err
	}
	t, err := data.ReadFile(path, o)
	return err == nil && slices.ContainsFunc(t.Levels, func(levels []string) bool { return levels != nil }), nil // an error is told of by who reads next
}

func (f *imputeCommand) readAlone(cmd *cobra.Command, path string) error {
	if err := cmp.Or(checkSamplerFlags(cmd, fitted.FromPosterior),
		distinctFiles(cmd, output{"out", f.out}, output{"out", f.about()}, output{"model-out", f.fit.save})); err != nil {
		return err
	}
	fit := &f.fit.fit
	fit.tableFlags.formatFlags, fit.tableFlags.levels = f.table.formatFlags, true
	var found []diagnose.Finding
	err := abandonable(cmd.Context(), func() (err error) {
		found, err = f.judge(path)
		return err
	})
	if err != nil {
		return asUsage(f.fit.command, err)
	}
	stderr := cmd.ErrOrStderr()
	if err := fit.announce(stderr, path, f.cells.Table); err != nil {
		return err
	}
	if !f.cells.Table.Complete() {
		fmt.Fprintf(stderr, "draws assume cells %v\n", losses.MAR)
	}
	writeFindings(stderr, found)
	return errors.Join(ensureDirOf(f.out), ensureDirOf(f.fit.save))
}

func (f *imputeCommand) judge(path string) ([]diagnose.Finding, error) {
	fit := &f.fit.fit
	spec, err := fit.transform.parse()
	if err != nil {
		return nil, err
	}
	t, err := fit.tableFlags.read(path)
	if err != nil {
		return nil, err
	}
	f.known["left_out"] = array(t.LeftOut)
	if err := checkSize("%d rows × %d columns × %d draws (--draws)", t.N, t.D, f.config.Draws); err != nil {
		return nil, err
	}
	if err := diagnose.Refusal(t); err != nil {
		return nil, inTable(err, path, "")
	}
	functions, err := spec.Fit(t, nil)
	if err != nil {
		return nil, inTable(err, path, "correct the row or leave it out")
	}
	setting := diagnose.Setting{Transform: functions}
	switch changed := f.fit.command.Flags().Changed("transform"); {
	case !changed:
		functions = fitted.NaturalFunctions(t, functions)
		setting.Natural = functions
	case functions == nil: // none: columns as they are
		functions = make(transform.Columns, t.D)
	}
	o, err := fit.tableFlags.options()
	if err != nil {
		return nil, err
	}
	o.Columns, o.Exclude, o.Kinds = t.Names, nil, data.KindsOf(t)
	if f.cells, err = data.ReadCells(path, o); err != nil {
		return nil, err
	}
	f.ready = &fitted.Model{Names: t.Names, Transform: functions}
	return diagnose.Table(t, setting)
}

func (f *imputeCommand) drawsAlone(cmd *cobra.Command, path string) (values []float64, converged bool, summary string, err error) {
	t := f.cells.Table
	if f.point && !cmd.Flags().Changed("draws") {
		f.config.Draws = posteriorPointDraws
	}
	keep := f.fit.save != ""
	if t.Missing() == 0 && !keep {
		if f.point {
			f.config.Draws = 1
		}
		f.known["sampler"], f.known["draws"] = "posterior", f.config.Draws
		for row := range slices.Chunk(t.Values, t.D) { // draw k of row i in row i·Draws+k
			values = append(values, slices.Repeat(row, f.config.Draws)...)
		}
		return values, true, "no cell is missing: the table as it was", nil
	}
	c := posterior.Config{
		Draws: f.config.Draws, Components: f.components, WarmUp: f.chains.WarmUp, Iterations: f.chains.Draws,
		Seed: f.seed, Workers: f.config.Workers, Donors: f.values.donors,
	}
	if keep {
		c.Keep = keptDraws
	}
	c.Partial, c.Save, err = keptParts(cmd, f, posterior.NewPartial, func(path, of string) (*posterior.Partial, error) {
		return posterior.LoadPartial(path, of, fitted.ErrOtherImputation)
	})
	if err != nil {
		return nil, false, "", err
	}
	bar := newProgress(cmd.ErrOrStderr(), false)
	c.Observe = func(done, total int) { bar.count("impute", "chains", done, total) }
	r, err := fitted.Posterior(cmd.Context(), t, f.ready.Transform, c)
	bar.finish()
	if err != nil {
		return nil, false, "", f.explain(err, path)
	}
	if keep {
		f.made = r.Saved(t)
	}
	f.ready.Transform = r.Transform
	values, draws, how := r.Values, r.Draws, ""
	switch {
	case f.point:
		points := r.Point(t)
		_, f.known["monte_carlo_error"] = pointErrors(t, points)
		f.known["point"], values, draws = true, points.Values, 1
		how = "\nof these the means, of texts and categories the most frequent one"
	case f.values.donors > 0:
		f.known["donors"] = f.values.donors
		how = fmt.Sprintf("\nnumbers are replaced by observed ones of the %d nearest rows; levels are as drawn", f.values.donors)
	}
	if f.values.donors == 0 {
		how += f.values.held(f, f.values.hold.Apply(f.ready, t, values, draws))
	}
	f.outcome.doubts = append(r.Beyond(t), r.Extrapolated(t)...)
	if m := r.Law.Mixture; m != nil {
		f.outcome.notes = append(f.outcome.notes, fmt.Sprintf("the chains of the mixture have not met (R-hat up to %.3g, column %s): the draws are from one normal distribution instead", m.Worst, t.Names[m.Row]))
	}
	if !r.Converged() {
		f.unmet = f.tellUnmet(r.Law.Least(), t.Names)
	}
	summary = f.tellLaw(r) + how
	if m := r.Law.Mixing; m != nil {
		f.known["r_hat"], f.known["worst_r_hat"], f.known["worst_column"], f.known["worst_cells_r_hat"] = plain(m.RHat), plain(m.Worst), t.Names[m.Row], plain(r.Law.Cells.Worst)
		if r.Converged() && len(f.outcome.doubts) == 0 {
			summary = "Converged. " + summary
		}
		summary += fmt.Sprintf("\nR-hat of the chains at most %.3f (%s), of missing cells %.3f (%s)", m.Worst, t.Names[m.Row], r.Law.Cells.Worst, t.Names[r.Law.Cells.Row])
	}
	return values, r.Converged(), summary, nil
}

const (
	posteriorPointDraws = 100 // for --point
	keptDraws           = 50  // of the parameters, for --model-out
)

func (f *imputeCommand) tellUnmet(m *mcmc.Mixing, names []string) string {
	worst := names[m.Row]
	advice := fmt.Sprintf("leave it out (--exclude %s)", shell.List([]string{worst}))
	if f.components > 1 {
		advice += ", take one normal distribution (--components 1)"
	}
	return fmt.Sprintf("the Markov chains have not converged (R-hat of a column above %v, or of its missing cells above %v; of %s it is %.3g), so the result in %s is not from the law's distribution: the table may not tell the missing cells of %s, as where rows that lack it are unlike all that have it; %s, or try more --iterations and a longer --warm-up",
		posterior.MostRHat, posterior.MostCellRHat, worst, m.Worst, f.out, worst, advice)
}

func (f *imputeCommand) tellLaw(r *fitted.PosteriorImputed) (summary string) {
	t := f.cells.Table
	model := "mixture of normals"
	inUse := fmt.Sprintf("a mixture of normals with %.1f components in use", r.Law.InUse)
	if f.components == 1 || r.Law.Mixture != nil {
		model, inUse = "one normal", "one normal distribution"
	}
	f.known["sampler"], f.known["draws"], f.known["model"] = r.Sampler, r.Draws, model+", drawn along"
	f.known["components"], f.known["prior_rows"], f.known["iterations"] = r.Law.InUse, r.Law.Weight, r.Law.Iterations
	f.known["transformed"] = r.Transform.Labels(t.Names)
	summary = fmt.Sprintf("%s filled with %s each, from %s", counted(t.Missing(), "missing cell"), counted(r.Draws, "draw"), inUse)
	if of := r.Transform.Describe(t.Names); of != "" {
		summary += "; transformed columns: " + of
	}
	return summary
}

type firstFit struct {
	command *cobra.Command // fit, of which the flags are
	fit     fitCommand
	save    string // where the model goes
	scratch string // folder of a model that nobody asked for, if it was made
}

// ownFlags of fit have another meaning or none here; tableFlagNames describe the table.
var (
	ownFlags       = []string{"help", "help-all", "workers", "stream", "truth", "inference", "level"}
	tableFlagNames = []string{"columns", "exclude", "id", "kinds", "nominal", "numbers", "strict", "transform", "ordinal", "verbose"}
)

func (f *firstFit) add(cmd *cobra.Command) {
	f.command = f.fit.command()
	f.command.Flags().VisitAll(func(flag *pflag.Flag) {
		if cmd.Flags().Lookup(flag.Name) != nil || slices.Contains(ownFlags, flag.Name) {
			return
		}
		cmd.Flags().AddFlag(flag)
	})
	cmd.Flags().StringVar(&f.save, "model-out", "", "`file` for the model that makes the draws, used by impute, sample and score (default: OUT.model.json of a fitted model)")
}

// given are the flags of fit, as --name=value, but those named.
func (f *firstFit) given(but ...string) (words []string) {
	f.command.Flags().VisitAll(func(flag *pflag.Flag) {
		if flag.Changed && !slices.Contains(but, flag.Name) {
			words = append(words, "--"+flag.Name+"="+flag.Value.String())
		}
	})
	return words
}

func (f *firstFit) refuse() error {
	name, _, given := strings.Cut(strings.Join(f.given(), ""), "=")
	return obey(
		rule{f.save != "", "--model-out: a model is given, and none is made; leave it out"},
		rule{given, name + ": a model is given, and none is fitted; leave it out, or leave the model out"},
	)
}

// A resumed run takes the model that it has fitted.
func (f *firstFit) run(cmd *cobra.Command, c *completingFlags, table string, resume bool) (model string, err error) {
	if f.save == "" {
		f.save = siblingOf(c.out, filepath.Base(c.out)+".model.json")
	}
	if f.save == "" {
		if f.scratch, err = os.MkdirTemp("", "missingscore"); err != nil {
			return "", err
		}
		f.save = filepath.Join(f.scratch, "model.json")
	}
	if err := distinctFiles(cmd, output{"out", c.out}, output{"out", c.about()}, output{"model-out", f.save}); err != nil {
		return "", err
	}
	if resume && exists(c.state()) && exists(f.save) {
		return f.save, nil
	}
	fit := &f.fit
	fit.out, fit.resume = f.save, resume
	fit.tableFlags.formatFlags = c.table.formatFlags
	f.command.SetContext(cmd.Context())
	f.command.SetErr(cmd.ErrOrStderr())
	fit.adjust = func() error {
		fit.history, fit.spec.Steps.Seed, fit.spec.Steps.Workers = "", c.seed, c.config.Workers
		if o := &fit.spec.Objective.Kind; fit.spec.Model.Kind == "score-network" && *o != "denoising" {
			if *o != "auto" {
				return usageError{fmt.Errorf("--objective %s: missing cells are drawn from a score network along the noise levels of --objective denoising, the default; leave it out", *o)}
			}
			*o = "denoising"
		}
		return nil
	}
	return f.save, results(f.command, []string{table}, fit)
}

func (f *firstFit) discard() {
	if f.scratch != "" {
		_ = os.RemoveAll(f.scratch) // a temporary folder
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return path != "" && err == nil
}

// modelFile reports whether a file is a model: it begins with {.
func modelFile(path string) (bool, error) {
	if path == data.Stdin || atomicfile.Special(path) {
		return false, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	head, err := bufio.NewReader(file).Peek(4096)
	if err == io.EOF {
		err = nil
	}
	return bytes.HasPrefix(bytes.TrimLeft(head, "\ufeff \t\r\n"), []byte("{")), err
}

type valueFlags struct {
	donors      int
	round, clip []string

	hold fitted.Hold
}

func (f *valueFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.IntVar(&f.donors, "pmm", 0, "take observed values from the `K` nearest rows (--pmm alone: 5)")
	fl.Lookup("pmm").NoOptDefVal = "5"
	fl.StringSliceVar(&f.round, "round", []string{"none"}, "round `values`: none, auto (the column's decimals) or column=step,...")
	fl.StringSliceVar(&f.clip, "clip", nil, "limit `values`: observed (the observed range) or column=low:high,...")
}

func (f *valueFlags) parse(t *data.Table) error {
	h := &f.hold
	for _, word := range f.round {
		name, text, by := cutValue(word)
		if word == "none" {
			h.Step = nil
			continue
		}
		if word == "auto" {
			h.Step = fitted.Grids(t)
			continue
		}
		j, wrong := column(t, name)
		step, err := strconv.ParseFloat(text, 64)
		if err := obey(
			rule{!by, fmt.Sprintf("--round: %q: auto, none or column=step is expected", word)},
			rule{wrong != "", "--round: " + wrong},
			rule{err != nil || !(step > 0) || math.IsInf(step, 0), fmt.Sprintf("--round: %q: the step must be a positive number", word)},
		); err != nil {
			return err
		}
		if h.Step == nil {
			h.Step = make([]float64, t.D)
		}
		h.Step[j] = step
	}
	if len(f.clip) > 0 {
		h.Low, h.High = slices.Repeat([]float64{math.Inf(-1)}, t.D), slices.Repeat([]float64{math.Inf(1)}, t.D)
	}
	for _, word := range f.clip {
		if word == "observed" {
			h.Low, h.High = fitted.Ranges(t)
			continue
		}
		name, text, by := cutValue(word)
		low, high, both := strings.Cut(text, ":")
		j, wrong := column(t, name)
		a, errA := strconv.ParseFloat(cmp.Or(low, "-Inf"), 64)
		b, errB := strconv.ParseFloat(cmp.Or(high, "Inf"), 64)
		if err := obey(
			rule{!by || !both, fmt.Sprintf("--clip: %q: observed or column=low:high is expected; one of the numbers may be left out", word)},
			rule{wrong != "", "--clip: " + wrong},
			rule{errA != nil || errB != nil || !(a <= b), fmt.Sprintf("--clip: %q: two numbers are expected, the smaller one first; one may be left out", word)},
		); err != nil {
			return err
		}
		h.Low[j], h.High[j] = a, b
	}
	return nil
}

// column is the place of a numeric column, or what is wrong with the name.
func column(t *data.Table, name string) (j int, wrong string) {
	if j = slices.Index(t.Names, name); j < 0 {
		return j, fmt.Sprintf("the model has no column %q%s; its columns are %s", name, spelling.DidYouMean(name, t.Names), strings.Join(t.Names, ", "))
	}
	if data.Coded(t, j) != nil {
		return j, fmt.Sprintf("column %q holds levels, which are as observed ones; leave it out", name)
	}
	return j, ""
}

func (f *valueFlags) apply(cmd *cobra.Command, i *imputeCommand, r *fitted.Imputed) (how string, err error) {
	t := i.cells.Table
	if f.donors == 0 {
		return f.held(i, f.hold.Apply(i.ready, t, r.Values, r.Draws)), nil
	}
	bar := newProgress(cmd.ErrOrStderr(), false)
	kept, err := fitted.Match(cmd.Context(), i.ready, t, r, fitted.MatchConfig{
		Donors: f.donors, Seed: i.seed, Workers: i.config.Workers,
		Observe: func(done, total int) { bar.count("match", "draws", done, total) },
	})
	bar.finish()
	if err != nil {
		return "", fmt.Errorf("--pmm: %w", err)
	}
	i.known["donors"], i.known["unmatched"] = f.donors, kept
	how = fmt.Sprintf(", replaced by observed values of the %d nearest rows", f.donors)
	if kept > 0 {
		how += fmt.Sprintf(" (%d values stay as drawn: no observed one can stand for them)", kept)
	}
	return how, nil
}

func (f *valueFlags) held(i *imputeCommand, changed int) string {
	if f.hold.Step == nil && f.hold.Low == nil {
		if !i.imputesNumbers() {
			return ""
		}
		return "\nimputed numbers are not rounded and may leave the observed range; --pmm, --round auto or --clip observed change that"
	}
	i.known["held"] = changed
	return fmt.Sprintf("; %d values rounded or moved into their range", changed)
}

// imputesNumbers reports whether a numeric column has missing cells.
func (f *imputeCommand) imputesNumbers() bool {
	t, ordinal := f.cells.Table, f.ready.Transform.Ordinal()
	for j := range t.D {
		if t.ObservedIn(j) < t.N && data.Coded(t, j) == nil && !slices.Contains(ordinal, j) {
			return true
		}
	}
	return false
}

func (f *drawingFlags) state() string { return siblingOf(f.out, filepath.Base(f.out)+".state") }

// keptParts are the draws of an interrupted run, or none, and what saves them; nil if --out is no file.
func keptParts[T any](
	cmd *cobra.Command, f *imputeCommand, none func(of string) *checkedfile.Parts[T], load func(path, of string) (*checkedfile.Parts[T], error),
) (held *checkedfile.Parts[T], save func(*checkedfile.Parts[T]) error, err error) {
	path := f.state()
	noFile := fmt.Sprintf("--resume: no draws are kept beside %s: leave it out, or choose a file as --out", f.out)
	if err := cmp.Or(obey(rule{f.resume && path == "", noFile}), distinctFiles(cmd, output{"out", path})); err != nil || path == "" {
		return nil, nil, err
	}
	of, err := f.identity()
	if err != nil {
		return nil, nil, err
	}
	held, write, err := resumable(cmd, f.resume, path, none(of), func(path string) (*checkedfile.Parts[T], error) { return load(path, of) })
	return held, func(p *checkedfile.Parts[T]) error {
		if p.Count() == 0 {
			return nil
		}
		return write(p)
	}, err
}

func (f *imputeCommand) explain(err error, path string) error {
	if errors.Is(err, context.Canceled) && exists(f.state()) {
		return interrupted(fmt.Sprintf("the draws so far are saved in %s; repeat the command with --resume", f.state()))
	}
	return refused(err, path)
}

func (f *imputeCommand) identity() (string, error) {
	var model []byte // none of draws from a table alone
	if f.model != "" {
		var err error
		if model, err = os.ReadFile(f.model); err != nil {
			return "", err
		}
	}
	c := f.config
	settings := []any{c.Sampler, c.Draws, f.seed, f.chains, f.steps, f.point, f.components, f.values.donors, f.fit.given(), f.fit.save != "", model}
	return replicate.Identity(settings, f.cells.Table)
}
