//go:build unix

package filelock

import (
	"os"
	"syscall"
)

// errTaken says that somebody else has the lock.
const errTaken = syscall.EWOULDBLOCK

// lock takes the whole file, or fails at once.
func lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// OpenNoLink is os.OpenFile, but for symbolic links, which it refuses. The file can be renamed
// and removed while it is open.
func OpenNoLink(path string, flag int, mode os.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag|syscall.O_NOFOLLOW, mode)
}
