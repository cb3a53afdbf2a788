package cmd

import (
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

	"missingscore/cmd/report"
	"missingscore/cmd/words"
	"missingscore/data"
	"missingscore/data/moments"
	"missingscore/data/network"
	"missingscore/data/survey"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/atomicfile"
	"missingscore/internal/memory"
	"missingscore/internal/printable"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/trainers"
	"missingscore/trainers/descent"
	"missingscore/trainers/evaluate"
	"missingscore/trainers/fitted"
	"missingscore/trainers/inference"
	"missingscore/trainers/penalty"
	"missingscore/trainers/rows"
)

// fitCommand is the fit command: its flags, and what its phases make.
type fitCommand struct {
	trainingFlags
	modelOptions, objectiveOptions string
	validation, average            float64
	out, history, truthFile        string
	saved                          string // the state's file; empty: none is kept
	inference                      string
	penalty, lambda                string
	stream, held                   bool          // --stream; the command needs the table itself, too
	rows                           *data.RowFile // that mini-batches come from; nil where the table is held

	table    *data.Table
	prepared *trainers.Prepared
	result   *trainers.Result
}

// fitHelp is what the fit command says of itself, before the methods.
const fitHelp = `Estimate the parameters of a model from a table with missing cells by score
matching. A loss without noise (exact, full, zeroed) is minimised, by L-BFGS over all
rows. One with draws in it is gone down by Adam on mini-batches, the paper's parameter
estimation; models that overfit (mixture, energy, score-network) then stop by the loss
of a tenth of the rows, held out, and are those of their best epoch; a network's parameters
are a running mean in which the last tenth of the steps has two thirds of the weight. A gaussian is fitted to a file of moments
in place of a table, too (missingscore moments).

  gaussian  mean and precision P = LLᵀ; columns are standardised meanwhile
  quartic   log q = Σ θ_ij x_i² x_j², kept integrable by −θ = LLᵀ; columns are scaled
            but not shifted meanwhile. It overfits: a penalty (below) brings it nearer to
            the truth; without one, with 1000 rows, 5 to 15 passes of Adam are best, the
            fewer the more columns (--optimiser adam --epochs)
  mixture   normals with full covariances, also for columns of categories: by EM of the
            likelihood; held-out rows choose the number of components, or --model-options
            '{"components":3}'. Settings of score matching (--method, --objective, bounds …)
            lead to diagonal covariances
  energy    a neural network, log q = f(x) − ½ Σ κ_j (x_j − c_j)²; columns are standardised;
            --model-options '{"hidden":[64,64],"activation":"softplus"}' (or silu, the
            default for denoising, tanh)
  score-network  MissDiff's network: a score without a density, for zeroed and full

Objectives (--objective, --objective-options):

  auto       classical, or truncated where a support is given
  sliced     on random directions: '{"directions":"rademacher","number":1,"variance_reduced":false}'
             (or normal, basis); fast for networks with many columns
  denoising  on rows with noise added: '{"noise":{"kind":"exploding","least":0.01,"most":10,
             "levels":0},"weight":"variance"}' (or preserving; fixed with one level), lengths in
             standard deviations. Networks learn all levels (levels 0) or a ladder of them,
             for "missingscore sample"; other models one level, fixed, and are then models
             of the rows with that noise

With --lower, --upper or --domain the model is restricted to that support: the
objective is weighted by g, and imputed cells stay inside. With --missingness the
chance that a cell is missing may depend on the row, itself included, or cells beyond
a threshold are missing; what is in the file must be known. It writes the model, in
the table's units, and its history beside it (history.csv of model.json, a.history.csv
of a.json): a line for each iteration, or pass over the table.

With --penalty l1 or ridge λ Σ Ω(θ_jk) over pairs of columns is added to the loss of
gaussian (their precision) or quartic; --lambda is a number, in the units of the scaled
columns, or cv: that of 15 with the least loss of rows held out, each fold in its turn.
A loss without noise is then minimised by proximal gradient steps, one with draws by
proximal Adam. It takes many fits: with 5 folds and 15 λ about fifty times as long.

With --inference robust every parameter of gaussian, quartic and mixture has a standard
error and an interval, on the screen and in the model's file, for methods without draws
and with weighted or exact ones (exact, em-exact, full, iw, em, em-full, variw, em-variw).

Methods:
`

func newFitCommand() *cobra.Command { return new(fitCommand).command() }

func (f *fitCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fit TABLE.csv",
		Short: "Estimate a model's parameters from a table with missing cells",
		Long:  fitHelp + methodList(),
		Example: `  missingscore simulate normal --d 5 --n 500 --missing 0.2 --truncate box --out trunc
  missingscore fit trunc/data.csv --model gaussian --method exact --domain trunc/domain.json --truth trunc/truth.json --out trunc/model.json`,
		Args: exactArgs(1, "one table"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	f.trainingFlags.add(cmd)
	m, o, steps, c := &f.spec.Model, &f.spec.Objective, &f.spec.Steps, &f.spec.Descent
	fl := cmd.Flags()
	fl.StringVar(&m.Kind, "model", trainers.DefaultModel, strings.Join(slices.Sorted(maps.Keys(model.Models)), ", "))
	fl.StringVar(&f.modelOptions, "model-options", "", "options of the model as JSON, see above")
	fl.StringVar(&steps.Method, "method", "auto", "auto (gaussian: em-exact, for denoising and with thresholds exact; score-network: zeroed; quartic, mixture: em-full, others: em-var, of two columns em-variw, for denoising iw; with logistic --missingness: variw; full if nothing is missing) or one of the methods above")
	fl.StringVar(&o.Kind, "objective", "auto", "auto or "+strings.Join(slices.Sorted(maps.Keys(losses.Objectives)), ", "))
	fl.StringVar(&f.objectiveOptions, "objective-options", "", "options of the objective as JSON, see above")
	fl.StringVar(&f.out, "out", "model.json", "file for the model, or a folder for model.json")
	fl.StringVar(&f.history, "history", "", "file for the history (default: history.csv beside model.json, a.history.csv beside a.json)")
	fl.StringVar(&f.truthFile, "truth", "", "true model as JSON (adds Fisher divergence and errors to the history) or precision as CSV (adds its error)")
	fl.BoolVar(&f.spec.KeepUnits, "keep-units", false, "do not standardise the columns meanwhile")
	fl.StringVar(&c.Optimiser, "optimiser", "auto", "auto, or "+strings.Join(descent.Names(), ", ")+": what finds the parameters (auto: em for em-exact, lbfgs where the loss has no noise and the model does not overfit: not for mixture, energy, score-network)")
	fl.IntVar(&c.Iterations, "iterations", 0, "EM iterations, or iterations of lbfgs, at most (default: 10000)")
	fl.Float64Var(&c.Tolerance, "tolerance", 0, "what ends em (the largest movement of an EM iteration) and lbfgs (the relative gradient) (default: 1e-9, with --dtype float32 1e-4)")
	fl.Float64Var(&f.validation, "validation", 0, "share of the rows held out, which adam stops by and chooses its best epoch by; 0: none (default: mixture, energy and score-network 0.1, if the table has 100 rows; others 0)")
	fl.StringVar(&f.penalty, "penalty", penalty.None, "added to the loss of gaussian and quartic, to shrink what ties columns together: "+penalty.Forms())
	fl.StringVar(&f.lambda, "lambda", "cv", "of the penalty: a number, cv or cv=FOLDS (the one with the least loss of rows held out; 5 folds)")
	fl.IntVar(&c.Patience, "patience", 0, "epochs without a lower loss of held-out rows that end adam (default: 30, of networks so many that they are 500 steps)")
	fl.Float64Var(&f.average, "average", 0, "the fit is a running mean of adam's parameters in which this share of the steps, the last ones, has two thirds of the weight; 0: none (default: energy and score-network 0.1, others 0)")
	fl.IntVar(&c.Epochs, "epochs", 0, "adam's passes over the table, at most (default: 200; quartic: 25, or what makes 250 steps; energy and score-network: what makes 6000 steps, at most 300; 200 for denoising)")
	fl.Float64Var(&c.Rate, "rate", 0, "Adam's rate for the model (default: 0.01; energy and score-network: 0.003)")
	fl.IntVar(&steps.Batch, "batch", 100, "rows in a batch of adam")
	fl.IntVar(&f.warmUp, "warm-up", 500, "imputer steps before the first parameter step")
	f.addInference(cmd)
	f.tableFlags.addWeights(cmd)
	fl.BoolVar(&f.stream, "stream", false, "take mini-batches straight from the file, whose rows are not held: blocks of it in random order, by adam (default: where the table does not fit into memory and the fit is by adam)")
	fl.IntVar(&steps.Workers, "workers", runtime.NumCPU(), "parallel parts of a step; results do not depend on it")
	fl.Float64Var(&steps.ImputerRate, "imputer-rate", 0, "Adam's rate for the imputer (default: 0.001; quartic: 0.003)")
	return cmd
}

// paths fills in where model, history and state go; beside a device or a pipe goes nothing.
func (f *fitCommand) paths(cmd *cobra.Command) error {
	info, err := os.Stat(f.out)
	if strings.HasSuffix(f.out, "/") || err == nil && info.IsDir() {
		f.out = filepath.Join(f.out, "model.json")
	}
	named := "history" // the flag that names its file
	if f.history == "" {
		named = "out"
		name := "history.csv"
		if base := filepath.Base(f.out); base != "model.json" { // a folder may hold several models
			name = strings.TrimSuffix(base, ".json") + ".history.csv"
		}
		f.history = siblingOf(f.out, name)
	}
	f.saved = siblingOf(f.out, filepath.Base(f.out)+".state")
	if f.resume && f.saved == "" {
		return usageError{fmt.Errorf("--resume: no state is kept beside %s: leave it out, or choose a file as --out", f.out)}
	}
	return distinctFiles(cmd, output{"out", f.out}, output{named, f.history}, output{"out", f.saved}, output{"out", siblingOf(f.out, report.EstimatedLaw)})
}

func (f *fitCommand) run(cmd *cobra.Command, file string) error {
	start := time.Now()
	if err := f.options(cmd); err != nil {
		return err
	}
	if err := phases(cmd, func() error { return f.load(cmd, file) }, func() []string { return []string{f.out, f.history} },
		func() error { return f.estimate(cmd, file) }, func() error { return f.write(cmd, file) }); err != nil {
		return err
	}
	return f.tell(cmd, time.Since(start))
}

func (f *fitCommand) options(cmd *cobra.Command) error {
	if err := nonZero(cmd, "g-cap", "epochs", "rate", "patience", "iterations", "tolerance", "batch", "workers", "draws", "imputer-steps", "imputer-rate", "proposal-sd", "level"); err != nil {
		return err
	}
	if f.warmUp < 0 {
		return usageError{fmt.Errorf("--warm-up %d: it must not be negative", f.warmUp)}
	}
	if err := f.settings.read(cmd, &f.spec); err != nil {
		return err
	}
	if f.settings.says(cmd, "warm-up") {
		f.spec.Steps.WarmUp = &f.warmUp
	}
	if cmd.Flags().Changed("validation") {
		f.spec.Descent.Validation = &f.validation
	}
	if cmd.Flags().Changed("average") {
		f.spec.Descent.Average = &f.average
	}
	if f.settings.says(cmd, "model-options") {
		f.spec.Model.Options = json.RawMessage(f.modelOptions)
	}
	if f.settings.says(cmd, "objective-options") {
		f.spec.Objective.Options = json.RawMessage(f.objectiveOptions)
	}
	f.tableFlags.levels = f.spec.Model.Kind == trainers.MixtureModel
	if err := f.parse(cmd); err != nil {
		return asUsage(cmd, err)
	}
	if err := f.parseInference(cmd); err != nil {
		return asUsage(cmd, err)
	}
	if err := f.parsePenalty(cmd); err != nil {
		return asUsage(cmd, err)
	}
	return f.paths(cmd)
}

func (f *fitCommand) load(cmd *cobra.Command, file string) (err error) {
	var full *memory.Error // it is then streamed unasked
	if f.stream {
		err = f.loadFile(cmd, file, nil)
	} else if err = f.loadTable(cmd, file); errors.As(err, &full) && !f.held && !cmd.Flags().Changed("stream") {
		f.table, f.prepared = nil, nil
		err = f.loadFile(cmd, file, err)
	}
	if err != nil {
		return err
	}
	if d := f.prepared.Spec.Descent; d.Epochs == 0 && cmd.Flags().Changed("batch") {
		return usageError{fmt.Errorf("--batch: the loss of method %s has no noise here and is minimised over all rows at once, by %s; leave it out, or choose --optimiser adam", f.prepared.Estimator.Name, d.Optimiser)}
	}
	if f.prepared.Spec.Truth, err = readTruth(cmd.Context(), f.truthFile, f.table.Names); err != nil {
		return err
	}
	for _, out := range []string{f.out, f.history} {
		if err := ensureDirOf(out); err != nil {
			return err
		}
	}
	return nil
}

func (f *fitCommand) loadTable(cmd *cobra.Command, file string) (err error) {
	if f.table, err = f.readRows(cmd, file); err != nil {
		return err
	}
	t, steps := f.table, f.spec.Steps
	if err := checkSize(size{min(steps.Batch, t.N), "rows in a batch"}, size{t.D, "columns"}, size{steps.Draws, "draws (--draws)"}); err != nil {
		return err
	}
	f.prepared, err = f.prepare(cmd, t, file)
	return err
}

// estimate runs the fit, or goes on with one that was cut.
func (f *fitCommand) estimate(cmd *cobra.Command, file string) (err error) {
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

// write writes the model and its history, the model last.
func (f *fitCommand) write(cmd *cobra.Command, file string) error {
	text, err := f.result.Encode()
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	var set atomicfile.Set
	defer set.Discard()
	if f.history != "" {
		if err := set.Write(f.history, func(w io.Writer) error { return descent.WriteHistory(w, f.result.History) }); err != nil {
			return err
		}
	}
	if err := f.known.write(&set, siblingOf(f.out, report.EstimatedLaw), f.result); err != nil {
		return err
	}
	if err := set.Write(f.out, func(w io.Writer) error { _, err := words.Writer{W: w}.Write(text); return err }); err != nil {
		return err
	}
	if err := set.Commit(); err != nil {
		return err
	}
	if f.saved == "" {
		return nil
	}
	return atomicfile.Remove(f.saved)
}

func (f *fitCommand) tell(cmd *cobra.Command, took time.Duration) (err error) {
	r := f.result
	if f.json {
		out := map[string]any{"model": r.Model.Kind, "method": r.Spec.Steps.Method, "converged": r.Converged, "verdict": r.Verdict, "loss": r.Loss,
			"assumption": r.Assumption, "missing_at_random": testedColumns(r.MissingAtRandom),
			"left_out": leftOutJSON(f.table), "seconds": took.Seconds(), "blas": f.blas, "out": f.out, "history": f.history, "warnings": append([]string{}, r.Warnings...)}
		for _, e := range r.Final.Errors {
			out[e.Name] = e.Value
		}
		if r.Penalty != nil {
			out["penalty"] = r.Penalty
		}
		if u := r.Model.Uncertainty; u != nil {
			out["inference"] = u
		}
		err = printJSON(cmd.OutOrStdout(), out)
	} else {
		err = f.summary(cmd.OutOrStdout(), r)
	}
	f.warn(r.Warnings, cmd.ErrOrStderr())
	if !f.json && err == nil {
		places := "model: " + f.out
		if f.history != "" {
			places += ", history: " + f.history
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), places)
	}
	if err == nil && !r.Converged {
		err = unconverged{r.Verdict}
	}
	return err
}

// readTruth reads a model, or a precision, of which only the error is measured.
func readTruth(ctx context.Context, path string, names []string) (*evaluate.Truth, error) {
	if path == "" {
		return nil, nil
	}
	if !strings.HasSuffix(path, ".json") {
		p, err := network.ReadPrecision(path, names)
		if err != nil {
			return nil, fmt.Errorf("--truth: %w", err)
		}
		m := model.NewGaussian(len(names), model.FreeSymmetric)
		return &evaluate.Truth{Model: m, Unknown: []string{"mean"}}, m.SetPrecision(p)
	}
	m, err := fitted.Load(path)
	if err != nil {
		return nil, fmt.Errorf("--truth: %w", err)
	}
	if m.Transform != nil {
		return nil, fmt.Errorf("--truth: %s is a model of transformed columns (%s), and a fit is compared with one of the columns that it models: leave --truth out, or give a precision of the transformed columns as CSV", path, m.Transform.Describe(m.Names))
	}
	if strings.Join(m.Names, ",") != strings.Join(names, ",") {
		return nil, fmt.Errorf("--truth: %s has the columns %s, the table %s", path, strings.Join(m.Names, ", "), strings.Join(names, ", "))
	}
	if _, normal := model.AsNormal(m.Model); normal && m.Domain == nil {
		return &evaluate.Truth{Model: m.Model}, nil // the divergence is known exactly
	}
	sample, chains, err := m.Sample(ctx, 10000, stream.New(1, stream.Simulate, 1))
	if err != nil {
		return nil, fmt.Errorf("--truth: %s: %w", path, err)
	}
	if chains != nil && !(chains.WorstRHat() <= fitted.MaxRHat) {
		return nil, fmt.Errorf("--truth: %s: its Markov chains do not meet (R-hat %.3f), so the Fisher divergence over draws of it would be wrong; compare with a precision as CSV, or leave --truth out", path, chains.WorstRHat())
	}
	return &evaluate.Truth{Model: m.InUnits(), Sample: sample.Values}, nil
}

func (f *fitCommand) summary(w io.Writer, r *trainers.Result) error {
	final := r.Final
	effort := fmt.Sprintf("%d iterations", final.Iteration)
	if passes := r.History[len(r.History)-1].Epoch; passes > 0 { // of which that of final may be an earlier one
		effort = fmt.Sprintf("%d passes", passes)
	}
	verdict := strings.ToUpper(r.Verdict[:1]) + r.Verdict[1:]
	if !r.Converged { // why is the last line
		verdict, _, _ = strings.Cut(verdict, ":")
	}
	fmt.Fprintf(w, "%s\n%s model by %s, %s\n", verdict, r.Model.Kind, r.Estimator.Title, effort)
	if r.Penalty != nil {
		fmt.Fprintln(w, r.Penalty)
	}
	if noise := r.Model.Noise; noise != nil && noise.Single() {
		fmt.Fprintf(w, "the model is that of rows with noise of %g standard deviations added, not of the table's\n", noise.Least)
	}
	fmt.Fprintf(w, "loss %.5g", final.Loss)
	_, alike := r.Estimator.Weighting.(losses.Uniform)
	switch {
	case math.IsNaN(final.EffectiveSize) || !r.Estimator.Draws():
	case alike:
		fmt.Fprintf(w, ", %d draws a row, not weighted", r.Spec.Steps.Draws)
	default:
		fmt.Fprintf(w, ", effective sample size %.1f of %d draws", final.EffectiveSize, r.Spec.Steps.Draws)
	}
	fmt.Fprintln(w)
	for _, v := range final.Errors {
		fmt.Fprintf(w, "  %s %.4g\n", strings.ReplaceAll(v.Name, "_", " "), v.Value)
	}
	if functions := r.Model.Transform; functions != nil {
		fmt.Fprintf(w, "of the columns after %s:\n", functions.Describe(r.Model.Names))
	}
	writeQuantities(w, r.Model)
	writeUncertainty(w, r.Model.Uncertainty)
	return nil
}

const shownQuantities = 6 // rows of a matrix on the screen, and half as many of its columns

// writeQuantities shows small quantities of a model and counts the others.
func writeQuantities(w io.Writer, saved *fitted.Saved) {
	m, names := saved.Model, saved.Names
	if mixed, ok := m.(*model.Mixed); ok {
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

// writeComponents shows what each component of a mixture with levels holds: means and deviations of
// numbers, shares of levels.
func writeComponents(w io.Writer, m *model.Mixed, names []string, levels [][]string) {
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
		if m.Levels(j) == 0 {
			line(name, func(k int) string { return fmt.Sprintf("%.4g ± %.3g", m.Means[k][at], m.Deviation(k, j)) })
			continue
		}
		for c, level := range levels[j] {
			line(name+" = "+level, func(k int) string { return fmt.Sprintf("%.3f", m.Shares[k][at+c]) })
		}
	}
	_ = out.Flush() // to the terminal
	if more := len(m.Weights) - shown; more > 0 || lines > shownLines {
		fmt.Fprintf(w, "and more, in the file: %d components in all\n", len(m.Weights))
	}
}

func (f *fitCommand) addInference(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.inference, "inference", inference.None, "how far each parameter may be from the truth: none, robust (standard errors by the rows, the sandwich, with draws held fixed; of gaussian, quartic, mixture)")
	fl.Float64Var(&f.spec.Inference.Level, "level", inference.DefaultLevel, "level of the intervals of --inference")
}

func (f *fitCommand) parseInference(cmd *cobra.Command) (err error) {
	if f.settings.says(cmd, "inference") {
		level := f.spec.Inference.Level
		if f.spec.Inference, err = inference.Parse(f.inference); err != nil {
			return err
		}
		f.spec.Inference.Level = level
	}
	switch {
	case f.spec.Inference.Asked():
		return nil
	case f.spec.Inference.Kind == inference.Auto:
		return usageError{errors.New("--inference auto is of networks: take robust, or none")}
	case cmd.Flags().Changed("level"):
		return usageError{errors.New("--level is of the intervals of --inference robust: add that, or leave --level out")}
	}
	f.spec.Inference = inference.Config{} // a fit that nobody asks more of
	return nil
}

const shownParameters = 60 // with standard errors on the screen

// writeUncertainty shows parameters with standard errors and intervals, and counts the others.
func writeUncertainty(w io.Writer, u *fitted.Uncertainty) {
	if u == nil {
		return
	}
	fmt.Fprintf(w, "estimates with standard errors and %g %% intervals; %s:\n", 100*u.Level, u.Rests)
	wide := 0
	shown := u.Parameters[:min(len(u.Parameters), shownParameters)]
	for _, p := range shown {
		wide = max(wide, len([]rune(p.Name)))
	}
	for _, p := range shown {
		fmt.Fprintf(w, "  %-*s %10.4g  %9.3g", wide, p.Name, p.Estimate, p.SE)
		if !math.IsNaN(p.Low) && !math.IsNaN(p.High) {
			fmt.Fprintf(w, "  [%.4g, %.4g]", p.Low, p.High)
		}
		fmt.Fprintln(w)
	}
	if more := len(u.Parameters) - len(shown); more > 0 {
		fmt.Fprintf(w, "  and %d more, in the file\n", more)
	}
}

func (f *fitCommand) parsePenalty(cmd *cobra.Command) error {
	c := &f.spec.Descent.Penalty
	if f.settings.says(cmd, "penalty") {
		*c = penalty.Config{}
		if f.penalty != penalty.None {
			c.Kind = f.penalty
		}
	}
	if c.Kind != "" && c.Kind != penalty.None {
		if _, err := penalty.ByName(c.Kind); err != nil || !f.settings.says(cmd, "lambda") {
			return err
		}
		return c.ParseLambda(f.lambda)
	}
	if cmd.Flags().Changed("lambda") {
		return usageError{errors.New("--lambda is of a penalty, and there is none: name one (--penalty), or leave it out")}
	}
	return nil
}

// loadFile opens the table's file and prepares the estimate from its rows. full is why it is not
// held, nil where it is asked for.
func (f *fitCommand) loadFile(cmd *cobra.Command, path string, full error) error {
	o, err := f.streamOptions(cmd, path)
	if err == nil {
		if f.rows, err = data.OpenRows(path, o, 0); err == nil {
			err = f.prepareFile(cmd, path)
		}
	}
	if full == nil {
		return err
	}
	var wrong *trainers.SettingError
	var sequential *data.SequentialError
	var usage usageError
	switch {
	case errors.As(err, &usage), errors.As(err, &sequential), errors.As(err, &wrong) && wrong.Field == "stream":
		return full
	case err != nil:
		return err
	case !f.prepared.ByBatches():
		return fmt.Errorf("%w; of a normal model missingscore moments takes what method %s needs, in one pass that holds no row, and --stream goes down its loss by adam", full, f.prepared.Estimator.Name)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%v\n%s: its rows are taken straight from the file instead (--stream)\n", full, path)
	return nil
}

// streamOptions are those of the table's file. Flags that need its rows are refused.
func (f *fitCommand) streamOptions(cmd *cobra.Command, path string) (data.ReadOptions, error) {
	for _, name := range []string{"hide", "prices", "weights"} {
		if flag := cmd.Flags().Lookup(name); flag != nil && flag.Changed {
			return data.ReadOptions{}, usageError{fmt.Errorf("--stream: --%s needs all rows of the table; leave one of the two out", name)}
		}
	}
	if f.known.file == estimateLaw {
		return data.ReadOptions{}, usageError{errors.New("--stream: --missingness estimate goes by all rows of the table: estimate the law from a part of them, and give its file (--missingness FILE)")}
	}
	if moments.Is(path) {
		return data.ReadOptions{}, usageError{fmt.Errorf("--stream: %s holds moments, which have no rows: leave it out", path)}
	}
	return f.tableFlags.options()
}

// prepareFile prepares the estimate from the rows of an open file.
func (f *fitCommand) prepareFile(cmd *cobra.Command, path string) (err error) {
	if f.tableFlags.levels && slices.ContainsFunc(f.rows.LeftOut, func(c data.Column) bool { return c.Kind == data.Nominal }) {
		return usageError{errors.New("--stream: a mixture of tables with nominal columns is fitted to all rows at once: leave it out, or leave these columns out (--exclude)")}
	}
	tellLeftOut(cmd.ErrOrStderr(), f.rows.LeftOut)
	names := &data.Table{Names: f.rows.Names, D: len(f.rows.Names)}
	f.prepared, err = f.prepareBy(cmd, names, path, func(s trainers.Spec) (*trainers.Prepared, error) {
		return trainers.PrepareFile(cmd.Context(), f.rows, s, survey.Options{Workers: f.spec.Steps.Workers, Progress: newReading(cmd.ErrOrStderr()).observe})
	})
	if err == nil {
		f.table = f.prepared.Table
		holds := heldBytes(len(f.table.Values)+2*rows.WindowBlocks*f.rows.BlockRows*f.table.D, f.table.D)
		if f.spec.Steps.DType == graph.Float32 {
			holds += rows.SingleBytes * float64(f.table.RowCount()*f.table.D)
		}
		memory.Held(holds)
	}
	return err
}
