// Package checkedfile has files that detect any changed bit: a mark, the SHA-256 of the body, and the body.
package checkedfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

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
	var body bytes.Buffer
	p.lock.Lock()
	err := gob.NewEncoder(&body).Encode(p.saved)
	p.lock.Unlock()
	if err != nil {
		return err
	}
	return Write(path, p.mark, body.Bytes())
}

const loadFactor = 4

// LoadParts reads a file of Save for the run of. It fails with the error other for another run, and
// with the file's name if it is damaged or has no such parts (what).
func LoadParts[T any](path, mark, of, what string, other error) (*Parts[T], error) {
	p := NewParts[T](mark, of)
	body, err := Read(path, mark, loadFactor)
	if err != nil && !Broken(err) {
		return nil, err
	}
	if err == nil {
		err = gob.NewDecoder(bytes.NewReader(body)).Decode(&p.saved)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s is damaged or holds no %s: delete it and start again", path, what)
	case p.saved.Of != of:
		return nil, other
	}
	return p, nil
}
