// Package atomicfile writes files atomically, one alone or several as one result.
package atomicfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// Write calls fill on a temporary file beside path and renames it to path; on error the file at path
// is unchanged. It follows symbolic links, writes into devices and pipes, and keeps an existing mode.
func Write(path string, fill func(io.Writer) error) error {
	var s Set
	defer s.Discard()
	if err := s.Write(path, fill); err != nil {
		return err
	}
	return s.Commit()
}

// Special reports whether path leads to a device, a pipe or the like, which cannot be replaced.
func Special(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// Target resolves symbolic links in path; the target need not exist.
func Target(path string) string {
	if found, err := filepath.EvalSymlinks(path); err == nil {
		return found
	}
	dir := filepath.Dir(path)
	if found, err := filepath.EvalSymlinks(dir); err == nil {
		dir = found
	}
	return filepath.Join(dir, filepath.Base(path))
}

// Remove removes a file, if it is there.
func Remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Writable fails if no file can be created in a folder.
func Writable(dir string) error {
	f, err := temporary(filepath.Join(dir, "result"))
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), Remove(f.Name()))
}

// Set writes several files as one result. The last file written marks the result: Commit removes
// the old mark first and puts the new one in place last, so a folder with the mark has the files of
// one run, even after a crash. A Set is not safe for concurrent use.
type Set struct {
	files []staged
	gone  []string // files of an earlier result that this one does not have
}

type staged struct {
	path string
	temp string // "" for a device or a pipe
	text []byte // for a device or a pipe
}

// Write prepares a file: it calls fill on a temporary file beside path.
func (s *Set) Write(path string, fill func(io.Writer) error) (err error) {
	if Special(path) {
		var text bytes.Buffer
		if err := fill(&text); err != nil {
			return err
		}
		s.files = append(s.files, staged{path: path, text: text.Bytes()})
		return nil
	}
	path = Target(path)
	f, err := temporary(path)
	if err != nil {
		return err
	}
	s.files = append(s.files, staged{path: path, temp: f.Name()})
	w := bufio.NewWriter(f)
	if err = fill(w); err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	return naming(path, errors.Join(err, f.Close()))
}

// naming replaces the name of a temporary file.
func naming(path string, err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return &fs.PathError{Op: failed.Op, Path: path, Err: failed.Err}
	}
	return err
}

// Clear makes Commit remove the files of a folder, among names, that were not written.
func (s *Set) Clear(dir string, names []string) {
	for _, name := range names {
		path := filepath.Join(dir, name)
		if !slices.ContainsFunc(s.files, func(f staged) bool { return f.path == Target(path) }) {
			s.gone = append(s.gone, path)
		}
	}
}

// Commit puts the files in place.
func (s *Set) Commit() error { return s.commit(os.Rename) }

func (s *Set) commit(rename func(from, to string) error) error {
	defer s.Discard()
	if len(s.files) == 0 {
		return nil
	}
	paths := slices.Clone(s.gone)
	for _, f := range s.files {
		paths = append(paths, f.path)
	}
	for _, path := range paths {
		if info, err := os.Lstat(path); err == nil && info.IsDir() {
			return fmt.Errorf("%s is a folder, but the result needs a file with this name: rename the folder", path)
		}
	}
	if mark := s.files[len(s.files)-1]; len(paths) > 1 && mark.temp != "" { // a single file is replaced in one step
		if err := Remove(mark.path); err != nil {
			return err
		}
	}
	for _, path := range s.gone {
		if err := Remove(path); err != nil {
			return err
		}
	}
	for _, f := range s.files {
		var err error
		if f.temp != "" {
			err = rename(f.temp, f.path)
		} else {
			err = os.WriteFile(f.path, f.text, 0o666)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Discard removes prepared files that are not in place. After Commit it does nothing.
func (s *Set) Discard() {
	for _, f := range s.files {
		if f.temp != "" {
			os.Remove(f.temp) // gone if it is in place
		}
	}
	s.files, s.gone = nil, nil
}

func temporary(path string) (*os.File, error) {
	mode, replaced := os.FileMode(0o666), false
	if info, err := os.Stat(path); err == nil {
		mode, replaced = info.Mode().Perm(), true
	}
	name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".missingscore.%d.tmp", rand.Uint64()))
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	err = naming(path, err)
	if err == nil && replaced { // umask applies to new files only
		if err = f.Chmod(mode); err != nil {
			f.Close()
			os.Remove(name)
		}
	}
	return f, err
}
