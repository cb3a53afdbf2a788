// Package cmd is the command line, one file a sub-command. It is a package so that a
// program can link models, objectives and sources of its own into it: docs/extending.md.
package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"missingscore/graph"
	"missingscore/internal/memory"
	"missingscore/internal/panics"
	"missingscore/trainers"
)

// Exit codes.
const (
	exitDone        = 0
	exitError       = 1
	exitUsage       = 2
	exitUnconverged = 3   // results are written and marked
	exitInterrupted = 130 // the state is saved
)

// usageError is a mistake on the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// unconverged says that a fit finished, was written, and has not converged.
type unconverged struct{ verdict string }

func (e unconverged) Error() string { return e.verdict }

// interrupted says what is left of a command that the user stopped.
type interrupted string

func (e interrupted) Error() string        { return string(e) }
func (e interrupted) Is(target error) bool { return target == context.Canceled }

// Main runs the program with the arguments it was started with, and exits.
func Main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the program; it returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once, whatever it is at
	out := &used{Writer: printable{stdout}}
	stderr = printable{heedless{stderr}}
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(stderr)
	code, message, advice := ending(panics.Caught(func() error {
		if err := checkWords(args); err != nil {
			return err
		}
		return root.ExecuteContext(ctx)
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

// ending is the exit code of an error, what is said of it, and where to read on.
func ending(err error) (code int, message, advice string) {
	var usage usageError
	var open unconverged
	var cut interrupted
	switch {
	case err == nil:
		return exitDone, "", ""
	case errors.As(err, &cut):
		return exitInterrupted, fmt.Sprintf("interrupted; %v", cut), ""
	case errors.Is(err, context.Canceled):
		return exitInterrupted, "interrupted", ""
	case errors.As(err, &open):
		return exitUnconverged, err.Error(), ""
	case errors.As(err, &usage):
		return exitUsage, err.Error(), " (see missingscore --help)"
	}
	return exitError, err.Error(), ""
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
	root.AddCommand(newNetworkCommand(), newCompareCommand(), newPowerCommand(), newFitCommand(), newImputeCommand(), newSampleCommand(), newScoreCommand(), newSimulateCommand(), newMomentsCommand(), newCheckCommand(), newSelfCheckCommand(), newBenchCommand(), newReproduceCommand())
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

// asUsage makes a setting that cannot be used a mistake on the command line, named by
// its flag. Other errors stay as they are.
func asUsage(cmd *cobra.Command, err error) error {
	var wrong *trainers.SettingError
	if err == nil || !errors.As(err, &wrong) {
		return err
	}
	name := wrong.Field
	if flag := strings.ReplaceAll(name, "_", "-"); cmd.Flags().Lookup(flag) != nil {
		name = "--" + flag
	}
	return usageError{errors.New(wrong.Message(name))}
}

// nonZero refuses flags, of those that the command has, that were set to zero or less: zero
// would be taken for "the default" further down.
func nonZero(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if flag := cmd.Flags().Lookup(name); flag != nil && flag.Changed {
			if v, err := strconv.ParseFloat(flag.Value.String(), 64); err != nil || !(v > 0) {
				return usageError{fmt.Errorf("--%s %s: it must be positive", name, flag.Value)}
			}
		}
	}
	return nil
}

// largest are the largest values of whole-number flags that make tables, models and
// workers; the others stay below largestOther.
var largest = map[string]int{"d": 1 << 16, "centres": 1 << 16, "draws": 1 << 24, "lambdas": 1 << 16, "workers": 1 << 12}

const largestOther = 1<<31 - 1

// checkNumbers refuses values that no command can use: numbers that are not finite or too
// large to count with, and an empty --out. Sizes that are one by one possible are for fits.
func checkNumbers(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(flag *pflag.Flag) {
		text := flag.Value.String()
		if flag.Name == "out" && text == "" {
			err = usageError{errors.New("--out is empty: the name of a file or folder is expected")}
		}
		switch flag.Value.Type() {
		case "float64":
			if v, _ := strconv.ParseFloat(text, 64); math.IsInf(v, 0) || math.IsNaN(v) {
				err = usageError{fmt.Errorf("--%s %s: a finite number is needed", flag.Name, text)}
			}
		case "int":
			limit, ok := largest[flag.Name]
			if !ok {
				limit = largestOther
			}
			if v, _ := strconv.Atoi(text); v > limit {
				err = usageError{fmt.Errorf("--%s %s: at most %d is possible", flag.Name, text, limit)}
			}
		}
	})
	return err
}

// checkSize refuses sizes whose product is more numbers than there is memory for.
func checkSize(sizes ...size) error {
	product, words := 1.0, []string{}
	for _, s := range sizes {
		product *= float64(s.n)
		words = append(words, fmt.Sprintf("%d %s", s.n, s.what))
	}
	if err := memory.Check(8*product, "take less", "%s make %.2g numbers, which", strings.Join(words, " × "), product); err != nil {
		return usageError{err}
	}
	return nil
}

// size is one for checkSize, with its words, as "rows (--n)".
type size struct {
	n    int
	what string
}

// ensureDir creates the output folder.
func ensureDir(dir string) error {
	if found, err := os.Stat(dir); err == nil && !found.IsDir() {
		return usageError{fmt.Errorf("--out %s is a file, and a folder is expected: choose another --out", dir)}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("--out %s: %w", dir, err)
	}
	probe, err := os.CreateTemp(dir, ".writable.*")
	if err != nil {
		return fmt.Errorf("--out %s cannot be written to: %w", dir, err)
	}
	probe.Close()
	return os.Remove(probe.Name())
}

// printJSON writes one object.
func printJSON(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) }
