package cells

import (
	"errors"
	"fmt"
	"os"

	"missingscore/internal/filelock"
)

// Lock opens a results file, which it makes if need be, for this process alone: until it
// is closed or the process ends in any way, nobody else gets it. On a disk without locks
// everybody does.
func Lock(path string) (*os.File, error) {
	f, err := filelock.Open(path)
	if errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("%s is being written by another run: wait until it ends, or choose another folder", path)
	}
	return f, err
}
