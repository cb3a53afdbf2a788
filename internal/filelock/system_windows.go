package filelock

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// errTaken says that somebody else has the lock.
const errTaken = windows.ERROR_LOCK_VIOLATION

// lock takes one byte far behind the end, or fails at once: nobody else can read what is
// locked here, and the number of the process is to be read.
func lock(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
}

// OpenNoLink is os.OpenFile, but refuses symbolic links. The file can be renamed and removed
// while it is open: os.Root opens files so, os.OpenFile does not.
func OpenNoLink(path string, flag int, mode os.FileMode) (*os.File, error) {
	folder, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	f, err := folder.OpenFile(filepath.Base(path), flag, mode)
	if err != nil {
		return nil, err
	}
	if info, err := folder.Lstat(filepath.Base(path)); err == nil && info.Mode()&os.ModeSymlink != 0 {
		f.Close()
		return nil, &os.PathError{Op: "open", Path: path, Err: windows.ERROR_CANT_ACCESS_FILE}
	}
	return f, nil
}
