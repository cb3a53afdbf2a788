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

// hold keeps the files and folders that a command writes, which --out names, for this
// process. One that another run writes is refused: the two would mix what they write.
func hold(outputs ...string) (release func(), err error) {
	var held []func()
	release = func() {
		for _, f := range held {
			f()
		}
	}
	for _, out := range outputs {
		if out == "" || atomicfile.Special(out) {
			continue
		}
		lock := atomicfile.Companion(atomicfile.Target(out), ".lock")
		if info, err := os.Stat(out); err == nil && info.IsDir() {
			lock = filepath.Join(out, folderLock)
		}
		one, err := filelock.Hold(lock)
		if err == nil {
			held = append(held, one)
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
