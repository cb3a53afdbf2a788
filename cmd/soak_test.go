//go:build unix

package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"missingscore/internal/fuzztest"
	"missingscore/internal/memory"
	"missingscore/internal/stream"
)

var (
	soakRuns = flag.Int("soak", 3, "how many runs the soak makes")
	soakFrom = flag.Uint64("soak-from", 1, "the seed of the first; each run has the next one")
)

// soaked are the figures of a soak: what became of so many processes.
type soaked struct {
	Runs        int            `json:"runs"`
	Codes       map[string]int `json:"exit_codes"`
	Slow        int            `json:"slow"`         // ended after soakLimit, without a verdict
	Killed      int            `json:"killed"`       // processes, by SIGKILL, at random moments
	KilledSaved int            `json:"killed_saved"` // of them when a state had been saved
	Resumed     int            `json:"resumed"`      // killed runs whose last process went on from a state to the end
	Anew        int            `json:"begun_anew"`   // killed runs whose last process found no state, and began anew
	Uncut       int            `json:"uncut"`        // runs that ended before they could be killed
	Differences int            `json:"differences"`  // runs made again whose files are not those of the run never cut
	Unplain     int            `json:"unplain"`      // messages with words of a programmer
	Leaks       int            `json:"leaks"`        // temporary files or locks left behind by runs that ended
	Peak        int            `json:"peak_mb"`      // of memory, of any process
	Faults      []string       `json:"faults"`
}

const (
	soakLimit  = 20 * time.Second
	soakMemory = 300e6 // bytes that each process may use
	soakAbove  = 400e6 // what the program itself and rubbish not yet collected may add
)

// Each run has a random table and random flags by its seed, in a process of its own. Runs that
// write results are killed at random moments, resumed, and compared with a run never cut. A
// longer one:
//
//	go test ./cmd -run Soak -soak 1000 -soak-from 41 -timeout 0
func TestSoak(t *testing.T) {
	t.Parallel()
	s := &soaked{Codes: map[string]int{}}
	for seed := *soakFrom; seed < *soakFrom+uint64(*soakRuns); seed++ {
		if err := s.run(t, seed); err != nil {
			s.Faults = append(s.Faults, fmt.Sprintf("seed %d: %v", seed, err))
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	text, err := json.MarshalIndent(s, "", "  ")
	require.NoError(t, err)
	t.Logf("%s", text)
}

// ended is a process that did.
type ended struct {
	code           int
	stdout, stderr string
	took           time.Duration
	slow           bool
}

// process runs the program in a folder; after killAfter, if that is positive, it is killed.
func (s *soaked) process(t *testing.T, dir string, line []string, killAfter time.Duration) (e ended) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := exec.Command("missingscore", line...)
	c.Dir, c.Stdout, c.Stderr = dir, &stdout, &stderr
	c.Env = append(os.Environ(), memory.Variable+"="+strconv.Itoa(int(soakMemory))+"B", saveEachVariable+"=2ms") // most runs take less than the second after which users' runs save first
	begin := time.Now()
	require.NoError(t, c.Start())
	limit := soakLimit
	if killAfter > 0 {
		limit = killAfter
	}
	timer := time.AfterFunc(limit, func() { _ = c.Process.Kill() })
	peak, err := waitPeak(c)
	cut := !timer.Stop()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	s.Peak = max(s.Peak, int(peak/(1<<20)))
	e = ended{c.ProcessState.ExitCode(), stdout.String(), stderr.String(), time.Since(begin), cut && killAfter == 0}
	if cut && killAfter > 0 && e.code == -1 {
		s.Killed++
	}
	return e
}

// run makes the run of a seed and says what is wrong with it.
func (s *soaked) run(t *testing.T, seed uint64) error {
	dir, rng := t.TempDir(), stream.New(seed)
	randomFiles(t, dir, rng)
	line := randomLine(rng)
	s.Runs++
	e := s.process(t, dir, line, 0)
	if e.slow {
		s.Slow++
		return nil
	}
	s.Codes[strconv.Itoa(e.code)]++
	if err := s.judge(t, dir, line, e); err != nil {
		return fmt.Errorf("%w (missingscore %q)", err, line)
	}
	resumable := slices.Contains([]string{"network", "fit", "compare", "power"}, line[0]) && !slices.ContainsFunc(line, func(w string) bool {
		return w == "--resume" || strings.HasPrefix(w, "--shard") || strings.HasPrefix(w, "--merge") || strings.HasPrefix(w, "--out=complete")
	})
	if (e.code != exitDone && e.code != exitUnconverged) || !resumable {
		return nil
	}
	if err := s.killed(t, dir, line, e, rng); err != nil {
		return fmt.Errorf("killed and resumed: %w (missingscore %q)", err, line)
	}
	return nil
}

// judge looks at what a process that ended has said and left.
func (s *soaked) judge(t *testing.T, dir string, line []string, e ended) error {
	if !slices.Contains([]int{exitDone, exitError, exitUsage, exitUnconverged}, e.code) {
		return fmt.Errorf("exit code %d: %s", e.code, e.stderr)
	}
	if word := fuzztest.Unknown(e.stderr, line...); word != "" {
		s.Unplain++
		return fmt.Errorf("a message with %q: %s", word, e.stderr)
	}
	if names := left(t, dir); len(names) > 0 {
		s.Leaks++
		return fmt.Errorf("left behind: %v", names)
	}
	if slices.Contains(line, "--json") && e.code != exitUsage && !json.Valid([]byte(e.stdout)) {
		return fmt.Errorf("--json printed no JSON: %s", e.stdout)
	}
	if s.Peak > (soakMemory+soakAbove)/1e6 {
		return fmt.Errorf("a process took %d MB, and %s is %g MB", s.Peak, memory.Variable, soakMemory/1e6)
	}
	return nil
}

// killed makes the run again in another folder, kills it at random moments, up to four times,
// takes it up each time where a state is there, and else begins it anew, and compares what it
// leaves with the first folder's.
func (s *soaked) killed(t *testing.T, dir string, line []string, whole ended, rng *rand.Rand) error {
	again := t.TempDir()
	for _, e := range must(os.ReadDir(dir)) {
		if _, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && made(e.Name()) {
			require.NoError(t, os.Rename(filepath.Join(dir, e.Name()), filepath.Join(again, e.Name())))
		}
	}
	const kills = 4
	var last ended
	saved, killed := false, 0
	for k := range kills + 1 {
		after := max(time.Millisecond, time.Duration(rng.Float64()*1.1*float64(whole.took)))
		if k == kills {
			after = 0
		}
		words := line
		if saved = hasState(t, dir); saved {
			words = slices.Concat(line, []string{"--resume"})
		}
		if last = s.process(t, dir, words, after); last.code != -1 || after == 0 {
			break
		}
		killed++
		if hasState(t, dir) {
			s.KilledSaved++
		}
	}
	if last.slow {
		s.Slow++
		return nil
	}
	switch {
	case saved:
		s.Resumed++
	case killed > 0:
		s.Anew++
	default:
		s.Uncut++
	}
	return s.compare(t, dir, again, line, whole, last, saved)
}

// compare looks at what a run made again has said and left, by the folder of one never cut.
func (s *soaked) compare(t *testing.T, dir, again string, line []string, whole, last ended, saved bool) error {
	if last.code != whole.code {
		return fmt.Errorf("exit code %d in place of %d: %s", last.code, whole.code, last.stderr)
	}
	if saved && strings.Contains(last.stderr, "nothing to resume") {
		return fmt.Errorf("a state was there, and was not taken up: %s", last.stderr)
	}
	if err := s.judge(t, dir, line, last); err != nil {
		return err
	}
	if hasState(t, dir) {
		s.Leaks++
		return errors.New("a state is left behind by a run that ended")
	}
	if difference := differing(t, again, dir); difference != "" {
		s.Differences++
		return errors.New(difference)
	}
	return nil
}

// hasState says that a run has saved its state in a folder, to be taken up.
func hasState(t *testing.T, dir string) (found bool) {
	require.NoError(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		found = found || err == nil && stateName.MatchString(filepath.Base(path))
		return err
	}))
	return found
}

// stateName is the name of a state in a folder, or beside a file.
var stateName = regexp.MustCompile(`^state(-[ab])?\.bin$|\.state$`)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// made says that a file or folder is one that a run makes.
func made(name string) bool {
	return !slices.Contains(append([]string{"bad.csv", "empty.csv", "domain.json", "missingness.json", "truth.csv", "groups.csv", "model.json", "kept.csv", "gaps.xlsx", "gaps.parquet", "gaps.feather"}, "complete.csv", "gaps.csv", "positive.csv", "ordered.csv"), name)
}

// ofTheRun are numbers of files that are times, and what tells of the run and not of the result.
var ofTheRun = regexp.MustCompile(`"(seconds|resumed|command)":\s*("[^"]*"|[^,}\n]*)|[0-9.]+ s\b|--resume|in [0-9.]+ (seconds|minutes)`)

// differing names the first file of a folder that another has not or has otherwise.
func differing(t *testing.T, want, got string) (difference string) {
	require.NoError(t, filepath.WalkDir(want, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || difference != "" {
			return err
		}
		name := must(filepath.Rel(want, path))
		text, err := os.ReadFile(filepath.Join(got, name))
		if err != nil {
			difference = name + " is not there"
			return nil
		}
		if filepath.Base(name) != "state.bin" && !bytes.Equal(ofTheRun.ReplaceAll(must(os.ReadFile(path)), nil), ofTheRun.ReplaceAll(text, nil)) {
			difference = name + " has other bytes"
		}
		return nil
	}))
	return difference
}
