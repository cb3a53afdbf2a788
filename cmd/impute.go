package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"missingscore/data"
	"missingscore/internal/atomicfile"
	"missingscore/trainers/fitted"
)

// imputeCommand is the impute command: its flags, and what is read.
type imputeCommand struct {
	completingFlags
	fit    firstFit
	values valueFlags
	kept   resumableDraws
	point  bool

	components int // of draws from a table alone

	model string // the file of the model
	cells *data.Cells
	ready *fitted.Model
	known map[string]any // of the result
}

const imputeHelp = `Fill a table's missing cells. From TABLE.csv alone the law of its rows is drawn along
with the cells: a mixture of normals, of which number, weights, means and precisions come
from their posterior distribution, so that the draws' spread has what is not known of the
law in it; columns that are clearly not normal by their normal scores, columns of few
values by a normal number behind them, so that just these values are drawn. From a fitted
model, MODEL.json TABLE.csv, or with flags of fit, --point, --pmm or another --sampler
from a model that is fitted first and kept beside the result; its parameters are fixed.

  --draws N  draws, not best guesses: their spread is what is not known of the cells. With
             one draw the same table comes out, every observed cell as it was read; with
             more the long format of the R package mice: .imp for the draw and .id for
             the row in front, .imp = 0 the table as it was, so that as.mids() reads it
  --point    expectations of the cells given the row's observed ones: one table, in
             closed form for a Gaussian on all of R^d, else means of draws with their
             Monte-Carlo error. For prediction; statistics of such a table are too sure.
             Of ordered categories (--ordinal) the most probable one
  --pmm      predictive-mean matching: each drawn value is replaced by an observed one,
             of one of 5 rows (--pmm=K) whose expectation is nearest

Imputed values are the model's: inside the bounds it was fitted with, not rounded. What
suits the columns is to be asked for: --pmm, --round auto, --clip observed. What was
imputed is set beside what was observed, column by column.

Other columns are carried along. --resume goes on where an interrupted run from a model
was cut.

`

// posteriorText is what is known to this command alone of --sampler.
const posteriorText = `Without a model there is one more, the default then, in five Markov chains:

  posterior  the cells and the mixture of normals together; --components 1: one normal
`

func newImputeCommand() *cobra.Command {
	var f imputeCommand
	cmd := &cobra.Command{
		Use:   "impute [MODEL.json] TABLE.csv",
		Short: "Fill a table's missing cells by draws or expectations",
		Long:  imputeHelp + samplersText + posteriorText,
		Example: `  missingscore simulate normal --d 5 --n 200 --missing 0.3 --out n
  missingscore impute n/data.csv --draws 20 --out n/completed.csv
  missingscore fit n/data.csv --out n/model.json
  missingscore impute n/model.json n/data.csv --point --out n/point.csv`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usageError{fmt.Errorf("a table is expected, or a model and a table, got %d arguments", len(args))}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.add(cmd, 1, "completed.csv", "file for the completed table, of the format of its ending (.csv, .tsv, .xlsx, .parquet, .feather, each with .gz or .zst) or else of the table's")
	fl := cmd.Flags()
	fl.BoolVar(&f.point, "point", false, "expectations instead of draws (--draws: over how many, where there is no closed form; default 400)")
	fl.BoolVar(&f.kept.resume, "resume", false, "go on where an interrupted run into the same --out was cut")
	f.values.add(cmd)
	fl.Lookup("sampler").Usage += "; of a table alone posterior"
	fl.Lookup("warm-up").Usage = "Monte Carlo iterations before any counts (default: 150 and more, posterior 100)"
	fl.Lookup("iterations").Usage = "Monte Carlo iterations after them (default: 250 or ten for each draw of a chain, and again twice as many, up to 2000, for rows whose chains have not met; posterior 100, and again twice as many, up to 800, while chains have not met)"
	fl.IntVar(&f.components, "components", 0, "posterior: normals in the mixture at most (default: 10, or one for 5d rows; one normal below 20d rows, or if the chains have not met); 1: one normal")
	f.fit.add(cmd)
	return cmd
}

func (f *imputeCommand) run(cmd *cobra.Command, args []string) error {
	if err := f.consistent(cmd); err != nil {
		return err
	}
	f.likeTheTable(cmd, args[len(args)-1])
	f.known = map[string]any{}
	release, err := lock(f.out)
	if err != nil {
		return err
	}
	defer release()
	defer f.fit.discard()
	path := args[len(args)-1]
	complete, err := f.ways(cmd, args)
	if err != nil {
		return err
	}
	t := f.cells.Table
	f.known["rows"], f.known["cells"] = t.N, t.Missing()
	if err := f.values.parse(t); err != nil {
		return err
	}
	values, converged, summary, err := complete(cmd, path)
	if err != nil {
		return err
	}
	draws := len(values) / len(t.Values)
	f.compare(cmd.ErrOrStderr(), values, draws)
	if err := f.save(cmd, f.known, converged, func(put data.Put) error { return f.cells.WriteCompleted(put, f.out, values, draws) }); err != nil {
		return err
	}
	if err := f.kept.remove(); err != nil {
		return err
	}
	return f.finish(cmd, f.known, converged, summary)
}

// likeTheTable gives a result without a name of its own the ending of the table's format.
func (f *imputeCommand) likeTheTable(cmd *cobra.Command, table string) {
	out := cmd.Flags().Lookup("out")
	if out.DefValue = strings.TrimSuffix(out.DefValue, ".csv") + data.WriteFormat(table); !out.Changed {
		f.out = out.DefValue
	}
}

// completion completes the table.
type completion func(cmd *cobra.Command, path string) (values []float64, converged bool, summary string, err error)

// ways reads the table, and the model where there is one, and says how the table is completed.
func (f *imputeCommand) ways(cmd *cobra.Command, args []string) (completion, error) {
	if err := f.placed(args); err != nil {
		return nil, err
	}
	alone, err := f.fromTable(cmd, len(args))
	if err != nil {
		return nil, err
	}
	path := args[len(args)-1]
	if alone {
		return f.drawsAlone, f.readAlone(cmd, path)
	}
	if err := f.source(cmd, args); err != nil {
		return nil, err
	}
	m, ready, cells, err := f.read(cmd, f.model, path)
	if err != nil {
		return nil, err
	}
	f.ready, f.cells = ready, cells
	f.known["model"] = m.Kind
	if f.point {
		return f.expectations, nil
	}
	return f.draws, nil
}

// consistent refuses flags that exclude each other.
func (f *imputeCommand) consistent(cmd *cobra.Command) error {
	if err := nonZero(cmd, "pmm", "components"); err != nil {
		return err
	}
	changed := cmd.Flags().Changed
	switch {
	case f.point && changed("pmm"):
		return usageError{errors.New("--pmm: it makes draws observed values, and --point makes no draws; leave one of them out")}
	case changed("pmm") && (changed("round") || changed("clip")):
		return usageError{errors.New("--pmm: values that were observed need neither --round nor --clip; leave them out")}
	case f.point && !changed("draws"):
		f.config.Draws = fitted.PointDraws
	}
	return f.check(cmd, append(slices.Clone(fitted.Samplers), fitted.FromPosterior)...)
}

// placed refuses a model in the place of a table, and a table in that of a model.
func (f *imputeCommand) placed(args []string) error {
	isModel, err := modelFile(args[0])
	swapped := false
	if len(args) == 2 && !isModel {
		swapped, _ = modelFile(args[1]) // a file that cannot be read is told of as the table
	}
	switch {
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

// source finds the model, or makes it.
func (f *imputeCommand) source(cmd *cobra.Command, args []string) (err error) {
	if len(args) == 1 {
		f.model, err = f.fit.run(cmd, &f.completingFlags, args[0], f.kept.resume)
		return err
	}
	f.model = args[0]
	return f.fit.refuse()
}

// draws completes the table c.Draws times.
func (f *imputeCommand) draws(cmd *cobra.Command, path string) (values []float64, converged bool, summary string, err error) {
	t := f.cells.Table
	if f.config.Draws > 1 {
		if err := f.cells.CheckLong(); err != nil {
			return nil, false, "", fmt.Errorf("%s: %w", path, err)
		}
	}
	if err := f.kept.begin(cmd, f); err != nil {
		return nil, false, "", err
	}
	bar := f.watch(cmd, "impute")
	r, err := fitted.Impute(cmd.Context(), f.ready, t, f.config)
	bar.finish()
	if err != nil {
		return nil, false, "", f.kept.explain(err, path)
	}
	f.known["sampler"], f.known["draws"] = r.Sampler, r.Draws
	how, err := f.values.apply(cmd, f, r)
	if errors.Is(err, context.Canceled) {
		err = f.kept.explain(err, path)
	}
	if err != nil {
		return nil, false, "", err
	}
	f.outcome.doubt(r.Beyond(t))
	converged, mixing := mixed(f.known, r.Mixing)
	return r.Values, converged, fmt.Sprintf("%d cells of %d rows drawn %d times by %s%s%s", t.Missing(), t.N, r.Draws, r.Sampler, how, mixing), nil
}

// expectations completes the table once.
func (f *imputeCommand) expectations(cmd *cobra.Command, path string) (values []float64, converged bool, summary string, err error) {
	t := f.cells.Table
	if err := f.kept.begin(cmd, f); err != nil {
		return nil, false, "", err
	}
	bar := f.watch(cmd, "expectations")
	r, err := fitted.Point(cmd.Context(), f.ready, t, f.config)
	bar.finish()
	if err != nil {
		return nil, false, "", f.kept.explain(err, path)
	}
	f.known["sampler"], f.known["draws"], f.known["point"] = r.Sampler, r.Draws, true
	how := "in closed form"
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
	if r.Draws == 0 && cmd.Flags().Changed("draws") {
		return nil, false, "", usageError{errors.New("--draws: the expectations of this model are known in closed form, without draws; leave it out, or take --sampler mcmc")}
	}
	converged, mixing := mixed(f.known, r.Mixing)
	return r.Values, converged, fmt.Sprintf("expectations of %d cells of %d rows, %s%s%s", t.Missing(), t.N, how, f.values.held(f.known, changed), mixing), nil
}

// pointErrors are the largest Monte-Carlo error of a cell in deviations of its column, and
// each column's root mean square.
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

// compare sets what was imputed beside what was observed.
func (f *imputeCommand) compare(stderr io.Writer, values []float64, draws int) {
	columns := fitted.Summarise(f.cells.Table, values, draws)
	if len(columns) == 0 {
		return
	}
	w := tabwriter.NewWriter(stderr, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "column\tmissing\tmean\timputed\tsd\timputed\trange\timputed\toutside\t")
	listed := []map[string]any{}
	for _, c := range columns {
		o, i := c.Observed, c.Imputed
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t%s to %s\t%s to %s\t%.0f %%\t\n", c.Name, i.N/draws, short(o.Mean), short(i.Mean), short(o.SD), short(i.SD),
			short(o.Low), short(o.High), short(i.Low), short(i.High), 100*c.Outside)
		listed = append(listed, map[string]any{"column": c.Name, "missing": i.N / draws, "outside": c.Outside, "observed": momentsJSON(o), "imputed": momentsJSON(i)})
	}
	_ = w.Flush() // to the terminal
	f.known["columns"] = listed
}

// short is v with four digits, or a dash where there is no number.
func short(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%.4g", v)
}

func momentsJSON(m fitted.Moments) map[string]any {
	return map[string]any{"mean": plain(m.Mean), "sd": plain(m.SD), "min": plain(m.Low), "max": plain(m.High)}
}
