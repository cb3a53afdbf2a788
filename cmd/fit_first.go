package cmd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"missingscore/data"
	"missingscore/internal/atomicfile"
)

// firstFit is the fit of a command that takes a table in place of a model, by the flags of
// the fit command.
type firstFit struct {
	command *cobra.Command // fit, of which the flags are
	fit     fitCommand
	save    string // where the model goes
	scratch string // folder of a model that nobody asked for, if it was made
}

// fitFlags are those of fit that are shown with the command; ownFlags have another meaning or
// none there; tableFlagNames say what the table is. All others work and are not shown.
var (
	fitFlags = []string{"model", "model-options", "method", "objective", "objective-options", "columns", "lower", "upper", "domain", "missingness", "transform", "ordinal", "exclude", "id", "weights", "epochs", "dtype"}
	ownFlags = []string{"help", "workers", "hide", "stream", "history", "truth", "inference", "level"}

	tableFlagNames = []string{"columns", "exclude", "id", "transform", "ordinal", "verbose"}
)

func (f *firstFit) add(cmd *cobra.Command) {
	f.command = f.fit.command()
	f.command.Flags().VisitAll(func(flag *pflag.Flag) {
		if cmd.Flags().Lookup(flag.Name) != nil || slices.Contains(ownFlags, flag.Name) {
			return
		}
		flag.Hidden = !slices.Contains(fitFlags, flag.Name)
		if !flag.Hidden {
			flag.Usage = "of the fit: " + flag.Usage
		}
		cmd.Flags().AddFlag(flag)
	})
	cmd.Flags().StringVar(&f.save, "save-model", "", "file for the model that is fitted (default: OUT.model.json)")
}

// given are the flags of the fit that are set, and whether any is.
func (f *firstFit) given() (words []string) {
	f.command.Flags().VisitAll(func(flag *pflag.Flag) {
		if flag.Changed {
			words = append(words, "--"+flag.Name+"="+flag.Value.String())
		}
	})
	return words
}

// modelFlags are the given flags that ask for a model to be fitted, and not only say what the
// table is.
func (f *firstFit) modelFlags() (names []string) {
	if f.save != "" {
		names = append(names, "--save-model")
	}
	f.command.Flags().VisitAll(func(flag *pflag.Flag) {
		if flag.Changed && !slices.Contains(tableFlagNames, flag.Name) {
			names = append(names, "--"+flag.Name)
		}
	})
	return names
}

// refuse refuses flags of a fit where a model is given.
func (f *firstFit) refuse() error {
	if f.save != "" {
		return usageError{errors.New("--save-model: a model is given, and none is fitted; leave it out")}
	}
	if words := f.given(); len(words) > 0 {
		name, _, _ := strings.Cut(words[0], "=")
		return usageError{fmt.Errorf("%s: a model is given, and none is fitted; leave it out, or leave the model out", name)}
	}
	return nil
}

// run fits a model to a table and gives the model's file. A run that is resumed after its fit
// takes the model that it made.
func (f *firstFit) run(cmd *cobra.Command, c *completingFlags, table string, resume bool) (model string, err error) {
	if f.save == "" {
		f.save = siblingOf(c.out, filepath.Base(c.out)+".model.json")
	}
	if f.save == "" {
		if f.scratch, err = os.MkdirTemp("", "missingscore"); err != nil {
			return "", err
		}
		f.save = filepath.Join(f.scratch, "model.json")
	}
	if err := distinctFiles(cmd, output{"out", c.out}, output{"out", c.about()}, output{"save-model", f.save}); err != nil {
		return "", err
	}
	if resume && exists(c.state()) && exists(f.save) {
		return f.save, nil
	}
	fit := &f.fit
	fit.stream.held = true
	fit.out, fit.resume, fit.spec.Steps.Seed, fit.spec.Steps.Workers = f.save, resume, c.seed, c.config.Workers
	fit.tableFlags.formatFlags = c.table.formatFlags
	f.command.SetContext(cmd.Context())
	f.command.SetErr(cmd.ErrOrStderr())
	f.command.SetOut(io.Discard)
	if err := fit.options(f.command); err != nil {
		return "", err
	}
	fit.history = ""
	for _, phase := range []func(*cobra.Command, string) error{fit.load, fit.estimate, fit.write} {
		if err := phase(f.command, table); err != nil {
			return "", asUsage(f.command, err)
		}
	}
	return f.save, nil
}

// discard removes a model that nobody asked for.
func (f *firstFit) discard() {
	if f.scratch != "" {
		_ = os.RemoveAll(f.scratch) // a temporary folder
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return path != "" && err == nil
}

// modelFile tells whether a file is a model rather than a table: whether it begins as
// JSON does.
func modelFile(path string) (bool, error) {
	if path == data.Stdin || atomicfile.Special(path) {
		return false, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	text := bufio.NewReader(file)
	for {
		c, _, err := text.ReadRune()
		if err == io.EOF {
			return false, nil
		}
		if err != nil || !unicode.IsSpace(c) && c != '\ufeff' {
			return c == '{', err
		}
	}
}
