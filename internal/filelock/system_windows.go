package filelock

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// errTaken is the system's error for a lock that is taken.
const errTaken = windows.ERROR_LOCK_VIOLATION

// lock locks one byte far behind the end, or fails immediately. Locked bytes are unreadable on
// Windows, and the process id must stay readable.
func lock(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
}

// OpenNoLink is os.OpenFile that refuses symbolic links. The file can be renamed and removed while
// it is open, which os.Root allows and os.OpenFile does not.
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
