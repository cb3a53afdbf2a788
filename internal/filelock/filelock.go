// Package filelock locks a file or a folder for one process. The system releases the lock when the
// process ends, so no lock is stale.
//
// github.com/gofrs/flock is no substitute: it opens the file itself and keeps the handle private.
// On Windows it locks byte 0, so nobody could write the file through another handle
// (internal/atomicfile does) or read the process id in it.
package filelock

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// ErrHeld says that another process, or another part of this one, has the lock.
var ErrHeld = errors.New("is writing there")

// Open opens a file, creating it if needed, with a lock that lasts until it is closed; others get
// ErrHeld. On a disk without locks it always succeeds.
func Open(path string) (*os.File, error) { return open(path, os.OpenFile) }

func open(path string, by func(string, int, os.FileMode) (*os.File, error)) (*os.File, error) {
	for {
		f, err := by(path, os.O_CREATE|os.O_RDWR, 0o666)
		if err != nil {
			return nil, err
		}
		ours, err := Take(f)
		if ours || err != nil {
			return f, err
		}
		f.Close() // replaced or removed in the meantime
	}
}

// Take locks an open file. ours is false if its path meanwhile leads to another file or none. On
// error the file is closed.
func Take(f *os.File) (ours bool, err error) {
	err = lock(f)
	switch {
	case errors.Is(err, errTaken):
		f.Close()
		return false, ErrHeld
	case err != nil && !errors.Is(err, errors.ErrUnsupported):
		f.Close()
		return false, fmt.Errorf("%s cannot be locked: %w", f.Name(), err)
	}
	mine, err := f.Stat()
	if err != nil {
		f.Close()
		return false, err
	}
	now, err := os.Stat(f.Name())
	return err == nil && os.SameFile(mine, now), nil // a removed file is not ours
}

// Hold creates and locks a file with the process id; release removes it. It takes over the file of
// a killed process. It does not follow links. If another process has the lock, the error wraps
// ErrHeld and gives its process id.
func Hold(path string) (release func(), err error) {
	f, err := open(path, OpenNoLink)
	if errors.Is(err, ErrHeld) {
		text, _ := os.ReadFile(path)
		if id := strings.TrimSpace(string(text)); id != "" {
			return nil, fmt.Errorf("another run, process %s, %w", id, err)
		}
		return nil, fmt.Errorf("another run %w", err)
	}
	if err != nil {
		return nil, err
	}
	if err = f.Truncate(0); err == nil {
		_, err = fmt.Fprintf(f, "%d\n", os.Getpid())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return func() {
		os.Remove(path)
		f.Close()
	}, nil
}
