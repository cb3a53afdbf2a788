// Package filelock keeps a file or a folder for one process: locks that the system takes
// back when their process ends in any way, so that none is ever stale.
package filelock

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// ErrHeld says that another process has the lock, or another part of this one.
var ErrHeld = errors.New("another process has it")

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

// HeldError says which process holds a lock.
type HeldError struct {
	Path    string // of the lock
	Process int    // 0 if it does not say
}

func (e *HeldError) Error() string {
	if e.Process == 0 {
		return "another run is writing there"
	}
	return fmt.Sprintf("another run, process %d, is writing there", e.Process)
}

func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// Hold takes a lock of its own file, which says who has it and is removed on release. A
// process that was killed leaves the file, and the next one takes it over. If another has
// it the error is a *HeldError.
func Hold(path string) (release func(), err error) {
	f, err := open(path, OpenNoLink) // in a folder of everybody's a link could lead anywhere
	if errors.Is(err, ErrHeld) {
		return nil, &HeldError{Path: path, Process: process(path)}
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

// process is the one that a lock's file names, 0 for none.
func process(path string) int {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 32))
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return n
}
