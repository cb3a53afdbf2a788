// Package filelock locks a file or a folder for one process. The system releases the lock when
// the process ends in any way, so no lock is ever stale.
//
// github.com/gofrs/flock is no substitute: it opens the file itself and keeps the handle
// private. On Windows it locks byte 0, so nobody could write the file through another handle
// (internal/atomicfile does) or read the process id in it.
package filelock

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// ErrHeld is the error where another process has the lock, or another part of this one.
var ErrHeld = errors.New("is writing there")

// Open opens a file, which it makes if need be, for this process alone: until it is
// closed or the process ends, others get ErrHeld. On a disk without locks everybody gets it.
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
		f.Close() // another process replaced or removed the file in the meantime
	}
}

// Take locks an open file. It is not ours if its path leads to another file, or to none, by
// now. After an error the file is closed.
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
	return err == nil && os.SameFile(mine, now), nil // gone is not ours
}

// Hold locks a file of its own, which holds the process id and is removed on release. A
// killed process leaves the file, and the next one takes it over. It follows no link. If
// another process has the lock, the error is ErrHeld with that process's id.
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
