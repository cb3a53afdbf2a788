package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"

	"missingscore/data"
	"missingscore/internal/atomicfile"
	"missingscore/trainers/fitted"
	"missingscore/trainers/replicate"
)

var inputFlags = []string{"like", "table", "domain", "missingness", "missing-by", "truth", "labels", "config"}

// output is a file that a command writes and its flag; an empty path is not written.
type output struct{ flag, path string }

func inFolder(dir string, names ...string) (files []output) {
	for _, name := range names {
		files = append(files, output{"out", filepath.Join(dir, name)})
	}
	return files
}

func distinctFiles(cmd *cobra.Command, outputs ...output) error {
	type use struct{ path, by string }
	var taken []use
	for _, arg := range cmd.Flags().Args() {
		taken = append(taken, use{arg, "the command reads"})
	}
	for _, name := range inputFlags {
		if flag := cmd.Flags().Lookup(name); flag != nil && flag.Value.String() != "" {
			taken = append(taken, use{flag.Value.String(), "--" + name + " reads"})
		}
	}
	for _, out := range outputs {
		if out.path == "" {
			continue
		}
		if flag := cmd.Flags().Lookup(out.flag); flag != nil && flag.Value.String() == data.Stdin {
			return usageError{fmt.Errorf("--%s -: results are files; choose a name", out.flag)}
		}
		for _, t := range taken {
			if sameFile(out.path, t.path) {
				return usageError{fmt.Errorf("--%s: writing %s would overwrite %s, which %s: choose another --%[1]s", out.flag, out.path, t.path, t.by)}
			}
		}
		taken = append(taken, use{out.path, "--" + out.flag + " writes too"})
	}
	return nil
}

func sameFile(a, b string) bool {
	if atomicfile.Special(a) || atomicfile.Special(b) {
		return false
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y) || target(a) == target(b)
}

func target(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	return atomicfile.Target(path)
}

// siblingOf is the path of a file beside another, "" beside a device or a pipe.
func siblingOf(path, name string) string {
	if atomicfile.Special(path) {
		return ""
	}
	return filepath.Join(filepath.Dir(path), name)
}

func ensureDirOf(path string) error {
	if path == "" || atomicfile.Special(path) {
		return nil
	}
	return ensureDir(filepath.Dir(path))
}

func ensureDir(dir string) error {
	if found, err := os.Stat(dir); err == nil && !found.IsDir() {
		return usageError{fmt.Errorf("--out %s is a file; choose a folder", dir)}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("--out %s: %w", dir, err)
	}
	if err := atomicfile.Writable(dir); err != nil {
		return fmt.Errorf("--out %s cannot be written to: %w", dir, err)
	}
	return nil
}

type stages interface {
	options(cmd *cobra.Command, args []string) error // checks flags
	load(cmd *cobra.Command, args []string) error    // reads; it may be abandoned, and must not write results
	outputs() []string                               // files and folders that are locked from here on
	work(cmd *cobra.Command, args []string) error
	write(set *atomicfile.Set, cmd *cobra.Command, args []string) error
	states() []string // files of an interrupted run, which end with the result
	tell(cmd *cobra.Command, took time.Duration) error
}

func climb(cmd *cobra.Command, args []string, s stages) error {
	start := time.Now()
	if err := results(cmd, args, s); err != nil {
		return err
	}
	return s.tell(cmd, time.Since(start))
}

// results takes all stages but tell.
func results(cmd *cobra.Command, args []string, s stages) error {
	if err := s.options(cmd, args); err != nil {
		return asUsage(cmd, err)
	}
	if err := abandonable(cmd.Context(), func() error { return s.load(cmd, args) }); err != nil {
		return asUsage(cmd, err)
	}
	return locked(func() error {
		if err := s.work(cmd, args); err != nil {
			return asUsage(cmd, err)
		}
		if err := commit(func(set *atomicfile.Set) error { return s.write(set, cmd, args) }); err != nil {
			return err
		}
		return removeStates(s.states()...)
	}, s.outputs()...)
}

// removeStates removes the states of an interrupted run; "" stands for no state.
func removeStates(states ...string) (err error) {
	for _, state := range states {
		if state != "" {
			err = cmp.Or(err, atomicfile.Remove(state))
		}
	}
	return err
}

func commit(write func(*atomicfile.Set) error) error {
	var set atomicfile.Set
	defer set.Discard()
	if err := write(&set); err != nil {
		return err
	}
	return set.Commit()
}

const folderLock = ".missingscore.lock"

// locked works while no other run may write to the outputs.
func locked(work func() error, outputs ...string) error {
	for _, out := range outputs {
		if out == "" || atomicfile.Special(out) {
			continue
		}
		at := atomicfile.Target(out)
		at = filepath.Join(filepath.Dir(at), "."+filepath.Base(at)+".lock")
		if info, err := os.Stat(out); err == nil && info.IsDir() {
			at = filepath.Join(out, folderLock)
		}
		one := flock.New(at)
		ours, err := one.TryLock()
		if err == nil && !ours {
			err = errors.New("another run is writing there: wait until it ends, or choose another --out")
		}
		if err != nil && !errors.Is(err, errors.ErrUnsupported) { // a disk without locks
			return fmt.Errorf("--out %s: %w", out, err)
		}
		defer func() { os.Remove(at); one.Close() }()
	}
	return work()
}

// saveShare limits saving to 1/20 of the run's time.
const saveShare = 20

// Tests shorten saveEach, the least time between saves.
var saveEach = time.Second

// resumable is what load finds of an interrupted run, or none, and what saves it now and then.
func resumable[T interface{ Save(path string) error }](
	cmd *cobra.Command, asked bool, path string, none T, load func(path string) (T, error),
) (held T, save func(T) error, err error) {
	last, took := time.Now(), time.Duration(0)
	save = func(state T) error {
		if cmd.Context().Err() == nil && time.Since(last) < max(saveEach, saveShare*took) {
			return nil
		}
		start := time.Now()
		err := state.Save(path)
		last = time.Now()
		took = last.Sub(start)
		return err
	}
	if !asked {
		return none, save, nil
	}
	switch held, err = load(path); {
	case errors.Is(err, os.ErrNotExist):
		fmt.Fprintf(cmd.ErrOrStderr(), "nothing to resume: there is no %s; starting anew\n", path)
		return none, save, nil
	case errors.Is(err, replicate.ErrOtherRun), errors.Is(err, fitted.ErrOtherImputation):
		err = usageError{fmt.Errorf("--resume: %s: %w", path, err)}
	}
	return held, save, err
}

// replicated runs replicates, named by units; their state in --out is kept if it is interrupted.
func replicated[T any](cmd *cobra.Command, f *trainingFlags, units, of, out string, total int, run func(replicate.Config, *replicate.Done[T]) error) error {
	path := filepath.Join(out, stateFile)
	done, save, err := resumable(cmd, f.resume, path, replicate.NewDone[T](of), func(path string) (*replicate.Done[T], error) {
		return replicate.Load[T](path, of)
	})
	if err != nil {
		return err
	}
	bar := newProgress(cmd.ErrOrStderr(), f.verbose)
	err = run(replicate.Config{Workers: f.spec.Steps.Workers,
		Save:    func() error { return save(done) },
		Observe: func(done, total int) { bar.count(cmd.Name(), units, done, total) }}, done)
	bar.finish()
	if errors.Is(err, context.Canceled) {
		return interrupted(fmt.Sprintf("%d of %d %s are saved in %s; repeat the command with --resume", done.Count(), total, units, path))
	}
	return err
}

func parseShard(text string) (i, n int, err error) {
	_, err = fmt.Sscanf(text, "%d/%d", &i, &n)
	wrong := err != nil || text != fmt.Sprintf("%d/%d", i, n) || i < 1 || i > n
	return i, n, obey(rule{text != "" && wrong, fmt.Sprintf("--shard %s: I/N with I from 1 to N is expected, as 2/8", text)})
}

// findShards are the shards in folders, in order; none without folders.
func findShards(pattern string, dirs []string) (paths []string, err error) {
	n, of := 0, map[int]string{}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("--merge: %w", err)
		}
		for _, e := range entries {
			var i, shards int
			if _, err := fmt.Sscanf(e.Name(), pattern, &i, &shards); err != nil || e.Name() != fmt.Sprintf(pattern, i, shards) || i < 1 || i > shards {
				continue
			}
			if n != 0 && shards != n {
				return nil, fmt.Errorf("--merge: there are shards of %d and of %d; remove one set", n, shards)
			}
			n, of[i] = shards, filepath.Join(dir, e.Name())
		}
	}
	const named = 10 // at most, of those that are not there
	var missing []string
	for i := 1; i <= n && len(missing) < named; i++ {
		if paths = append(paths, of[i]); of[i] == "" {
			missing = append(missing, fmt.Sprintf("%d/%d", i, n))
		}
	}
	more := ""
	switch left := n - len(of) - len(missing); {
	case n == 0 && dirs != nil:
		return nil, fmt.Errorf("--merge: there is no file "+pattern+" in %s: run the shards first, as --shard 1/8", 1, 8, strings.Join(dirs, ", "))
	case missing == nil:
		return paths, nil
	case left > 0:
		more = fmt.Sprintf(" and %d more", left)
	}
	return nil, fmt.Errorf("--merge: the files of shards %s%s are missing: run them, or name their folders too", strings.Join(missing, ", "), more)
}
