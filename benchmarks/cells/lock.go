package cells

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Lock opens a results file, which it makes if need be, for this process alone: until it
// is closed or the process ends in any way, nobody else gets it. On a disk without locks
// everybody does.
func Lock(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return nil, err
		}
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != nil && !errors.Is(err, errors.ErrUnsupported) {
			f.Close()
			if errors.Is(err, syscall.EWOULDBLOCK) {
				return nil, fmt.Errorf("%s is being written by another run: wait until it ends, or choose another folder", path)
			}
			return nil, fmt.Errorf("%s cannot be locked: %w", path, err)
		}
		mine, err := f.Stat()
		if err != nil {
			f.Close()
			return nil, err
		}
		if now, err := os.Stat(path); err == nil && os.SameFile(mine, now) {
			return f, nil
		}
		f.Close() // another run replaced the file in the meantime
	}
}
