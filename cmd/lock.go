package cmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"missingscore/internal/atomicfile"
	"missingscore/internal/filelock"
)

// folderLock is the name of the file that keeps a folder for one run.
const folderLock = ".missingscore.lock"

// lock keeps the files and folders that a command writes, which --out names, for this
// process. One that another run writes is refused: the two would mix what they write.
func lock(outputs ...string) (release func(), err error) {
	var locks []func()
	release = func() {
		for _, unlock := range locks {
			unlock()
		}
	}
	for _, out := range outputs {
		if out == "" || atomicfile.Special(out) {
			continue
		}
		at := atomicfile.Companion(atomicfile.Target(out), ".lock")
		if info, err := os.Stat(out); err == nil && info.IsDir() {
			at = filepath.Join(out, folderLock)
		}
		one, err := filelock.Hold(at)
		if err == nil {
			locks = append(locks, one)
			continue
		}
		release()
		if errors.Is(err, filelock.ErrHeld) {
			return nil, fmt.Errorf("--out %s: %w: wait until it ends, or choose another --out", out, err)
		}
		return nil, fmt.Errorf("--out %s: %w", out, err)
	}
	return release, nil
}
