package cmd

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/mcar"
	"missingscore/data/network"
	"missingscore/internal/atomicfile"
	"missingscore/internal/report"
	"missingscore/internal/setting"
	"missingscore/losses"
	"missingscore/trainers"
	"missingscore/trainers/estimator"
	"missingscore/trainers/regpath"
)

// networkCommand is the network command: its flags, and what its phases make.
type networkCommand struct {
	networkFlags
	out, truthFile string
	path           string // how far it goes
	groupsFile     string
	labels         labelFlag
	resampling     resamplingFlags

	table    *data.Table
	truth    *mat.SymDense // nil if none is known
	prepared *trainers.Prepared
	leftOut  []string // why columns are
	result   *trainers.Result
	rates    []network.Rate    // against the truth
	groups   map[string]string // of columns, for pictures; nil without --groups
}

// The values of --path.
const (
	pathNeeded = "needed"
	pathFull   = "full"
)

const stateFile = "state.bin"

func newNetworkCommand() *cobra.Command {
	var f networkCommand
	cmd := &cobra.Command{
		Use:   "network TABLE.csv",
		Short: "Estimate a Gaussian graphical model from a table with missing cells",
		Long: `Estimate a Gaussian graphical model (a network of partial correlations) from a
table with missing cells: an L1 path by score matching, one λ chosen from it,
then iterations at that λ, or without a penalty on its edges, until the precision
stops changing. Columns are
standardised over their observed cells; results are in the table's own units. In place of
a table it takes a file of moments (missingscore moments).

With --lower, --upper or --domain the columns are a normal distribution restricted
to that support: the objective is weighted by g, imputed cells stay inside, and
the mean is estimated along with the precision; so it is with --missingness, which
says what is known of cells missing not at random.

It writes to --out: edges.csv, centrality.csv, columns.csv, precision.csv, path.csv,
model.json, network.graphml, network.dot, network.json, network.svg/png,
path.svg/png, report.html.

Methods:
` + methodList(),
		Example: `  missingscore network examples/airquality.csv --columns Ozone,Solar.R,Wind,Temp --method var --out air`,
		Args:    exactArgs(1, "one table"),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	f.trainingFlags.add(cmd)
	f.tableFlags.addWeights(cmd)
	f.addPath(cmd, regpath.UsualPenalty())
	f.addInference(cmd, "adds columns to edges.csv, and pairs.csv", "of --inference")
	fl := cmd.Flags()
	fl.StringVar(&f.out, "out", "network", "folder for the results")
	fl.StringVar(&f.tableFlags.prices, "prices", "", "read a long table of prices with these columns (date,name,price) and use daily log returns")
	fl.StringVar(&f.path, "path", pathNeeded, "how far the path goes: needed (as far as the choice of λ looks) or full (to the smallest λ; so with --truth)")
	f.resampling.add(cmd, &f.spec.Inference)
	fl.StringSliceVar(&f.config.Covariates, "covariates", nil, "columns to hold constant, as a,b,c: partial correlations of the others are given them, and they are no nodes of the network")
	fl.StringVar(&f.groupsFile, "groups", "", "CSV with the columns name and group: what belongs together has one colour in the pictures (default: modules that are found)")
	f.labels.add(cmd)
	fl.StringVar(&f.truthFile, "truth", "", "CSV with the true precision: adds TPR, FPR and AUC")
	return cmd
}

func methodList() string {
	var b strings.Builder
	for _, e := range estimator.All {
		fmt.Fprintf(&b, "  %-11s %s\n", e.Name, e.Note)
	}
	return b.String()
}

// run takes the command through its phases.
func (f *networkCommand) run(cmd *cobra.Command, file string) error {
	start := time.Now()
	if err := f.options(cmd); err != nil {
		return err
	}
	if err := abandonable(cmd.Context(), func() error { return f.load(cmd, file) }); err != nil {
		return asUsage(cmd, err)
	}
	release, err := lock(f.resampling.locked(f.out))
	if err != nil {
		return err
	}
	defer release()
	if err := f.estimate(cmd, file); err != nil {
		return asUsage(cmd, err)
	}
	if f.resampling.shard.N > 0 {
		return f.tellShard(cmd)
	}
	if err := f.write(cmd, file); err != nil {
		return err
	}
	return f.tell(cmd, time.Since(start))
}

// options turns the flags into a Spec.
func (f *networkCommand) options(cmd *cobra.Command) error {
	if err := f.parseNetwork(cmd); err != nil {
		return err
	}
	if err := f.resampling.parse(cmd, f.spec.Inference, f.resume); err != nil {
		return err
	}
	if !f.spec.Inference.Asked() && cmd.Flags().Changed("level") {
		return usageError{errors.New("--level is of --inference, which is none; leave it out, or ask for model, robust or bootstrap=N")}
	}
	f.config.Covariates = trimmed(f.config.Covariates)
	if err := setting.OneOf("path", f.path, pathNeeded, pathFull); err != nil {
		return asUsage(cmd, err)
	}
	f.config.Whole = f.path == pathFull || f.truthFile != "" // whose AUC is of a whole path
	for _, name := range f.config.Covariates {
		if of := &f.tableFlags.columns; *of != nil && !slices.Contains(trimmed(*of), name) {
			*of = append(*of, name)
		}
	}
	return distinctFiles(cmd, inFolder(f.out, append(report.NetworkFiles, f.resampling.file())...)...)
}

// load reads table and truth and prepares the estimate.
func (f *networkCommand) load(cmd *cobra.Command, file string) (err error) {
	if f.table, err = f.readRows(cmd, file); err != nil {
		return err
	}
	t, c := f.table, f.config
	if t.D < 2 {
		return fmt.Errorf("%s: one column (%s) makes no network; at least two are needed", file, t.Names[0])
	}
	if err := checkSize(size{t.N, "rows"}, size{t.D, "columns"}, size{f.spec.Steps.Draws, "draws (--draws)"}); err != nil {
		return err
	}
	if e, err := estimator.ByName(f.spec.Steps.Method); err != nil || !e.OfMatrix() { // of that the path is kept without zeros
		if err := checkSize(size{c.Lambdas, "λ (--lambdas)"}, size{t.D, "columns"}, size{t.D, "columns"}); err != nil {
			return err
		}
	}
	if f.prepared, err = f.prepare(cmd, t, file); err != nil {
		return err
	}
	if err := f.labels.read(t.Names); err != nil {
		return err
	}
	if t, err = f.independent(cmd, file); err != nil {
		return err
	}
	c = f.config
	nodes := slices.DeleteFunc(slices.Clone(t.Names), func(name string) bool { return slices.Contains(c.Covariates, name) })
	if f.truthFile != "" {
		if f.truth, err = network.ReadPrecision(f.truthFile, nodes); err != nil {
			return fmt.Errorf("--truth: %w", err)
		}
	}
	if f.groupsFile != "" {
		if f.groups, err = readGroupsOfColumns(f.groupsFile, nodes); err != nil {
			return fmt.Errorf("--groups: %w", err)
		}
	}
	return ensureDir(f.out)
}

// independent prepares the table without columns that others determine but for rounding, and gives it.
// From rows that stand for moments no column can be taken: there the result is not reliable.
func (f *networkCommand) independent(cmd *cobra.Command, file string) (*data.Table, error) {
	for {
		kept, why, err := leaveOut(f.prepared, f.table.Names)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if kept == nil || f.table.Counted != nil {
			return f.table, nil
		}
		f.leftOut = append(f.leftOut, why...)
		if f.table, err = f.table.Select(kept); err != nil {
			return nil, err
		}
		f.config.Covariates = slices.DeleteFunc(f.config.Covariates, func(name string) bool { return !slices.Contains(kept, name) })
		if f.prepared, err = f.prepare(cmd, f.table, file); err != nil {
			return nil, fmt.Errorf("%w (%s)", err, strings.Join(why, "; "))
		}
	}
}

// estimate runs the estimate, or goes on with one that was cut.
func (f *networkCommand) estimate(cmd *cobra.Command, file string) (err error) {
	stderr := cmd.ErrOrStderr()
	if err := f.announce(stderr, file, f.table); err != nil {
		return err
	}
	if f.prepared.Domain != nil {
		fmt.Fprintln(stderr, "the normal distribution is restricted to its support: precision and mean are those before the restriction, the objective is weighted by the distance to the boundary")
	}
	if f.shard = f.resampling.shard; f.resampling.merge != nil {
		if f.from, err = f.resampling.joined(f.spec.Inference); err != nil {
			return err
		}
	}
	f.inPlace = true
	f.result, err = f.fit(cmd, f.prepared, file, filepath.Join(f.out, f.resampling.file()),
		"no result is written. Try another --method, a larger --lambda-min, or look for outliers in the table")
	if err != nil {
		return err
	}
	f.result.Network.Network.Labels = f.labels.of
	if f.leftOut != nil {
		noteLeftOut(f.result, f.leftOut)
	}
	if f.truth == nil {
		return nil
	}
	if f.rates, err = f.result.Network.Rates(network.Threshold(f.truth, 1e-12)); err != nil {
		return fmt.Errorf("--truth: %w", err)
	}
	return nil
}

// write writes every file of the result.
func (f *networkCommand) write(cmd *cobra.Command, file string) error {
	from := report.Source{Table: file, Command: commandLine(cmd), Groups: f.groups}
	var set atomicfile.Set
	defer set.Discard()
	if err := f.known.write(&set, filepath.Join(f.out, report.EstimatedLaw), f.result); err != nil {
		return err
	}
	if err := report.WriteNetwork(&set, f.out, from, f.table, f.result, f.rates); err != nil {
		return err
	}
	if err := set.Commit(); err != nil {
		return err
	}
	return f.finish(filepath.Join(f.out, f.resampling.file()), f.result.Warnings, cmd.ErrOrStderr())
}

// tell says on stdout what came out.
func (f *networkCommand) tell(cmd *cobra.Command, took time.Duration) (err error) {
	r := f.result
	var auc *float64
	if f.rates != nil {
		auc = new(network.AUC(f.rates))
	}
	if f.json {
		warnings := append([]string{}, r.Warnings...) // [] rather than null
		out := networkJSON{
			Method: r.Spec.Steps.Method, Penalty: r.Network.Penalty, Edges: len(r.Network.Edges()), Lambda: r.Network.Lambda, Converged: r.Converged,
			Verdict: r.Verdict, Choice: r.Network.Choice, Moments: r.Network.Moments, Assumption: r.Assumption, MissingAtRandom: testedColumns(r.MissingAtRandom), Loss: r.Loss, Seconds: took.Seconds(), AUC: auc, Warnings: warnings, BLAS: f.blas,
			Inference: uncertainty(r),
		}
		if n := r.Network; n.Stability != nil {
			out.Stability = n.Stability.Coefficient
		}
		err = printJSON(cmd.OutOrStdout(), out)
	} else {
		err = f.summary(cmd.OutOrStdout(), r, auc)
	}
	if err == nil && !r.Converged {
		err = unconverged{r.Verdict}
	}
	return err
}

// networkJSON is what --json prints.
type networkJSON struct {
	Method    string          `json:"method"`
	Edges     int             `json:"edges"`
	Lambda    float64         `json:"lambda"`
	Converged bool            `json:"converged"`
	Verdict   string          `json:"verdict"`
	Choice    string          `json:"choice,omitempty"`
	Moments   string          `json:"moments,omitempty"`
	Penalty   regpath.Penalty `json:"penalty"`

	Assumption      losses.Assumption `json:"assumption"`
	MissingAtRandom []mcar.Column     `json:"missing_at_random"`

	Inference *inferenceJSON     `json:"inference,omitempty"`
	Stability map[string]float64 `json:"correlation_stability,omitempty"`

	Loss     float64  `json:"loss"`
	Seconds  float64  `json:"seconds"`
	AUC      *float64 `json:"auc,omitempty"`
	Warnings []string `json:"warnings"`
	BLAS     string   `json:"blas"`
}

func (f *networkCommand) summary(w io.Writer, r *trainers.Result, auc *float64) error {
	n := r.Network
	pairs := len(n.Names) * (len(n.Names) - 1) / 2
	at := fmt.Sprintf(" at λ = %.4g", n.Lambda)
	if n.Choice != "" { // edges of no single λ
		at = ""
	}
	fmt.Fprintf(w, "%s: %d of %d edges%s\n%s\n", r.Estimator.Title, len(n.Edges()), pairs, at, r.Verdict)
	if n.Moments != "" {
		fmt.Fprintln(w, n.Moments)
	}
	if n.Choice != "" {
		fmt.Fprintln(w, n.Choice)
	}
	if auc != nil {
		fmt.Fprintf(w, "AUC over the path: %.4f\n", *auc)
	}
	const shown = 10
	for i, edge := range n.Edges() {
		if i == shown {
			fmt.Fprintf(w, "  … and %d more\n", len(n.Edges())-shown)
			break
		}
		fmt.Fprintf(w, "  %s — %s  partial correlation %s\n", edge.From, edge.To, sizeText(edge))
	}
	if n.Inference != nil && n.Inference.Rests != "" {
		fmt.Fprintf(w, "%s\n", n.Inference.Rests)
	}
	if n.Stability != nil {
		fmt.Fprintf(w, "%s\n", n.Stability.Sentence())
	}
	_, err := fmt.Fprintf(w, "results in %s; open %s\n", f.out, filepath.Join(f.out, "report.html"))
	return err
}
