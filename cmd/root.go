// Package cmd is the command line, one file a sub-command. A program can link models, objectives
// and sources of its own into it: docs/extending.md.
package cmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"missingscore/cmd/words"
	_ "missingscore/data/arrow" // formats of tables
	_ "missingscore/data/excel"
	_ "missingscore/data/parquet"
	"missingscore/graph"
	"missingscore/internal/memory"
	"missingscore/internal/panics"
	"missingscore/internal/printable"
	"missingscore/trainers"
)

func Main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once, whatever it is at
	out, said := &screen{w: stdout}, &screen{w: stderr, heedless: true}
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(said)
	cmd := root
	code, message := ending(panics.Caught(func() (err error) {
		cmd, err = root.ExecuteContextC(ctx)
		return cmp.Or(out.err, err)
	}))
	if message != "" {
		advice := ""
		if code == exitUsage {
			advice = fmt.Sprintf(" (see %s --help)", cmd.CommandPath())
		}
		fmt.Fprintf(said, "missingscore: %s%s\n", message, advice)
	}
	if code != exitDone && !out.used && (slices.Contains(args, "--json") || slices.Contains(args, "--json=true")) {
		_ = printJSON(out, newErrorJSON(message, code)) // the code tells where nothing can be written
	}
	return code
}

func newRoot() *cobra.Command {
	var describe tableDescription
	root := &cobra.Command{
		Use:   "missingscore [TABLE.csv]",
		Short: "Score matching for tables with missing cells",
		Long: `missingscore estimates probability models from tables with missing cells by score matching
(Givens, Liu, Reeve: Score Matching with Missing Data, 2025).

With a table and no command it describes the table: columns, missing cells, faults, tests of
missingness, and the commands to run next. Flags of the planned fit change what is a fault.

Exit codes: 0 done, 1 error, 2 wrong command line, 3 not converged (results are written and
marked), 130 interrupted (state saved).`,
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
	root.Flags().Bool("version", false, "print the version and the build")
	describe.add(root)
	root.AddCommand(newNetworkCommand(), newCompareCommand(), newPowerCommand(), newFitCommand(), newImputeCommand(), newSampleCommand(), newScoreCommand(), newSimulateCommand(), newMomentsCommand())
	for _, c := range append(root.Commands(), root) {
		c.Flags().String(memoryFlag, "", "limit of memory as a `size` such as 8GB (default: "+memory.Variable+", or 80 % of the free memory)")
		c.Flags().BoolP("quiet", "q", false, "print errors only; with --json the object only")
		addCompletions(c)
	}
	root.AddCommand(newManualCommand(root))
	for _, c := range append(root.Commands(), root) {
		addHelp(c)
	}
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

func begin(cmd *cobra.Command) error {
	if os.Getenv(graph.BLASVariable) != "" { // here, so that no model or table is blamed for it
		if _, err := graph.BLAS(); err != nil {
			return err
		}
	}
	if err := obeyMemory(cmd); err != nil {
		return err
	}
	if quiet, _ := cmd.Flags().GetBool("quiet"); quiet {
		cmd.SetErr(io.Discard)
		if object, _ := cmd.Flags().GetBool("json"); !object {
			cmd.SetOut(io.Discard)
		}
	}
	return checkNumbers(cmd.Flags())
}

func exactArgs(n int, what string) cobra.PositionalArgs { return argsFrom(n, n, what) }

func argsFrom(least, most int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		return obey(rule{len(args) < least || len(args) > most, fmt.Sprintf("expected %s, got %d", what, len(args))})
	}
}

// abandonable leaves work running when ctx is done, such as reading a pipe: it must not write files.
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

const (
	exitDone        = 0
	exitError       = 1
	exitUsage       = 2
	exitUnconverged = 3   // results are written and marked
	exitInterrupted = 130 // the state is saved
)

type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// unconverged is the verdict of a fit that was written and has not converged.
type unconverged struct{ verdict string }

func (e unconverged) Error() string { return e.verdict }

type interrupted string

func (e interrupted) Error() string        { return string(e) }
func (e interrupted) Is(target error) bool { return target == context.Canceled }

func ending(err error) (code int, message string) {
	var usage usageError
	var open unconverged
	var cut interrupted
	switch {
	case err == nil:
		return exitDone, ""
	case errors.As(err, &cut):
		return exitInterrupted, fmt.Sprintf("interrupted; %v", cut)
	case errors.Is(err, context.Canceled):
		return exitInterrupted, "interrupted"
	case errors.As(err, &open):
		return exitUnconverged, err.Error()
	case errors.As(err, &usage):
		return exitUsage, err.Error()
	}
	return exitError, err.Error()
}

func asUsage(cmd *cobra.Command, err error) error {
	var wrong *trainers.SettingError
	if err == nil || !errors.As(err, &wrong) {
		return err
	}
	return usageError{errors.New(wrong.Message(settingName(cmd, wrong.Field)))}
}

// errorJSON is an error for clients (docs/reference/clients.md).
type errorJSON struct {
	Error  string `json:"error"`
	Exit   int    `json:"exit"`
	Code   string `json:"code"`            // usage, input, failed, interrupted
	Field  string `json:"field,omitempty"` // the flag that the message is about
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column string `json:"column,omitempty"`
	Cell   string `json:"cell,omitempty"`
}

// place matches the beginning of messages about files: FILE:LINE: column "NAME": "CELL".
var place = regexp.MustCompile(`^(?:--[a-z-]+: )?([^\n]+?):(\d+): (?:column ("(?:[^"\\]|\\.)*")(?:: ("(?:[^"\\]|\\.)*"|-?[0-9][-+.0-9e]*) )?)?`)

var aboutFlag = regexp.MustCompile(`^(?:unknown flag: |flag )?--([a-z-]+)`)

func newErrorJSON(message string, exit int) errorJSON {
	e := errorJSON{Error: message, Exit: exit, Code: "failed"}
	if flag := aboutFlag.FindStringSubmatch(message); flag != nil {
		e.Field = flag[1]
	}
	found := place.FindStringSubmatch(message)
	switch {
	case exit == exitUsage:
		e.Code = "usage"
	case exit == exitInterrupted:
		e.Code = "interrupted"
	case found != nil:
		e.Code = "input"
	}
	if found == nil {
		return e
	}
	e.File = found[1]
	e.Line, _ = strconv.Atoi(found[2]) // digits; one too long for a line is none
	e.Column, e.Cell = unquoted(found[3]), unquoted(found[4])
	return e
}

func unquoted(text string) string {
	if plain, err := strconv.Unquote(text); err == nil {
		return plain
	}
	return text
}

func printJSON(w io.Writer, v any) error { return json.NewEncoder(printable.Writer{W: w}).Encode(v) }

// screen writes settings by the names of their flags, and nothing that steers a terminal. A message must
// not be cut in two.
type screen struct {
	w        io.Writer
	heedless bool  // of errors
	used     bool  // something is written
	err      error // the first one: a command need not look for it
}

func (s *screen) Write(text []byte) (int, error) {
	s.used = s.used || len(text) > 0
	if _, err := io.WriteString(s.w, printable.Text(words.Text(string(text)))); err != nil && !s.heedless {
		s.err = cmp.Or(s.err, err)
		return 0, err
	}
	return len(text), nil
}

// protocol is the version of docs/reference/clients.md.
const protocol = 1

func versionText(b *debug.BuildInfo) string {
	version := "(devel)"
	if b != nil && b.Main.Version != "" { // which holds revision, time and whether all is committed
		version = b.Main.Version
	}
	return fmt.Sprintf("missingscore %s\n%s %s/%s\nprotocol %d\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH, protocol)
}

func buildInfo() *debug.BuildInfo {
	b, _ := debug.ReadBuildInfo()
	return b
}

const memoryFlag = "memory"

func obeyMemory(cmd *cobra.Command) error {
	memory.UseVariable()
	if cmd.Flags().Changed(memoryFlag) {
		if err := memory.Use(cmd.Flags().Lookup(memoryFlag).Value.String()); err != nil {
			return usageError{fmt.Errorf("--%s %w", memoryFlag, err)}
		}
	}
	limit, err := memory.Limit()
	if err != nil {
		return usageError{err}
	}
	if os.Getenv("GOMEMLIMIT") == "" { // rubbish is collected before it takes what is left
		memory.Collect(limit)
	}
	return nil
}
