//go:build unix

package filelock

import (
	"os"
	"syscall"
)

// errTaken is the system's error for a lock that is taken.
const errTaken = syscall.EWOULDBLOCK

// lock locks the whole file, or fails immediately.
func lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// OpenNoLink is os.OpenFile that refuses symbolic links. The file can be renamed and removed while
// it is open.
func OpenNoLink(path string, flag int, mode os.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag|syscall.O_NOFOLLOW, mode)
}
