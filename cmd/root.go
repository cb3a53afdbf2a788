// Package cmd is the command line, one file a sub-command. It is a package so that a
// program can link models, objectives and sources of its own into it: docs/extending.md.
package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	_ "missingscore/data/arrow" // formats of tables
	_ "missingscore/data/excel"
	_ "missingscore/data/parquet"
	"missingscore/graph"
	"missingscore/internal/panics"
	"missingscore/internal/printable"
)

// Main runs the program with the arguments it was started with, and exits.
func Main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the program; it returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once, whatever it is at
	out := &used{Writer: printable.Writer{W: stdout}}
	stderr = printable.Writer{W: heedless{stderr}}
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(stderr)
	code, message, advice := ending(panics.Caught(func() error {
		if err := checkWords(args); err != nil {
			return err
		}
		if asksJSON(args) && closed(stdout) {
			return errors.New("standard output is closed, and --json writes its object there: leave --json out, or redirect the output to a file")
		}
		if err := root.ExecuteContext(ctx); err != nil {
			return err
		}
		return out.err
	}))
	if message != "" {
		fmt.Fprintf(stderr, "missingscore: %s%s\n", message, advice)
	}
	if code != exitDone && asksJSON(args) && !out.yes {
		_ = printJSON(out, newErrorJSON(message, code)) // the code tells where nothing can be written
	}
	return code
}

// checkWords refuses what no system takes for the name of a file, and no setting is.
func checkWords(args []string) error {
	for i, word := range args {
		if strings.ContainsRune(word, 0) {
			return usageError{fmt.Errorf("word %d of the command line, %q: it holds the character of code 0, which no file's name and no setting has; leave it out", i+1, word)}
		}
	}
	return nil
}

func newRoot() *cobra.Command {
	var describe tableDescription
	root := &cobra.Command{
		Use:   "missingscore [TABLE.csv]",
		Short: "Score matching for tables with missing cells",
		Long: `missingscore estimates probability models from tables with missing cells by
score matching (Givens, Liu, Reeve: Score Matching with Missing Data, 2025).

With a table and no command it says what the table is: its columns and gaps, what is
wrong with it, whether gaps depend on other columns, and what to run next.

Exit codes: 0 done, 1 error, 2 mistake on the command line, 3 finished but not
converged (results are written and marked), 130 interrupted (state saved).`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Example:       `  missingscore examples/airquality.csv --columns Ozone,Solar.R,Wind,Temp`,
		Version:       versionText(buildInfo()),
		Args:          commandOrTable,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return describe.run(cmd, args[0])
		},

		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return begin(cmd) },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageError{flagError(cmd, err)} })
	root.SetVersionTemplate("{{.Version}}")
	root.Flags().Bool("version", false, "print the version, and what the program was built from")
	describe.add(root)
	root.AddCommand(newNetworkCommand(), newCompareCommand(), newPowerCommand(), newFitCommand(), newImputeCommand(), newSampleCommand(), newScoreCommand(), newSimulateCommand(), newMomentsCommand(), newCheckCommand())
	saying := append(root.Commands(), root)
	addMemory(saying...)
	addQuiet(saying...)
	addCompletions(saying...)
	root.AddCommand(newManualCommand(root))
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"})
	help.Args = func(_ *cobra.Command, args []string) error {
		_, rest, err := root.Find(args)
		if err == nil {
			err = root.Args(root, rest)
		}
		return err
	}
	return root
}

// begin is what every command begins with: the matrix library and the memory that were asked
// for, and numbers that can be used.
func begin(cmd *cobra.Command) error {
	if os.Getenv(graph.BLASVariable) != "" { // here, so that no model or table is blamed for it
		if _, err := graph.BLAS(); err != nil {
			return err
		}
	}
	if err := obeyMemory(cmd); err != nil {
		return err
	}
	obeyQuiet(cmd)
	return checkNumbers(cmd.Flags())
}

// exactArgs is cobra.ExactArgs as a usage error that says what is expected.
func exactArgs(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return usageError{fmt.Errorf("%s is expected, got %d arguments", what, len(args))}
		}
		return nil
	}
}

// abandonable runs work that cannot be stopped, as reading a pipe that nobody writes to, and
// leaves it behind when ctx is done: work must write nothing that stays.
func abandonable(ctx context.Context, work func() error) error {
	done := make(chan error, 1)
	go func() { done <- panics.Caught(work) }()
	select {
	case <-ctx.Done():
		return interrupted("nothing is written")
	case err := <-done:
		return err
	}
}
