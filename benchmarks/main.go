// Command benchmarks runs experiments with a known truth on simulated and real tables, and tests the
// claims of the paper and of this project's pages.
//
//	go -C benchmarks run . list
//	go -C benchmarks run . run normal ica-dim --smoke --out tried
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/coverage"
	"missingscore/benchmarks/harness"
	"missingscore/benchmarks/imputation"
	"missingscore/benchmarks/mar"
	"missingscore/benchmarks/mixed"
	"missingscore/benchmarks/networks"
	"missingscore/benchmarks/neural"
	"missingscore/benchmarks/normal"
	"missingscore/benchmarks/quartic"
	"missingscore/benchmarks/scale"
	"missingscore/benchmarks/speed"
	"missingscore/benchmarks/star"
	"missingscore/benchmarks/tables"
)

var experiments = []harness.Experiment{
	normal.Truncated, normal.Untruncated,
	quartic.Dim, quartic.Rows, quartic.Missing, quartic.Practice,
	star.Missing, star.Dense, star.Colliders, star.Centres, star.Dim, star.ROC,
	tables.SP100, tables.Yeast,
	neural.Experiment, neural.AtRandom, neural.Curve,
	coverage.Experiment, networks.Experiment, networks.Weak, imputation.Experiment, mar.Experiment, scale.Experiment,
	mixed.Networks, imputation.Mixed,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := root().ExecuteContext(ctx)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "benchmarks: interrupted; the same command continues")
		os.Exit(130)
	default:
		fmt.Fprintln(os.Stderr, "benchmarks:", err)
		os.Exit(1)
	}
}

func root() *cobra.Command {
	cmd := &cobra.Command{Use: "benchmarks", Short: "Experiments with a known truth", SilenceUsage: true, SilenceErrors: true}
	cmd.AddCommand(listCommand(), runCommand(), reportCommand(), speed.BenchCommand(), speed.Command())
	return cmd
}

func listCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the experiments", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, e := range experiments {
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%-17s %s: %s\n", e.Name, e.Title, e.Source); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func runCommand() *cobra.Command {
	var o harness.Options
	var shard, config string
	cmd := &cobra.Command{
		Use:   "run NAME... | all",
		Short: "Run or continue experiments",
		Long: `Run experiments. Each writes a line for each finished cell to OUT/NAME/cells.csv.
After an interruption the same command continues and gives the same files.
--shard I/N runs every N-th cell; report joins the shards in one folder.`,
		Example: `  benchmarks run normal ica-dim --replicates 10 --out results
  benchmarks run all --smoke --out tried`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			chosen, err := byName(args)
			if err != nil {
				return err
			}
			if _, err := fmt.Sscanf(shard, "%d/%d", &o.Shard, &o.Shards); shard != "" && (err != nil || o.Shard < 1 || o.Shard > o.Shards) {
				return fmt.Errorf("--shard %s: type I/N with I from 1 to N, for example 2/8", shard)
			}
			if config != "" {
				if o.Config, err = os.ReadFile(config); err != nil {
					return fmt.Errorf("--config: %w", err)
				}
			}
			o.Log = cmd.ErrOrStderr()
			failed, err := harness.Run(cmd.Context(), chosen, o)
			if err != nil {
				return err
			}
			if o.Shards == 0 && o.Cell == "" {
				err = report(cmd.OutOrStdout(), o.Out)
			}
			if err == nil && failed > 0 {
				err = fmt.Errorf("%d cells failed, see above; %s holds the others", failed, o.Out)
			}
			return err
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&o.Out, "out", "out", "folder of the results")
	fl.BoolVar(&o.Smoke, "smoke", false, "use small sizes, for a trial")
	fl.IntVar(&o.Replicates, "replicates", 0, "replicates of each setting (default: from the settings)")
	fl.IntVar(&o.Workers, "workers", runtime.NumCPU(), "concurrent cells")
	fl.StringVar(&shard, "shard", "", "I/N: run every N-th cell from the I-th")
	fl.StringVar(&config, "config", "", "file of settings that replaces the experiment's own")
	fl.StringVar(&o.Cell, "cell", "", "run only the cell with this key")
	return cmd
}

func reportCommand() *cobra.Command {
	return &cobra.Command{
		Use: "report DIR", Short: "Summarise results and test the claims", Args: cobra.ExactArgs(1),
		Long: `Write for each experiment in DIR a summary, DIR/NAME.csv (setting, method, measure, mean,
standard error, replicates), and DIR/claims.csv: each claim with its estimate and 95 %
interval. The claims are printed as a Markdown table.`,
		RunE: func(cmd *cobra.Command, args []string) error { return report(cmd.OutOrStdout(), args[0]) },
	}
}

func report(w io.Writer, dir string) error {
	results := map[string]harness.Results{}
	for _, e := range experiments {
		r, err := harness.Load(e, dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := harness.WriteLines(filepath.Join(dir, e.Name+".csv"), claims.SummaryColumns, claims.Summary(r)); err != nil {
			return err
		}
		if r.Missing > 0 {
			fmt.Fprintf(os.Stderr, "%s: %d cells are missing; run their shards again\n", e.Name, r.Missing)
		}
		results[e.Name] = r
	}
	if len(results) == 0 {
		return fmt.Errorf("there are no results in %s", dir)
	}
	fmt.Fprintln(w, "| claim | estimate, 95 % interval | verdict |\n| --- | --- | --- |")
	var lines [][]string
	for _, c := range slices.Concat(claims.Paper, claims.Ours) {
		r, ok := results[c.Experiment]
		if !ok {
			continue
		}
		o, err := c.Judge(r)
		if err != nil {
			return err
		}
		number := func(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }
		estimate := []string{"", "", ""}
		if o.Verdict != claims.NotMeasured {
			estimate = []string{number(o.Mean), number(o.Low), number(o.High)}
			fmt.Fprintf(w, "| %s | %s: %s [%s, %s] | %s |\n", c.Sentence, o.Of, estimate[0], estimate[1], estimate[2], o.Verdict)
		}
		lines = append(lines, slices.Concat([]string{c.ID, c.Experiment, c.Sentence, o.Of}, estimate, []string{strconv.Itoa(o.Replicates), o.Verdict}))
	}
	return harness.WriteLines(filepath.Join(dir, "claims.csv"), []string{"id", "experiment", "claim", "of", "estimate", "low", "high", "replicates", "verdict"}, lines)
}

func byName(names []string) (chosen []harness.Experiment, err error) {
	if len(names) == 1 && names[0] == "all" {
		return experiments, nil
	}
	for _, name := range names {
		i := slices.IndexFunc(experiments, func(e harness.Experiment) bool { return e.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no experiment %q; see benchmarks list", name)
		}
		chosen = append(chosen, experiments[i])
	}
	return chosen, nil
}
