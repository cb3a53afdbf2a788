package checkedfile

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"sync"
)

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
