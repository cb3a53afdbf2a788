package mixed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"missingscore/benchmarks/cells"
	"missingscore/internal/memory"
)

// outcome is what a run of missingscore came to.
type outcome struct {
	exit      int
	seconds   float64 // of processor time
	wall      float64 // seconds by the clock
	megabytes float64 // the most that was resident; 0 where the system does not tell
	screen    string  // what it printed
}

// program is the version of the program that ProgramVariable names. It fails with cells.ErrAbsent if
// there is none.
var program = sync.OnceValues(func() (string, error) {
	out, err := exec.Command(os.Getenv(ProgramVariable), "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%w: name the program missingscore by the environment variable %s: %w", cells.ErrAbsent, ProgramVariable, err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line, nil
})

// run runs the program with these arguments.
func run(ctx context.Context, arguments ...string) (o outcome, err error) {
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
	o.seconds = (state.UserTime() + state.SystemTime()).Seconds()
	return o, nil
}

// end is the last lines of the screen as one line.
func (o outcome) end(lines int) string {
	all := strings.Split(strings.TrimSpace(o.screen), "\n")
	return strings.Join(all[max(0, len(all)-lines):], " / ")
}

// finished fails unless the program ended with results.
func (o outcome) finished(arguments ...string) error {
	if o.exit == 0 || o.exit == 3 {
		return nil
	}
	return fmt.Errorf("missingscore %s: exit %d: %s", strings.Join(arguments, " "), o.exit, o.end(3))
}
