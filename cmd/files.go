package cmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"missingscore/data"
	"missingscore/internal/atomicfile"
)

// inputFlags are those of any command that name a file to read.
var inputFlags = []string{"like", "table", "domain", "missingness", "missing-by", "truth", "labels"}

// output is a file that a command writes, and the flag that says where. No path: it is not
// written.
type output struct{ flag, path string }

// inFolder are the files of a folder that --out names.
func inFolder(dir string, names ...string) (files []output) {
	for _, name := range names {
		files = append(files, output{"out", filepath.Join(dir, name)})
	}
	return files
}

// distinctFiles refuses to write over what the command reads, arguments and inputFlags, and to
// write one file twice.
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
			return usageError{fmt.Errorf("--%s -: results are files, and - names none: choose a name", out.flag)}
		}
		if _, err := os.Lstat(out.path); errors.Is(err, syscall.ENAMETOOLONG) {
			return usageError{fmt.Errorf("--%s: the name %s is too long for the file system: choose a shorter one", out.flag, filepath.Base(out.path))}
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

// sameFile tells whether two paths are one file, be it there yet or not. Devices and pipes
// have no content to overwrite.
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

// siblingOf is the path of a file beside another, none beside a device or a pipe.
func siblingOf(path, name string) string {
	if atomicfile.Special(path) {
		return ""
	}
	return filepath.Join(filepath.Dir(path), name)
}

// ensureDirOf creates the folder of an output file.
func ensureDirOf(path string) error {
	if path == "" || atomicfile.Special(path) {
		return nil
	}
	if _, err := os.Readlink(path); err == nil && !exists(filepath.Dir(atomicfile.Target(path))) {
		to := atomicfile.Target(path)
		return usageError{fmt.Errorf("--out: %s is a link to %s, whose folder does not exist: make that folder, or choose another --out", path, to)}
	}
	return ensureDir(filepath.Dir(path))
}

// ensureDir creates the output folder.
func ensureDir(dir string) error {
	if found, err := os.Stat(dir); err == nil && !found.IsDir() {
		return usageError{fmt.Errorf("--out %s is a file, and a folder is expected: choose another --out", dir)}
	}
	for above := dir; above != filepath.Dir(above); above = filepath.Dir(above) {
		if to, err := os.Readlink(above); err == nil && !exists(above) {
			return usageError{fmt.Errorf("--out: %s is a link to %s, which does not exist: make that folder, or choose another --out", above, to)}
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("--out %s: %w", dir, err)
	}
	if err := atomicfile.Writable(dir); err != nil {
		return fmt.Errorf("--out %s cannot be written to: %w", dir, err)
	}
	return nil
}
