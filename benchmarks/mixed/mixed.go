// Package mixed compares networks and imputations of mixed tables with R packages.
package mixed

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/gaps"
	"missingscore/data"
	"missingscore/internal/memory"
)

type Outcome struct {
	exit      int
	Seconds   float64 // processor time
	wall      float64 // elapsed seconds
	megabytes float64 // peak resident set; 0: unknown
	screen    string  // stdout and stderr
}

// Version of missingscore; cells.ErrAbsent if ProgramVariable names no program.
var Version = sync.OnceValues(func() (string, error) {
	out, err := exec.Command(os.Getenv(ProgramVariable), "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%w: set %s to the path of missingscore: %w", cells.ErrAbsent, ProgramVariable, err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line, nil
})

// An exit code other than 0 is not an error.
func run(ctx context.Context, arguments ...string) (o Outcome, err error) {
	command := exec.CommandContext(ctx, os.Getenv(ProgramVariable), arguments...)
	var screen strings.Builder
	command.Stdout, command.Stderr = &screen, &screen
	start := time.Now()
	if err := command.Start(); err != nil {
		return o, err
	}
	done := make(chan error, 1)
	go func() { done <- command.Wait() }()
	for running := true; running; {
		select {
		case err = <-done:
			running = false
		case <-time.After(20 * time.Millisecond):
			if bytes, ok := memory.Resident(strconv.Itoa(command.Process.Pid), "VmHWM"); ok {
				o.megabytes = bytes / (1 << 20)
			}
		}
	}
	if ctx.Err() != nil {
		return o, ctx.Err()
	}
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return o, err
	}
	state := command.ProcessState
	o.exit, o.wall, o.screen = state.ExitCode(), time.Since(start).Seconds(), screen.String()
	o.Seconds = (state.UserTime() + state.SystemTime()).Seconds()
	return o, nil
}

// end returns the last lines of the screen.
func (o Outcome) end(lines int) string {
	all := strings.Split(strings.TrimSpace(o.screen), "\n")
	return strings.Join(all[max(0, len(all)-lines):], " / ")
}

// RunToEnd runs missingscore. An exit code other than 0 or 3 is an error.
func RunToEnd(ctx context.Context, arguments ...string) (Outcome, error) {
	o, err := run(ctx, arguments...)
	if err == nil && o.exit != 0 && o.exit != 3 {
		err = fmt.Errorf("missingscore %s: exit %d: %s", strings.Join(arguments, " "), o.exit, o.end(3))
	}
	return o, err
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
func Kinds(t *data.Table) (words []string) {
	for j := range t.D {
		words = append(words, string(data.KindOf(t, j)))
	}
	return words
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

func seconds(x float64) string { return fmt.Sprintf("%.2f", x) }
