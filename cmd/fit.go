package cmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot/plotter"

	"missingscore/cmd/picture"
	"missingscore/cmd/report"
	"missingscore/cmd/words"
	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/atomicfile"
	"missingscore/internal/data/mixture"
	"missingscore/internal/data/moments"
	"missingscore/internal/data/network"
	"missingscore/internal/memory"
	"missingscore/internal/printable"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/descent"
	"missingscore/internal/trainers/evaluate"
	"missingscore/internal/trainers/inference"
	"missingscore/internal/trainers/rows"
	"missingscore/losses"
	"missingscore/trainers"
	"missingscore/trainers/fitted"
	"missingscore/trainers/penalty"
)

type fitCommand struct {
	trainingFlags
	modelOptions, objectiveOptions string
	validation                     float64
	out, history, truthFile        string
	saved                          string // the state's file; empty: none is kept
	picture                        string // the picture of drawn rows; empty: none
	inference                      string
	penalty, lambda                string
	stream                         bool
	adjust                         func() error  // the settings, by a command that needs the table itself, too; nil for fit
	rows                           *data.RowFile // that mini-batches come from; nil where the table is held

	table    *data.Table
	prepared *trainers.Prepared
	result   *trainers.Result
}

const fitHelp = `Estimate the parameters of a model by score matching. A loss without noise (exact, full,
zeroed) is minimised by L-BFGS or EM, a loss with draws by Adam on mini-batches, with early
stopping for mixture, energy and score-network. Result: the model in the table's units, and
its history beside it.

Models (--model, --model-options):
  gaussian       mean and precision P = LLᵀ; also from a file of missingscore moments
  quartic        log q = Σ θ_ij x_i² x_j², −θ = LLᵀ; overfits: --penalty helps
  mixture        normals with full covariances, also for categories, by EM of the likelihood;
                 held-out rows choose their number, or {"components":3}. --method, --objective
                 or bounds: diagonal covariances by score matching
  energy         neural network, log q = f(x) − ½ Σ κ_j (x_j − c_j)²;
                 {"hidden":[64,64],"activation":"softplus"}, silu or tanh
  score-network  the network of MissDiff: a score without a density; for zeroed and full. To sample,
                 score or impute, fit it with --objective denoising

Objectives (--objective, --objective-options):
  auto       classical; truncated with a support
  sliced     random directions, fast for networks with many columns:
             {"directions":"rademacher","number":1,"variance_reduced":false}; normal, basis
  denoising  rows with added noise, in standard deviations; other models than networks take
             one level, and are models of the noisy rows:
             {"noise":{"kind":"exploding","least":0.01,"most":10,"levels":0},"weight":"variance"}

--method auto     gaussian: em-exact; quartic, mixture: em-full; energy: em-var, with two
                  columns em-variw, denoising iw; score-network: zeroed; with logistic
                  --missingness: variw; without gaps: full
--optimiser auto  em for em-exact; lbfgs for a loss without noise, except mixture, energy and
                  score-network; else adam
--penalty         adds λ Σ Ω(θ_jk) over pairs of columns: l1 sets weak couplings to 0, ridge
                  shrinks all; --lambda cv takes about fifty times as long as one fit
--inference robust  standard errors and intervals of the parameters of gaussian, quartic and
                  mixture, for exact, em-exact, full, iw, em, em-full, variw and em-variw

With a support (--lower, --upper, --domain) the objective is weighted by g and imputed cells
stay inside. --missingness describes cells that are not missing at random.
`

func newFitCommand() *cobra.Command { return new(fitCommand).command() }

func (f *fitCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "fit TABLE.csv",
		Short:   "Estimate a model's parameters from a table with missing cells",
		Long:    fitHelp,
		Example: `  missingscore fit examples/airquality.csv --columns Ozone,Solar.R,Wind,Temp --out air.json`,
		Args:    exactArgs(1, "one table"),
		RunE:    func(cmd *cobra.Command, args []string) error { return climb(cmd, args, f) },
	}
	f.trainingFlags.add(cmd)
	m, o, steps, c := &f.spec.Model, &f.spec.Objective, &f.spec.Steps, &f.spec.Descent
	fl := cmd.Flags()
	fl.StringVar(&m.Kind, "model", trainers.DefaultModel, "`name`: "+strings.Join(slices.Sorted(maps.Keys(model.Models)), ", "))
	fl.StringVar(&f.modelOptions, "model-options", "", "options of the model as `JSON`")
	fl.StringVar(&steps.Method, "method", "auto", "`name` of the method; network --help-all lists them")
	fl.StringVar(&o.Kind, "objective", "auto", "`name`: auto, "+strings.Join(slices.Sorted(maps.Keys(losses.Objectives)), ", "))
	fl.StringVar(&f.objectiveOptions, "objective-options", "", "options of the objective as `JSON`")
	fl.StringVar(&f.out, "out", "model.json", "`file` for the model, or a folder")
	fl.StringVar(&f.truthFile, "truth", "", "true model as JSON `file` or precision as CSV file: add the error to the history")
	fl.BoolVar(&f.spec.KeepUnits, "keep-units", false, "do not standardise columns during the fit")
	fl.StringVar(&c.Optimiser, "optimiser", "auto", "`name`: auto, "+strings.Join(descent.Names(), ", "))
	fl.IntVar(&c.Iterations, "iterations", 0, "maximum of iterations of em or lbfgs (default: 10000)")
	fl.Float64Var(&c.Tolerance, "tolerance", 0, "em and lbfgs stop below this change or relative gradient (default: 1e-9; float32 1e-4)")
	fl.Float64Var(&f.validation, "validation", 0, "`share` of rows held out for early stopping (default: 0.1 for mixture, energy and score-network from 100 rows on; else 0)")
	fl.StringVar(&f.penalty, "penalty", penalty.None, "`kind` of penalty for gaussian and quartic: none, l1 or ridge")
	fl.StringVar(&f.lambda, "lambda", "cv", "`strength` of the penalty: a number, cv or cv=FOLDS")
	fl.IntVar(&c.Epochs, "epochs", 0, "maximum of epochs of adam (default: 200; quartic 25; networks: 300, at most 6000 steps)")
	fl.Float64Var(&c.Rate, "rate", 0, "learning rate of adam (default: 0.01; networks: 0.003)")
	fl.IntVar(&steps.Batch, "batch", 100, "rows per step of adam")
	fl.IntVar(&f.warmUp, "warm-up", 500, "imputer steps before the first parameter step")
	f.addInference(cmd)
	f.tableFlags.addWeights(cmd)
	fl.BoolVar(&f.stream, "stream", false, "read mini-batches from the file; hold no rows (default: if the table exceeds the memory)")
	fl.IntVar(&steps.Workers, "workers", runtime.NumCPU(), "`threads`; results do not depend on them")
	return cmd
}

func (f *fitCommand) paths(cmd *cobra.Command) error {
	info, err := os.Stat(f.out)
	if strings.HasSuffix(f.out, "/") || err == nil && info.IsDir() {
		f.out = filepath.Join(f.out, "model.json")
	}
	name := "history.csv"
	if base := filepath.Base(f.out); base != "model.json" { // a folder may hold several models
		name = strings.TrimSuffix(base, ".json") + ".history.csv"
	}
	f.history = siblingOf(f.out, name)
	f.saved = siblingOf(f.out, filepath.Base(f.out)+".state")
	unsaved := fmt.Sprintf("--resume: no state is saved beside %s; leave it out, or give a file as --out", f.out)
	return cmp.Or(obey(rule{f.resume && f.saved == "", unsaved}), distinctFiles(cmd, output{"out", f.out}, output{"out", f.history}, output{"out", f.saved}, output{"out", siblingOf(f.out, report.EstimatedLaw)}))
}

func (f *fitCommand) outputs() []string { return []string{f.out, f.history} }
func (f *fitCommand) states() []string  { return []string{f.saved} }

func (f *fitCommand) options(cmd *cobra.Command, _ []string) error {
	if err := cmp.Or(nonZero(cmd, "epochs", "rate", "iterations", "tolerance", "batch", "workers", "draws", "imputer-steps", "level"),
		obey(rule{f.warmUp < 0, fmt.Sprintf("--warm-up %d: it must not be negative", f.warmUp)}), f.settings.read(cmd, &f.spec)); err != nil {
		return err
	}
	if f.settings.says(cmd, "warm-up") {
		f.spec.Steps.WarmUp = &f.warmUp
	}
	if cmd.Flags().Changed("validation") {
		f.spec.Descent.Validation = &f.validation
	}
	if f.settings.says(cmd, "model-options") {
		f.spec.Model.Options = json.RawMessage(f.modelOptions)
	}
	if f.settings.says(cmd, "objective-options") {
		f.spec.Objective.Options = json.RawMessage(f.objectiveOptions)
	}
	f.tableFlags.levels = f.spec.Model.Kind == trainers.MixtureModel
	if err := cmp.Or(f.parse(cmd), f.parseInference(cmd), f.parsePenalty(cmd), f.paths(cmd)); err != nil || f.adjust == nil {
		return err
	}
	return f.adjust()
}

func (f *fitCommand) load(cmd *cobra.Command, args []string) (err error) {
	file := args[0]
	var full *memory.Error // it is then streamed unasked
	if f.stream {
		err = f.loadFile(cmd, file, nil)
	} else if err = f.loadTable(cmd, file); errors.As(err, &full) && f.adjust == nil && !cmd.Flags().Changed("stream") {
		f.table, f.prepared = nil, nil
		err = f.loadFile(cmd, file, err)
	}
	if err != nil {
		return err
	}
	d := f.prepared.Spec.Descent
	f.prepared.Spec.Truth, err = readTruth(cmd.Context(), f.truthFile, f.table.Names)
	if err = cmp.Or(unread(cmd, "optimiser "+d.Optimiser, d.Epochs != 0, "batch"), err); err != nil {
		return err
	}
	return cmp.Or(ensureDirOf(f.out), ensureDirOf(f.history))
}

func (f *fitCommand) loadTable(cmd *cobra.Command, file string) (err error) {
	if f.table, err = f.readRows(cmd, file); err != nil {
		return err
	}
	t, steps := f.table, f.spec.Steps
	if err := checkSize("%d rows in a batch × %d columns × %d draws (--draws)", min(steps.Batch, t.N), t.D, steps.Draws); err != nil {
		return err
	}
	f.prepared, err = f.prepare(t, file)
	return err
}

func (f *fitCommand) work(cmd *cobra.Command, args []string) (err error) {
	file := args[0]
	if f.rows != nil {
		defer func() { err = errors.Join(err, f.rows.Close()) }()
	}
	if err := f.announce(cmd.ErrOrStderr(), file, f.table); err != nil {
		return err
	}
	f.inPlace = true
	f.result, err = f.fit(cmd, f.prepared, file, f.saved,
		"no model is written. Try a smaller --rate, another --method, or look for outliers in the table")
	return err
}

func (f *fitCommand) write(set *atomicfile.Set, _ *cobra.Command, args []string) error {
	text, err := f.result.Encode()
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	if f.history != "" {
		if err := set.Write(f.history, f.result.WriteHistory); err != nil {
			return err
		}
	}
	if err := f.known.write(set, siblingOf(f.out, report.EstimatedLaw), f.result); err != nil {
		return err
	}
	if f.picture, err = f.drawCheck(set); err != nil {
		return err
	}
	return set.Write(f.out, func(w io.Writer) error { _, err := words.Writer{W: w}.Write(text); return err })
}

const (
	drawnPairs  = 6
	drawnPoints = 300
)

// drawCheck draws the pairs of columns whose drawn rows differ most from the table; "" without a picture.
func (f *fitCommand) drawCheck(set *atomicfile.Set) (path string, err error) {
	c, t := f.result.Model.Check, f.table
	path = siblingOf(f.out, strings.TrimSuffix(filepath.Base(f.out), ".json")+".draws.svg")
	if c == nil || len(c.Pairs) == 0 || f.rows != nil || f.adjust != nil || path == "" {
		return "", nil
	}
	moved := func(k fitted.CheckedColumn) float64 {
		return (math.Abs(k.Mean.Drawn-k.Mean.Table) + math.Abs(k.SD.Drawn-k.SD.Table)) / k.SD.Table
	}
	differ := func(p fitted.CheckedPair) float64 {
		return math.Abs(p.Correlation.Drawn-p.Correlation.Table) + moved(c.Columns[p.A]) + moved(c.Columns[p.B])
	}
	pairs := slices.SortedStableFunc(slices.Values(c.Pairs), func(a, b fitted.CheckedPair) int { return cmp.Compare(differ(b), differ(a)) })
	var panels []picture.Panel
	for _, pair := range pairs[:min(len(pairs), drawnPairs)] {
		p := picture.Panel{X: c.Columns[pair.B].Name, Y: c.Columns[pair.A].Name}
		x, y := slices.Index(t.Names, p.X), slices.Index(t.Names, p.Y)
		for i := 0; i < t.N && len(p.Observed) < drawnPoints; i++ {
			if t.Observed[i*t.D+x] && t.Observed[i*t.D+y] {
				p.Observed = append(p.Observed, plotter.XY{X: t.Values[i*t.D+x], Y: t.Values[i*t.D+y]})
			}
		}
		for i := range min(c.Drawn, drawnPoints) {
			p.Drawn = append(p.Drawn, plotter.XY{X: c.Sample[i*t.D+x], Y: c.Sample[i*t.D+y]})
		}
		panels = append(panels, p)
	}
	p, width, height := picture.Draws(panels)
	svg := picture.SVG(p, width, height, "")
	return path, set.Write(path, func(w io.Writer) error { _, err := io.WriteString(w, picture.XML+svg); return err })
}

func (f *fitCommand) tell(cmd *cobra.Command, took time.Duration) error {
	r := f.result
	out := map[string]any{"model": r.Model.Kind, "method": r.Spec.Steps.Method, "converged": r.Converged, "verdict": r.Verdict, "loss": r.Loss,
		"assumption": r.Assumption, "missing_at_random": array(r.MissingAtRandom),
		"left_out": array(f.table.LeftOut), "seconds": took.Seconds(), "blas": f.blas, "out": f.out, "history": f.history, "picture": f.picture, "warnings": array(r.Warnings)}
	for _, e := range r.Final.Errors {
		out[e.Name] = e.Value
	}
	if r.Penalty != nil {
		out["penalty"] = r.Penalty
	}
	if u := r.Model.Uncertainty; u != nil {
		out["inference"] = u
	}
	if c := r.Model.Check; c != nil {
		out["check"] = c
	}
	places := "model: " + f.out
	if f.history != "" {
		places += ", history: " + f.history
	}
	if f.picture != "" {
		places += ", drawn rows: " + f.picture
	}
	return f.end(cmd, out, func(w io.Writer) { f.summary(w, r) }, r.Warnings, places, open(r))
}

func readTruth(ctx context.Context, path string, names []string) (truth *evaluate.Truth, err error) {
	defer func() {
		if err != nil {
			truth, err = nil, fmt.Errorf("--truth: %w", err)
		}
	}()
	if path == "" {
		return nil, nil
	}
	if !strings.HasSuffix(path, ".json") {
		p, err := network.ReadPrecision(path, names)
		if err != nil {
			return nil, err
		}
		m := model.NewGaussian(len(names), model.FreeSymmetric)
		return &evaluate.Truth{Model: m, Unknown: []string{"mean"}}, m.SetPrecision(p)
	}
	m, err := fitted.Load(path)
	switch {
	case err != nil:
		return nil, err
	case m.Transform != nil:
		return nil, fmt.Errorf("%s is a model of transformed columns, %s; leave it out, or give their precision as CSV", path, m.Transform.Describe(m.Names))
	case strings.Join(m.Names, ",") != strings.Join(names, ","):
		return nil, fmt.Errorf("%s has the columns %s, the table %s", path, strings.Join(m.Names, ", "), strings.Join(names, ", "))
	}
	if _, normal := model.AsNormal(m.Model); normal && m.Domain == nil {
		return &evaluate.Truth{Model: m.Model}, nil // the divergence is known exactly
	}
	sample, chains, err := m.Sample(ctx, 10000, stream.New(1, stream.Simulate, 1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if chains != nil && !(chains.WorstRHat() <= fitted.MaxRHat) {
		return nil, fmt.Errorf("%s: its Markov chains have not converged (R-hat %.3f); leave it out, or give a precision as CSV", path, chains.WorstRHat())
	}
	return &evaluate.Truth{Model: m.InUnits(), Sample: sample.Values}, nil
}

func (f *fitCommand) summary(w io.Writer, r *trainers.Result) {
	final := r.Final
	effort := fmt.Sprintf("%d iterations", final.Iteration)
	if passes := r.History[len(r.History)-1].Epoch; passes > 0 { // of which that of final may be an earlier one
		effort = fmt.Sprintf("%d passes", passes)
	}
	fmt.Fprintf(w, "%s %s model by %s, %s\n", verdict(r), r.Model.Kind, r.Estimator.Title, effort)
	if r.Penalty != nil {
		fmt.Fprintln(w, r.Penalty)
	}
	if noise := r.Model.Noise; noise != nil && noise.Single() {
		fmt.Fprintf(w, "the model describes rows with added noise of %g standard deviations\n", noise.Least)
	}
	fmt.Fprintf(w, "loss %.5g", final.Loss)
	switch {
	case math.IsNaN(final.EffectiveSize) || !r.Estimator.Draws():
	case r.Estimator.Weighting == losses.Uniform:
		fmt.Fprintf(w, ", %d draws a row, not weighted", r.Spec.Steps.Draws)
	default:
		fmt.Fprintf(w, ", effective sample size %.1f of %d draws", final.EffectiveSize, r.Spec.Steps.Draws)
	}
	fmt.Fprintln(w)
	for _, v := range final.Errors {
		fmt.Fprintf(w, "  %s %.4g\n", strings.ReplaceAll(v.Name, "_", " "), v.Value)
	}
	if functions := r.Model.Transform; functions != nil {
		fmt.Fprintf(w, "parameters of transformed columns: %s\n", functions.Describe(r.Model.Names))
	}
	writeQuantities(w, r.Model)
	writeUncertainty(w, r.Model.Uncertainty)
	writeCheck(w, r.Model.Check)
}

const checkedColumns = 12 // of a check

func writeCheck(w io.Writer, c *fitted.Check) {
	if c == nil {
		return
	}
	fmt.Fprintf(w, "%d drawn rows beside the table's %d (missing cells drawn from the model), table | drawn:\n", c.Drawn, c.Rows)
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	if len(c.Columns) > 0 {
		fmt.Fprintln(out, "\tmean\tsd\t5 %\tmedian\t95 %\t")
	}
	both := func(v fitted.TableDrawn) string { return fmt.Sprintf("%.3g | %.3g", v.Table, v.Drawn) }
	for _, k := range c.Columns[:min(len(c.Columns), checkedColumns)] {
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\t\n", printable.Cell(k.Name), both(k.Mean), both(k.SD), both(k.Quantiles[0]), both(k.Quantiles[2]), both(k.Quantiles[4]))
	}
	_ = out.Flush() // to the terminal
	tellMore(w, "  and %d more columns, in the file\n", len(c.Columns)-checkedColumns)
	if len(c.Pairs) > 0 {
		p := slices.MaxFunc(c.Pairs, func(a, b fitted.CheckedPair) int {
			return cmp.Compare(math.Abs(a.Correlation.Table-a.Correlation.Drawn), math.Abs(b.Correlation.Table-b.Correlation.Drawn))
		})
		fmt.Fprintf(w, "  correlation that differs most: %s and %s %s\n", c.Columns[p.B].Name, c.Columns[p.A].Name, both(p.Correlation))
	}
	if len(c.Modes) > 0 {
		fmt.Fprint(w, "  shares of modes:")
		for _, m := range c.Modes[:min(len(c.Modes), checkedColumns)] {
			fmt.Fprintf(w, "  %.2f | %.2f", m.Table, m.Drawn)
		}
		fmt.Fprintln(w)
	}
	if e := c.Distance; e != nil {
		fmt.Fprintf(w, "  energy distance %.3g; up to %.3g by chance, of a normal law %.3g\n", max(0, e.Drawn), e.Chance, max(0, e.Normal))
	}
}

const shownQuantities = 6 // rows of a matrix on the screen, and half as many of its columns

func writeQuantities(w io.Writer, saved *fitted.Saved) {
	m, names := saved.Model, saved.Names
	if mixed := model.MixedOf(m); mixed != nil {
		writeComponents(w, mixed, names, saved.Levels)
		return
	}
	parametric, ok := m.(model.Parametric)
	if !ok {
		numbers := 0
		for _, p := range m.Params() {
			numbers += len(p.Value)
		}
		fmt.Fprintf(w, "%d parameters, in the file\n", numbers)
		return
	}
	for _, q := range parametric.Quantities() {
		if strings.HasPrefix(q.Name, "tilt ") { // of a mixture that only corrects an energy's shares
			continue
		}
		if q.Rows > shownQuantities || q.Cols > 2*shownQuantities {
			fmt.Fprintf(w, "%s: %d × %d numbers, in the file\n", q.Name, q.Rows, q.Cols)
			continue
		}
		fmt.Fprintf(w, "%s:\n", q.Name)
		if q.Cols == len(names) {
			fmt.Fprintf(w, "  %-12s", "")
			for _, name := range names {
				fmt.Fprintf(w, " %11.11s", printable.Cell(name))
			}
			fmt.Fprintln(w)
		}
		for i := range q.Rows {
			label := ""
			if q.Rows == len(names) {
				label = names[i]
			}
			fmt.Fprintf(w, "  %-12s", label)
			for _, v := range q.Value[i*q.Cols : (i+1)*q.Cols] {
				fmt.Fprintf(w, " %11.4g", v)
			}
			fmt.Fprintln(w)
		}
	}
}

const shownComponents, shownLines = 6, 40

func writeComponents(w io.Writer, m *mixture.Mixture, names []string, levels [][]string) {
	shown := min(len(m.Weights), shownComponents)
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	lines := 0
	line := func(name string, cell func(k int) string) {
		if lines++; lines > shownLines {
			return
		}
		fmt.Fprintf(out, "%s\t", printable.Cell(name))
		for k := range shown {
			fmt.Fprintf(out, "%s\t", cell(k))
		}
		fmt.Fprintln(out)
	}
	line("component", func(k int) string { return strconv.Itoa(k + 1) })
	line("weight", func(k int) string { return fmt.Sprintf("%.3f", m.Weights[k]) })
	for j, name := range names {
		at := m.Place(j)
		if m.Levels[j] == 0 {
			line(name, func(k int) string { return fmt.Sprintf("%.4g ± %.3g", m.Means[k][at], m.Deviation(k, j)) })
			continue
		}
		for c, level := range levels[j] {
			line(name+" = "+level, func(k int) string { return fmt.Sprintf("%.3f", m.Shares[k][at+c]) })
		}
	}
	_ = out.Flush() // to the terminal
	if more := len(m.Weights) - shown; more > 0 || lines > shownLines {
		fmt.Fprintf(w, "all %d components are in the file\n", len(m.Weights))
	}
}

func (f *fitCommand) addInference(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.inference, "inference", inference.None, "`kind` of standard errors of the parameters: none or robust")
	fl.Float64Var(&f.spec.Inference.Level, "level", inference.DefaultLevel, "level of confidence intervals")
}

func (f *fitCommand) parseInference(cmd *cobra.Command) (err error) {
	c := &f.spec.Inference
	if level := c.Level; f.settings.says(cmd, "inference") {
		*c, err = inference.Parse(f.inference)
		c.Level = level
	}
	if err == nil {
		err = obey(rule{!c.Asked() && c.Kind == inference.Auto, "--inference auto: fit takes robust or none"})
	}
	if !c.Asked() && !cmd.Flags().Changed("level") {
		*c = inference.Config{} // a fit that nobody asks more of
	}
	return err
}

const shownParameters = 60 // with standard errors on the screen

func writeUncertainty(w io.Writer, u *fitted.Uncertainty) {
	if u == nil {
		return
	}
	fmt.Fprintf(w, "estimates with standard errors and %g %% intervals; %s:\n", 100*u.Level, u.Rests)
	shown, wide := u.Parameters[:min(len(u.Parameters), shownParameters)], 0
	for _, p := range shown {
		wide = max(wide, len([]rune(p.Name)))
	}
	for _, p := range shown {
		fmt.Fprintf(w, "  %-*s %10.4g  %9.3g", wide, p.Name, p.Estimate, *cmp.Or(p.SE, new(math.NaN())))
		if p.Low != nil && p.High != nil {
			fmt.Fprintf(w, "  [%.4g, %.4g]", *p.Low, *p.High)
		}
		fmt.Fprintln(w)
	}
	tellMore(w, "  and %d more, in the file\n", len(u.Parameters)-shownParameters)
}

func (f *fitCommand) parsePenalty(cmd *cobra.Command) error {
	c := &f.spec.Descent.Penalty
	if f.settings.says(cmd, "penalty") {
		*c = penalty.Config{}
		if f.penalty != penalty.None {
			c.Kind = f.penalty
		}
	}
	if c.Kind == "" || c.Kind == penalty.None {
		return unread(cmd, "penalty none", false, "lambda")
	}
	if _, err := penalty.ByName(c.Kind); err != nil || !f.settings.says(cmd, "lambda") {
		return err
	}
	return c.ParseLambda(f.lambda)
}

// full is the memory error of loading the table, nil for --stream.
func (f *fitCommand) loadFile(cmd *cobra.Command, path string, full error) error {
	err := obey(
		rule{f.tableFlags.weights != "", "--stream: --weights needs all rows of the table; leave one of the two out"},
		rule{f.known.file == estimateLaw, "--stream: --missingness estimate needs all rows; estimate it from some rows, then give --missingness FILE"},
		rule{moments.Is(path), fmt.Sprintf("--stream: %s holds moments, not rows; leave it out", path)},
	)
	var o data.ReadOptions
	if err == nil {
		o, err = f.tableFlags.options()
	}
	if err == nil {
		if f.rows, err = data.OpenRows(path, o, 0); err == nil {
			err = f.prepareFile(cmd, path)
		}
	}
	if full == nil {
		return err
	}
	var wrong *trainers.SettingError
	var usage usageError
	switch {
	case errors.As(err, &usage), errors.Is(err, data.ErrSequential), errors.As(err, &wrong) && wrong.Field == "stream":
		return full
	case err != nil:
		return err
	case !f.prepared.ByBatches():
		return fmt.Errorf("%w; use missingscore moments for a Gaussian model by %s, or --stream to fit by adam", full, f.prepared.Estimator.Name)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%v\n%s: rows are read from the file during the fit (--stream)\n", full, path)
	return nil
}

func (f *fitCommand) prepareFile(cmd *cobra.Command, path string) (err error) {
	nominal := slices.ContainsFunc(f.rows.LeftOut, func(c data.Column) bool { return c.Kind == data.Nominal })
	if err := obey(rule{f.tableFlags.levels && nominal, "--stream: a mixture with nominal columns needs all rows; leave it out, or --exclude these columns"}); err != nil {
		return err
	}
	tellLeftOut(cmd.ErrOrStderr(), f.rows.LeftOut)
	names := &data.Table{Names: f.rows.Names, D: len(f.rows.Names)}
	f.prepared, err = f.prepareBy(names, path, func(s trainers.Spec) (*trainers.Prepared, error) {
		return trainers.PrepareFile(cmd.Context(), f.rows, s, newReading(cmd.ErrOrStderr()))
	})
	if err == nil {
		f.table = f.prepared.Table
		memory.Held(heldBytes(len(f.table.Values)+2*rows.WindowBlocks*f.rows.BlockRows*f.table.D, f.table.D))
	}
	return err
}
