// Package checkedfile is the form of files in which every bit is as it was written, or the file is
// refused: a mark, which says what the file is, the checksum (SHA-256) of the body, and the body.
package checkedfile

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"strings"

	"missingscore/internal/atomicfile"
	"missingscore/internal/memory"
)

// ErrUnmarked says that a file does not begin with its mark.
var ErrUnmarked = errors.New("the file does not begin with its mark")

// ErrDamaged says that a file's body is not what was written.
var ErrDamaged = errors.New("the file's checksum does not match its body")

// Seal gives the bytes of a file.
func Seal(mark string, body []byte) []byte {
	sum := sha256.Sum256(body)
	return bytes.Join([][]byte{[]byte(mark), sum[:], body}, nil)
}

// Open gives the body in a file's bytes. The error is ErrUnmarked or ErrDamaged.
func Open(mark string, file []byte) (body []byte, err error) {
	rest, marked := bytes.CutPrefix(file, []byte(mark))
	if !marked {
		return nil, ErrUnmarked
	}
	if len(rest) < sha256.Size || sha256.Sum256(rest[sha256.Size:]) != [sha256.Size]byte(rest[:sha256.Size]) {
		return nil, ErrDamaged
	}
	return rest[sha256.Size:], nil
}

// Write writes a file, whole or not at all.
func Write(path, mark string, body []byte) error {
	sum := sha256.Sum256(body)
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := io.Copy(w, io.MultiReader(strings.NewReader(mark), bytes.NewReader(sum[:]), bytes.NewReader(body)))
		return err
	})
}

// Read gives the body of a file whose use takes factor times its size. It refuses one for which
// that is too much memory (a *memory.Error); other errors are those of Open and of the system.
func Read(path, mark string, factor float64) (body []byte, err error) {
	file, err := memory.ReadFile(path, factor)
	if err != nil {
		return nil, err
	}
	return Open(mark, file)
}

// Broken tells whether an error of Read is the fault of what the file holds.
func Broken(err error) bool { return errors.Is(err, ErrUnmarked) || errors.Is(err, ErrDamaged) }
