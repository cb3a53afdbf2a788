package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

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
