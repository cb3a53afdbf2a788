// Package checkedfile has files that detect any changed bit: a mark, the SHA-256 of the body, and the body.
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

// ErrDamaged says that a file's body was changed.
var ErrDamaged = errors.New("the file's checksum does not match its body")

func Seal(mark string, body []byte) []byte {
	sum := sha256.Sum256(body)
	return bytes.Join([][]byte{[]byte(mark), sum[:], body}, nil)
}

// Open returns the body of a file's bytes. It fails with ErrUnmarked or ErrDamaged.
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

func Write(path, mark string, body []byte) error {
	sum := sha256.Sum256(body)
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := io.Copy(w, io.MultiReader(strings.NewReader(mark), bytes.NewReader(sum[:]), bytes.NewReader(body)))
		return err
	})
}

// Read fails with a *memory.Error if factor times the size exceeds the memory, and as Open.
func Read(path, mark string, factor float64) (body []byte, err error) {
	file, err := memory.ReadFile(path, factor)
	if err != nil {
		return nil, err
	}
	return Open(mark, file)
}

func Broken(err error) bool { return errors.Is(err, ErrUnmarked) || errors.Is(err, ErrDamaged) }
