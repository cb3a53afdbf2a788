// Package checkedfile has files that detect any changed bit: a mark, the SHA-256 of the body, and the body by encoding/gob.
package checkedfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"

	"missingscore/internal/atomicfile"
	"missingscore/internal/memory"
)

// ErrBroken says that a file does not begin with its mark, or that its body was changed.
var ErrBroken = errors.New("the file is damaged")

// WriteGob writes v by encoding/gob.
func WriteGob(path, mark string, v any) error {
	var body bytes.Buffer
	if err := gob.NewEncoder(&body).Encode(v); err != nil {
		return err
	}
	sum := sha256.Sum256(body.Bytes())
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := io.Copy(w, io.MultiReader(strings.NewReader(mark), bytes.NewReader(sum[:]), &body))
		return err
	})
}

// ReadGob decodes a file's body of gob into v. It fails with a *memory.Error if factor times the
// size exceeds the memory, and with ErrBroken.
func ReadGob(path, mark string, factor float64, v any) error {
	file, err := memory.ReadFile(path, factor)
	if err != nil {
		return err
	}
	rest, marked := bytes.CutPrefix(file, []byte(mark))
	if !marked || len(rest) < sha256.Size || sha256.Sum256(rest[sha256.Size:]) != [sha256.Size]byte(rest[:sha256.Size]) ||
		gob.NewDecoder(bytes.NewReader(rest[sha256.Size:])).Decode(v) != nil {
		return ErrBroken
	}
	return nil
}

// Parts saves the finished parts of a run, by number. It is safe for concurrent use.
type Parts[T any] struct {
	lock  sync.Mutex
	mark  string
	saved parts[T]
}

type parts[T any] struct {
	Of   string // identifies the run
	Made map[int]T
}

// NewParts returns no parts. mark begins the file; of identifies the run.
func NewParts[T any](mark, of string) *Parts[T] {
	return &Parts[T]{mark: mark, saved: parts[T]{of, map[int]T{}}}
}

func (p *Parts[T]) Count() int {
	p.lock.Lock()
	defer p.lock.Unlock()
	return len(p.saved.Made)
}

func (p *Parts[T]) Get(k int) (made T, ok bool) {
	p.lock.Lock()
	defer p.lock.Unlock()
	made, ok = p.saved.Made[k]
	return made, ok
}

func (p *Parts[T]) Put(k int, made T) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.saved.Made[k] = made
}

func (p *Parts[T]) Save(path string) error {
	p.lock.Lock()
	saved := parts[T]{p.saved.Of, maps.Clone(p.saved.Made)}
	p.lock.Unlock()
	return WriteGob(path, p.mark, saved)
}

const loadFactor = 4

// LoadParts reads a file of Save for the run of. It fails with the error other for another run, and
// with the file's name if it is damaged or has no such parts (what).
func LoadParts[T any](path, mark, of, what string, other error) (*Parts[T], error) {
	p := NewParts[T](mark, of)
	err := ReadGob(path, mark, loadFactor, &p.saved)
	switch {
	case errors.Is(err, ErrBroken):
		return nil, fmt.Errorf("%s is damaged or holds no %s: delete it and start again", path, what)
	case err == nil && p.saved.Of != of:
		return nil, other
	}
	return p, err
}
