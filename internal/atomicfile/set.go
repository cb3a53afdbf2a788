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

// Set is several files that are one result: all replace those of an earlier result, or none does.
// Write prepares a file and changes nothing; Commit puts all in place. The last file written is the
// mark of the result: Commit takes the old one away first and puts the new one in place last, so
// that a folder with the mark has the files of one run, even if a process was killed in Commit.
// The zero value is ready for use. A Set is not safe for concurrent use.
type Set struct {
	files []staged
	gone  []string // files of an earlier result that this one does not have
}

// staged is a file that is to be put in place.
type staged struct {
	path string
	temp *os.File // locked until it is in place; nil for a device or a pipe
	text []byte   // for a device or a pipe
}

// Write calls fill on a temporary file beside path, as the function Write does.
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
	s.files = append(s.files, staged{path: path, temp: f})
	w := bufio.NewWriter(f)
	if err = fill(w); err != nil {
		return err
	}
	if err = w.Flush(); err != nil {
		return err
	}
	return f.Sync()
}

// Clear has Commit remove those files of a folder, among names, that were not written.
func (s *Set) Clear(dir string, names []string) {
	for _, name := range names {
		path := filepath.Join(dir, name)
		if !slices.ContainsFunc(s.files, func(f staged) bool { return f.path == Target(path) }) {
			s.gone = append(s.gone, path)
		}
	}
}

// Commit puts the files in place. On an error the earlier result is as it was.
func (s *Set) Commit() error { return s.commit(rename) }

func (s *Set) commit(rename func(from, to string) error) (err error) {
	defer s.Discard()
	var done [][2]string // what was renamed to what
	defer func() {
		for _, names := range slices.Backward(done) {
			if err != nil {
				err = errors.Join(err, rename(names[1], names[0]))
			}
		}
	}()
	move := func(from, to string) error {
		err := rename(from, to)
		if err == nil {
			done = append(done, [2]string{from, to})
		}
		return err
	}
	var old []string
	if len(s.files)+len(s.gone) > 1 { // one file alone is replaced in one step
		if old, err = s.setAside(move); err != nil {
			return err
		}
	}
	for _, f := range s.files {
		if f.temp != nil {
			err = move(f.temp.Name(), f.path)
		} else {
			err = into(f.path, f.text)
		}
		if err != nil {
			return err
		}
	}
	for _, path := range old {
		_ = os.Remove(path) // it is out of the way, and swept when the file is written again
	}
	for _, path := range s.gone {
		_ = sweep(Companion(Target(path), "")) // what killed processes have left of it; the result stands without
	}
	return nil
}

// setAside renames the files of an earlier result to temporary names, its mark first.
func (s *Set) setAside(move func(from, to string) error) (old []string, err error) {
	var paths []string
	for _, f := range slices.Backward(s.files) {
		if f.temp != nil {
			paths = append(paths, f.path)
		}
	}
	for _, path := range append(paths, s.gone...) {
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		case info.IsDir():
			return nil, fmt.Errorf("%s is a folder, and a file of the result has this name: rename the folder", path)
		}
		aside := fmt.Sprintf("%s.%d%s", Companion(path, ""), rand.Uint64(), temporarySuffix)
		if err := move(path, aside); err != nil {
			return nil, err
		}
		old = append(old, aside)
	}
	return old, nil
}

// Discard removes what was prepared and is not in place. After Commit it does nothing.
func (s *Set) Discard() {
	for _, f := range s.files {
		if f.temp != nil {
			os.Remove(f.temp.Name()) // no longer there, if it is in place
			f.temp.Close()           // and with it goes the lock
		}
	}
	s.files, s.gone = nil, nil
}

// into writes a text into a device or a pipe.
func into(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
