package cmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"missingscore/benchmarks/harness"
	"missingscore/benchmarks/report"
	"missingscore/benchmarks/reproduce"
	"missingscore/internal/shell"
)

// reproduceCommand is the reproduce command: its flags, and what its phases make.
type reproduceCommand struct {
	harness.Options
	shard, config string

	experiments []harness.Experiment
	failures    int // of cells
}

func newReproduceCommand() *cobra.Command {
	var f reproduceCommand
	cmd := &cobra.Command{
		Use:   "reproduce list|all|EXPERIMENT...",
		Short: "Rerun the experiments, the paper's and ours, and say which claims hold",
		Long: `Rerun experiments of the paper, and those of benchmarks/README.md that are not in
it. "list" names them, "all" runs every one.
Results go to --out: a folder for each experiment with a line for each finished
cell (cells.csv) and its pictures, and report.html, claims.md and claims.csv for
all experiments in --out together.

Stopped in any way and started again with the same arguments, it does what is
missing and ends with the same files. --shard I/N does every N-th cell, for job
arrays (benchmarks/slurm); "reproduce merge" joins what the shards left. Full size
is the paper's; most experiments then take days.`,
		Example: `  missingscore reproduce all --smoke --out tried
  missingscore reproduce normal ica-dim --replicates 10 --out results`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errors.New("list, all or the names of experiments are expected")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.Out, "out", "", "folder for the results (needed)")
	fl.BoolVar(&f.Smoke, "smoke", false, "a size to try the program with: minutes, no verdicts")
	fl.IntVar(&f.Replicates, "replicates", 0, "replicates of each setting; by default the paper's")
	fl.IntVar(&f.Workers, "workers", 0, "cells at a time; by default the processors")
	fl.StringVar(&f.shard, "shard", "", "I/N: every N-th cell, from the I-th")
	fl.StringVar(&f.config, "config", "", "settings in place of an experiment's own, as benchmarks/*/*.json")
	fl.StringVar(&f.Cell, "cell", "", "only the cell with this key, as a failed one is reported")
	cmd.AddCommand(newMergeCommand())
	return cmd
}

// run takes the command through its phases.
func (f *reproduceCommand) run(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && args[0] == "list" {
		return listExperiments(cmd.OutOrStdout())
	}
	if err := f.options(cmd, args); err != nil {
		return err
	}
	if err := abandonable(cmd.Context(), f.load); err != nil {
		return err
	}
	if err := ensureDir(f.Out); err != nil { // what is abandoned makes no folder
		return err
	}
	if err := f.cells(cmd); err != nil {
		return err
	}
	return f.write(cmd.OutOrStdout())
}

// options reads the experiments' names and the flags.
func (f *reproduceCommand) options(cmd *cobra.Command, args []string) (err error) {
	if f.experiments, err = reproduce.ByName(args); err != nil {
		return usageError{err}
	}
	if err := nonZero(cmd, "replicates", "workers"); err != nil {
		return err
	}
	if f.Shard, f.Shards, err = parseShard(f.shard); err != nil {
		return err
	}
	if f.Out == "" {
		return usageError{errors.New("--out DIR is missing: the folder for the results")}
	}
	if f.config != "" && len(f.experiments) != 1 {
		return usageError{errors.New("--config is for one experiment at a time")}
	}
	return nil
}

// load reads the settings of one's own.
func (f *reproduceCommand) load() (err error) {
	if f.config == "" {
		return nil
	}
	if f.Config, err = os.ReadFile(f.config); err != nil {
		return fmt.Errorf("--config: %w", err)
	}
	return nil
}

// cells runs what is missing of the experiments.
func (f *reproduceCommand) cells(cmd *cobra.Command) (err error) {
	bar := newProgress(cmd.ErrOrStderr(), false)
	f.Progress = func(experiment string, done, total int) { bar.count(experiment, "cells", done, total) }
	f.Failed = func(failure harness.Failure) {
		bar.note(fmt.Sprintf("%s, replicate %s failed: %v\n  again: missingscore %s", failure.Experiment, failure.Replicate, failure.Err, rerun(cmd, failure)))
	}
	f.Skipped = func(experiment string, why error) {
		bar.note(fmt.Sprintf("%s is left out: %v", experiment, why))
	}
	f.Note = func(experiment, note string) { bar.note(fmt.Sprintf("%s, %s", experiment, note)) }
	f.failures, err = harness.Run(cmd.Context(), f.experiments, f.Options)
	bar.finish()
	switch {
	case cmd.Context().Err() != nil:
		return interrupted("go on with the same command")
	case err != nil && f.config != "":
		return fmt.Errorf("--config %s: %w", f.config, err)
	}
	return err
}

// write reports, or of a shard says how to; it fails where cells did.
func (f *reproduceCommand) write(w io.Writer) error {
	if f.Shards == 0 {
		if err := reported(w, f.Out); err != nil {
			return err
		}
	} else if _, err := fmt.Fprintf(w, "shard %d of %d is done; after all: missingscore reproduce merge %s --out %[3]s\n", f.Shard, f.Shards, shell.Word(f.Out)); err != nil {
		return err
	}
	if f.failures > 0 {
		return fmt.Errorf("%d cells failed, see above; the others are in %s", f.failures, f.Out)
	}
	return nil
}

func newMergeCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "merge DIR...",
		Short: "Join what the shards of reproduce left, and report",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errors.New("the folders of the shards are expected")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usageError{errors.New("--out DIR is missing: the folder for the joined results")}
			}
			if err := ensureDir(out); err != nil {
				return err
			}
			missing, err := harness.Merge(reproduce.Experiments, args, out)
			if err != nil {
				return err
			}
			if err := reported(cmd.OutOrStdout(), out); err != nil {
				return err
			}
			if missing > 0 {
				return fmt.Errorf("%d cells are missing: run their shards again, or reproduce with --out %s", missing, shell.Word(out))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "folder for the joined results (needed)")
	return cmd
}

func listExperiments(w io.Writer) error {
	for _, e := range reproduce.Experiments {
		if _, err := fmt.Fprintf(w, "%-16s %s: %s\n", e.Name, e.Title, e.Source); err != nil {
			return err
		}
	}
	return nil
}

// reported writes the report and says where it is.
func reported(w io.Writer, out string) error {
	if err := report.Write(out, reproduce.Experiments, reproduce.Across); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "figures, settings and claims: %s\n", filepath.Join(out, "report.html"))
	return err
}

// rerun is the command of one cell.
func rerun(cmd *cobra.Command, f harness.Failure) string {
	words := []string{"reproduce", f.Experiment}
	for _, name := range []string{"smoke", "replicates", "config", "out"} {
		if flag := cmd.Flags().Lookup(name); flag.Changed {
			words = append(words, shell.Word("--"+name+"="+flag.Value.String()))
		}
	}
	return strings.Join(append(words, shell.Word("--cell="+f.Cell)), " ")
}
