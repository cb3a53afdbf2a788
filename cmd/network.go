package cmd

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"missingscore/cmd/report"
	"missingscore/data"
	"missingscore/internal/atomicfile"
	"missingscore/internal/data/mcar"
	"missingscore/internal/data/network"
	"missingscore/internal/shell"
	"missingscore/internal/trainers/inference"
	"missingscore/trainers"
	"missingscore/trainers/estimator"
)

type networkCommand struct {
	networkFlags
	out, path, truthFile string
	resampling           resamplingFlags

	table    *data.Table
	truth    *mat.SymDense // nil if none is known
	prepared *trainers.Prepared
	result   *trainers.Result
	rates    []network.Rate // against the truth
}

const stateFile = "state.bin"

func newNetworkCommand() *cobra.Command {
	var f networkCommand
	cmd := &cobra.Command{
		Use:   "network TABLE.csv",
		Short: "Estimate a Gaussian graphical model from a table with missing cells",
		Long: `Estimate a Gaussian graphical model, a network of partial correlations:

1. A path of penalised score matching estimates gives a network for each λ.
2. A criterion chooses λ.
3. A refit without the penalty gives partial correlations and confidence intervals.

Columns are standardised during the fit; results have the table's units. A file of
missingscore moments may replace the table.

With a support (--lower, --upper, --domain) the model is a normal distribution restricted to
it: the objective is weighted by the distance g to the boundary, imputed cells stay inside,
and the mean is estimated too. --missingness describes cells that are not missing at random.

--penalty    l1: all pairs alike; adaptive: less for strong pairs of a ridge pilot;
             ridge: pairs ranked by that pilot; auto: l1 or adaptive, by EBIC. Default: auto
             up to 100 columns, else l1; ridge with a support, gaps and em-exact
--select     ebic; cv[=FOLDS]: held-out loss; stars[=BETA]: stability under subsampling;
             stability[=FALSE][@SHARE]: edges in a SHARE of half samples, with at most FALSE
             false edges expected; fdr[=RATE]: false discovery rate, by --inference model or
             robust; density=SHARE: share of pairs; none: the smallest λ
--inference  robust: sandwich standard errors, also for rows that are not normal and, with
             em-exact, cells missing at random; model: standard errors for normal rows with
             cells missing completely at random; bootstrap=N: N resamples of the rows; auto:
             robust up to 100 columns, if there are enough rows

Files in --out: edges.csv, pairs.csv, centrality.csv, columns.csv, precision.csv, path.csv,
layout.csv, model.json, network.graphml, network.dot, network.json, pictures (.svg, .png,
.pdf) and report.html. --groups adds bridge centralities to centrality.csv.

Methods (--method):
  auto        em-exact; em-latent with categories; variw with logistic --missingness, exact
              with thresholds; full without gaps
` + methodList(),
		Example: `  missingscore network examples/airquality.csv --columns Ozone,Solar.R,Wind,Temp --out air`,
		Args:    exactArgs(1, "one table"),
		RunE:    func(cmd *cobra.Command, args []string) error { return climb(cmd, args, &f) },
	}
	f.trainingFlags.add(cmd)
	f.tableFlags.addWeights(cmd)
	f.addPath(cmd, "auto up to 100 columns")
	f.addInference(cmd, inference.Auto)
	fl := cmd.Flags()
	fl.StringVar(&f.out, "out", "network", "`folder` for the results")
	fl.StringVar(&f.path, "path", "", "`full`: estimates down to the smallest λ (default: as far as the choice needs)")
	f.resampling.add(cmd, &f.spec.Inference)
	fl.StringSliceVar(&f.config.Covariates, "covariates", nil, "adjust for columns `a,b,c`; they are not nodes")
	f.pictures.add(cmd, "groups")
	fl.StringVar(&f.truthFile, "truth", "", "CSV `file` with the true precision: report TPR, FPR and AUC")
	return cmd
}

func methodList() string {
	var b strings.Builder
	for _, e := range estimator.All {
		fmt.Fprintf(&b, "  %-11s %s\n", e.Name, e.Note)
	}
	return b.String()
}

func (f *networkCommand) outputs() []string {
	if f.resampling.shard.N > 0 {
		return []string{filepath.Join(f.out, f.resampling.file())}
	}
	return []string{f.out}
}

func (f *networkCommand) states() []string {
	if f.resampling.shard.N > 0 {
		return nil // it is the result
	}
	return []string{filepath.Join(f.out, stateFile)}
}

func (f *networkCommand) options(cmd *cobra.Command, _ []string) error {
	if err := f.parseNetwork(cmd); err != nil {
		return err
	}
	if err := cmp.Or(f.resampling.parse(cmd, f.spec.Inference, f.resume), f.pictures.parse(cmd)); err != nil {
		return err
	}
	f.config.Covariates = trimmed(f.config.Covariates)
	if cmd.Flags().Changed("path") && f.path != "full" {
		return usageError{fmt.Errorf("--path %s: the only value is full; leave it out to end where the choice of λ is settled", f.path)}
	}
	f.config.Whole = f.config.Whole || f.path == "full" || f.truthFile != "" // whose AUC is of a whole path
	for _, name := range f.config.Covariates {
		if of := &f.tableFlags.columns; *of != nil && !slices.Contains(trimmed(*of), name) {
			*of = append(*of, name)
		}
	}
	return distinctFiles(cmd, inFolder(f.out, append(report.NetworkFiles, f.resampling.file())...)...)
}

func (f *networkCommand) load(cmd *cobra.Command, args []string) (err error) {
	file := args[0]
	f.tableFlags.levels = f.takesLevels(cmd)
	if f.table, err = f.readRows(cmd, file); err != nil {
		return err
	}
	t := f.table
	if t.D < 2 {
		return fmt.Errorf("%s: a network needs two columns, but there is one: %s", file, t.Names[0])
	}
	if err := checkSize("%d rows × %d columns × %d draws (--draws)", t.N, t.D, max(1, f.spec.Steps.Draws)); err != nil {
		return err
	}
	if f.prepared, err = f.prepare(t, file); err != nil {
		return err
	}
	if numbers := f.prepared.Original; numbers.D < t.D { // nominal columns have too many levels in all
		tellLeftOut(cmd.ErrOrStderr(), numbers.LeftOut[len(t.LeftOut):])
		f.table, t = numbers, numbers
	}
	if t.Counted == nil { // from rows that stand for moments no column can be taken
		f.prepared, err = f.independent(file, f.prepared, t.Names, func(kept []string) (*trainers.Prepared, error) {
			if f.table, err = f.table.Select(kept); err != nil {
				return nil, err
			}
			f.config.Covariates = slices.DeleteFunc(f.config.Covariates, func(name string) bool { return !slices.Contains(kept, name) })
			return f.prepare(f.table, file)
		})
		if err != nil {
			return err
		}
	}
	nodes := slices.DeleteFunc(slices.Clone(f.table.Names), func(name string) bool { return slices.Contains(f.config.Covariates, name) })
	if f.truthFile != "" {
		if f.truth, err = network.ReadPrecision(f.truthFile, nodes); err != nil {
			return fmt.Errorf("--truth: %w", err)
		}
	}
	if err := f.pictures.load(cmd.ErrOrStderr(), nodes); err != nil {
		return err
	}
	return ensureDir(f.out)
}

func (f *networkCommand) work(cmd *cobra.Command, args []string) (err error) {
	file, stderr := args[0], cmd.ErrOrStderr()
	if err := f.announce(stderr, file, f.table); err != nil {
		return err
	}
	if f.prepared.Domain != nil {
		fmt.Fprintln(stderr, "the normal distribution is restricted to the support; precision and mean describe the unrestricted one")
	}
	if f.shard = f.resampling.shard; f.resampling.merge != nil {
		if f.from, err = f.resampling.joined(f.spec.Inference); err != nil {
			return err
		}
	}
	f.inPlace = true
	f.result, err = f.network(cmd, f.prepared, file, filepath.Join(f.out, f.resampling.file()))
	if err == nil && f.truth != nil {
		if f.rates, err = f.result.Network.Rates(network.Threshold(f.truth, 1e-12)); err != nil {
			return fmt.Errorf("--truth: %w", err)
		}
	}
	return err
}

func (f *networkCommand) write(set *atomicfile.Set, cmd *cobra.Command, args []string) error {
	if f.resampling.shard.N > 0 {
		return nil
	}
	from := report.Source{Table: args[0], Made: made(cmd, f.spec.Steps.Seed), NoIntervals: f.prepared.NoIntervals, Style: f.pictures.style}
	if err := f.known.write(set, filepath.Join(f.out, report.EstimatedLaw), f.result); err != nil {
		return err
	}
	f.pictures.tellMinimum(cmd.ErrOrStderr(), "network.svg", f.result.Network.Network)
	return report.WriteNetwork(set, f.out, from, f.table, f.result, f.rates)
}

func (f *networkCommand) tell(cmd *cobra.Command, took time.Duration) error {
	if s := f.resampling.shard; s.N > 0 {
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "shard %d of %d is done: %s\nafter all shards: the same command with --merge %s instead of --shard\n",
			s.I, s.N, filepath.Join(f.out, f.resampling.file()), shell.Word(f.out))
		return err
	}
	r, n := f.result, f.result.Network
	out := map[string]any{"method": r.Spec.Steps.Method, "penalty": n.Penalty, "edges": len(n.Edges()), "lambda": n.Lambda, "converged": r.Converged, "verdict": r.Verdict,
		"assumption": r.Assumption, "missing_at_random": array(r.MissingAtRandom), "left_out": array(f.table.LeftOut), "loss": r.Loss, "seconds": took.Seconds(), "warnings": array(r.Warnings), "blas": f.blas}
	if n.Choice != "" {
		out["choice"] = n.Choice
	}
	if n.Moments != "" {
		out["moments"] = n.Moments
	}
	if n.Inference != nil {
		out["inference"] = uncertainty(r)
	}
	if n.Stability != nil {
		out["correlation_stability"] = n.Stability.Coefficient
	}
	var auc *float64
	if f.rates != nil {
		auc = new(network.AUC(f.rates))
		out["auc"] = *auc
	}
	return f.end(cmd, out, func(w io.Writer) { f.summary(w, r, auc) }, r.Warnings, "report: "+filepath.Join(f.out, "report.html"), open(r))
}

func (f *networkCommand) summary(w io.Writer, r *trainers.Result, auc *float64) {
	n := r.Network
	pairs := len(n.Names) * (len(n.Names) - 1) / 2
	at := fmt.Sprintf(" at λ = %.4g", n.Lambda)
	if n.Choice != "" { // edges of no single λ
		at = ""
	}
	fmt.Fprintf(w, "%s %s: %d of %d edges%s\n", verdict(r), r.Estimator.Title, len(n.Edges()), pairs, at)
	if n.Choice != "" {
		fmt.Fprintln(w, n.Choice)
	} else if gamma := r.Spec.Network.Select.Gamma; gamma != nil && f.config.Select.Gamma == nil {
		measured := ""
		if r.Estimator.Name == "em-exact" && !r.Model.Domain.Bounded() && len(n.Edges()) > 0 && len(n.Names) >= 6 { // the smallest that was simulated
			measured = ": in simulations 7 % of the edges were false"
		}
		more := ""
		if *gamma > 0 {
			more = ", 0 for more"
		}
		fmt.Fprintf(w, "EBIC with γ = %.2g%s; --gamma 0.5 for fewer edges%s\n", *gamma, measured, more)
	}
	if auc != nil {
		fmt.Fprintf(w, "AUC over the path: %.4f\n", *auc)
	}
	const shown = 10
	edges := slices.SortedStableFunc(slices.Values(n.Edges()), func(a, b network.Edge) int {
		return cmp.Compare(math.Abs(shownSize(b)), math.Abs(shownSize(a)))
	})
	if len(edges) > 0 {
		with := ""
		if n.Inference != nil {
			with = fmt.Sprintf(" with %.3g %% intervals", 100*r.Spec.Inference.Level)
		}
		fmt.Fprintf(w, "partial correlations%s, strongest first:\n", with)
	}
	wide, listed := 0, edges[:min(shown, len(edges))]
	for _, e := range listed {
		wide = max(wide, utf8.RuneCountInString(e.From+e.To))
	}
	for _, e := range listed {
		fmt.Fprintf(w, "  %s — %s%s  %s\n", e.From, e.To, strings.Repeat(" ", min(20, wide-utf8.RuneCountInString(e.From+e.To))), sizeText(e))
	}
	tellMore(w, "  … and %d more\n", len(edges)-shown)
	if why := f.prepared.NoIntervals; why != "" {
		fmt.Fprintf(w, "no intervals: %s\n", why)
	}
	if n.Stability != nil {
		fmt.Fprintf(w, "%s\n", n.Stability.Sentence())
	}
}

func uncertainty(r *trainers.Result) map[string]any {
	pairs := []any{}
	for _, e := range r.Network.Network.Pairs {
		pairs = append(pairs, e.Uncertain())
	}
	return map[string]any{"kind": r.Spec.Inference.Kind, "level": r.Spec.Inference.Level, "rests_on": r.Network.Inference.Rests, "pairs": pairs}
}

// shownSize is the interval's estimate, or the partial correlation if there is none.
func shownSize(e network.Edge) float64 {
	if u := e.Uncertainty; u != nil && !math.IsNaN(u.Low) && !math.IsNaN(u.High) {
		return u.Estimate
	}
	return e.PartialCorrelation
}

func sizeText(e network.Edge) string {
	u, words, signed := e.Uncertainty, "", "%+.3f"
	if e.Unsigned {
		words, signed = "strength ", "%.3f"
	}
	if u == nil || math.IsNaN(u.Low) || math.IsNaN(u.High) {
		return words + fmt.Sprintf(signed, e.PartialCorrelation)
	}
	text := words + fmt.Sprintf(signed+"  ["+signed+", "+signed+"]", u.Estimate, u.Low, u.High)
	if !math.IsNaN(u.Q) {
		text += "  q " + mcar.FormatP(u.Q)
	}
	if !math.IsNaN(u.Inclusion) {
		text += fmt.Sprintf("  in %.0f %% of resamples", 100*u.Inclusion)
	}
	return text
}

// Each process makes one shard of the resamples, --merge joins them.
type resamplingFlags struct {
	text  string
	shard inference.Shard
	merge []string // folders of the shards
}

const shardFile = "shard-%d-of-%d.bin"

func (f *resamplingFlags) add(cmd *cobra.Command, c *inference.Config) {
	fl := cmd.Flags()
	fl.IntVar(&c.Stability, "stability", 0, "compute correlation stability with `N` subsamples, such as 1000")
	fl.StringVar(&f.text, "shard", "", "`I/N`: compute every N-th resample, from the I-th, and store them in --out for --merge")
	fl.StringSliceVar(&f.merge, "merge", nil, "join the resamples of all shards in these `folders`")
}

func (f *resamplingFlags) parse(cmd *cobra.Command, c inference.Config, resume bool) (err error) {
	if f.shard.I, f.shard.N, err = parseShard(f.text); err != nil {
		return err
	}
	if f.text == "" && f.merge == nil {
		return nil
	}
	name := "shard"
	if f.merge != nil {
		name = "merge"
	}
	return obey(
		rule{c.Resamples == 0 && c.Stability == 0, fmt.Sprintf("--%s needs resamples: add --inference bootstrap=500 or --stability 1000, or leave it out", name)},
		rule{f.text != "" && f.merge != nil, "--shard makes resamples and --merge joins them: leave one of them out"},
		rule{f.merge != nil && resume, "--merge continues shards, --resume an interrupted run; leave one of them out"},
		rule{f.text != "" && cmd.Flags().Changed("truth"), "--truth: a shard writes no results; give it with --merge"},
	)
}

func (f *resamplingFlags) file() string {
	if f.shard.N > 0 {
		return fmt.Sprintf(shardFile, f.shard.I, f.shard.N)
	}
	return stateFile
}

func (f *resamplingFlags) joined(c inference.Config) (*trainers.State, error) {
	paths, err := findShards(shardFile, f.merge)
	if err != nil {
		return nil, err
	}
	n := len(paths)
	var all *trainers.State
	for _, path := range paths {
		s, err := trainers.LoadState(path)
		if err != nil {
			return nil, fmt.Errorf("--merge: %w", err)
		}
		if all == nil {
			all = s
			continue
		}
		if err := all.Join(s); err != nil {
			return nil, fmt.Errorf("--merge: %s and %s are not of the same table and settings", paths[0], path)
		}
	}
	if left := all.Inference.Left(c); len(left) > 0 {
		var unfinished []string
		for _, i := range left {
			if s := fmt.Sprintf("%d/%d", i%n+1, n); !slices.Contains(unfinished, s) {
				unfinished = append(unfinished, s)
			}
		}
		return nil, fmt.Errorf("--merge: %d resamples are missing; run shards %s again with --resume", len(left), strings.Join(unfinished, ", "))
	}
	return all, nil
}
