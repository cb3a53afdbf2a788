// Package mixed compares networks and imputations of mixed tables with R packages.
package mixed

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"

	"missingscore/benchmarks/gaps"
	"missingscore/benchmarks/harness"
	"missingscore/data"
)

// Version of missingscore; harness.ErrAbsent if ProgramVariable names no program.
var Version = sync.OnceValues(func() (string, error) {
	out, err := exec.Command(os.Getenv(ProgramVariable), "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%w: set %s to the path of missingscore: %w", harness.ErrAbsent, ProgramVariable, err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line, nil
})

// Run runs missingscore and returns seconds of processor time. An exit code other than 0 or 3 is an
// error.
func Run(ctx context.Context, arguments ...string) (seconds float64, err error) {
	command := exec.CommandContext(ctx, os.Getenv(ProgramVariable), arguments...)
	screen, err := command.CombinedOutput()
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	state := command.ProcessState
	if err != nil && (state == nil || state.ExitCode() != 3) {
		lines := strings.Split(strings.TrimSpace(string(screen)), "\n")
		return 0, fmt.Errorf("missingscore %s: %w: %s", strings.Join(arguments, " "), err, strings.Join(lines[max(0, len(lines)-3):], " / "))
	}
	return (state.UserTime() + state.SystemTime()).Seconds(), nil
}

const Unknown = "-"

// ProgramVariable has the path of missingscore.
const ProgramVariable = "MISSINGSCORE_PROGRAM"

// Write writes a CSV file with the names of levels and empty missing cells.
func Write(path string, t *data.Table) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := csv.NewWriter(f)
	if err := w.Write(t.Names); err != nil {
		return err
	}
	for i := range t.N {
		row := make([]string, t.D)
		for j := range row {
			k := i*t.D + j
			switch levels := data.Coded(t, j); {
			case !t.Observed[k]:
			case levels != nil:
				row[j] = levels[int(t.Values[k])]
			default:
				row[j] = strconv.FormatFloat(t.Values[k], 'g', -1, 64)
			}
		}
		if err := w.Write(row); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// Codes returns levels as 0, 1, …
func Codes(t *data.Table) *data.Table {
	c := *t
	c.Kinds, c.Levels = nil, nil
	return &c
}

// Kinds returns the kinds of columns as the R scripts take them.
func Kinds(t *data.Table) string {
	var words []string
	for j := range t.D {
		words = append(words, string(data.KindOf(t, j)))
	}
	return strings.Join(words, ",")
}

// Hide hides cells; levels count as 0, 1, … in the law.
func Hide(law gaps.Law, t *data.Table, seed uint64) (*data.Table, error) {
	hidden, err := law.Hide(Codes(t), seed)
	if err != nil {
		return nil, err
	}
	hidden.Kinds, hidden.Levels = slices.Clone(t.Kinds), slices.Clone(t.Levels)
	return hidden, nil
}
