// Package atomicfile writes files whole or not at all, one alone or several as one result.
package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write calls fill on a temporary file beside path and renames it to path when
// fill succeeds; on any error the file at path stays as it was. Symbolic links stay,
// what they lead to is written; devices and pipes are written into. A file that was there
// keeps its mode, a new one gets that of the process (umask).
func Write(path string, fill func(io.Writer) error) error {
	var s Set
	defer s.Discard()
	if err := s.Write(path, fill); err != nil {
		return err
	}
	return s.Commit()
}

// Special tells whether path leads to a device, a pipe or the like: nothing that could
// be replaced, or have files beside it.
func Special(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// Target is where path leads through symbolic links, be it there yet or not.
func Target(path string) string {
	found, err := filepath.EvalSymlinks(path)
	dir := filepath.Dir(path)
	switch {
	case err == nil:
		return found
	case !errors.Is(err, fs.ErrNotExist) || dir == path:
		return path
	}
	path = filepath.Join(Target(dir), filepath.Base(path))
	link, err := os.Readlink(path)
	if err != nil {
		return path
	}
	if !filepath.IsAbs(link) {
		link = filepath.Join(filepath.Dir(path), link)
	}
	return Target(link)
}

// Remove removes a file, if it is there, with the temporary files that killed processes have left
// of it.
func Remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return sweep(Companion(Target(path), ""))
}

// Writable fails where no file can be made in a folder.
func Writable(dir string) error {
	f, err := temporary(filepath.Join(dir, "writable"))
	if err != nil {
		return err
	}
	return errors.Join(os.Remove(f.Name()), f.Close())
}
