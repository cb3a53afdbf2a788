package main

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// entry is a file of an archive.
type entry struct {
	name    string // with slashes, below the archive's folder
	content []byte
	program bool // it can be run
}

func (e entry) mode() os.FileMode {
	if e.program {
		return 0o755
	}
	return 0o644
}

// sorted puts entries in the order of their names.
func sorted(entries []entry) []entry {
	return slices.SortedFunc(slices.Values(entries), func(a, b entry) int { return strings.Compare(a.name, b.name) })
}

// packTar writes a .tar.gz of one folder. Its bytes depend on its arguments alone: every file
// is of the same time, owner and group.
func packTar(w io.Writer, folder string, at time.Time, entries []entry) error {
	packed := gzip.NewWriter(w)
	archive := tar.NewWriter(packed)
	for _, e := range sorted(entries) {
		head := &tar.Header{Typeflag: tar.TypeReg, Name: folder + "/" + e.name, Size: int64(len(e.content)), Mode: int64(e.mode()), ModTime: at, Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(head); err != nil {
			return err
		}
		if _, err := archive.Write(e.content); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), packed.Close())
}

// packZip is packTar for .zip.
func packZip(w io.Writer, folder string, at time.Time, entries []entry) error {
	archive := zip.NewWriter(w)
	for _, e := range sorted(entries) {
		head := &zip.FileHeader{Name: folder + "/" + e.name, Method: zip.Deflate, Modified: at}
		head.SetMode(e.mode())
		file, err := archive.CreateHeader(head)
		if err != nil {
			return err
		}
		if _, err := file.Write(e.content); err != nil {
			return err
		}
	}
	return archive.Close()
}

// writeSums writes SHA256SUMS, which sha256sum -c reads.
func writeSums(dir string, names []string) error {
	return writeFile(filepath.Join(dir, "SHA256SUMS"), func(w io.Writer) error {
		for _, name := range slices.Sorted(slices.Values(names)) {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(w, "%x  %s\n", sha256.Sum256(text), name); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeFile makes a file, and leaves none that is not whole.
func writeFile(path string, fill func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	if err = errors.Join(fill(w), w.Flush(), f.Close()); err != nil {
		os.Remove(path)
	}
	return err
}
