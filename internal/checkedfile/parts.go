package checkedfile

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"sync"
)

// Parts are the finished parts of a run, by number, which is kept in a file: a run that is cut goes
// on from them. It is safe for concurrent use.
type Parts[T any] struct {
	lock  sync.Mutex
	mark  string
	saved parts[T]
}

type parts[T any] struct {
	Of   string // names the run
	Made map[int]T
}

// NewParts holds nothing. mark begins the file, and of names the run.
func NewParts[T any](mark, of string) *Parts[T] {
	return &Parts[T]{mark: mark, saved: parts[T]{of, map[int]T{}}}
}

// Count is how many parts there are.
func (p *Parts[T]) Count() int {
	p.lock.Lock()
	defer p.lock.Unlock()
	return len(p.saved.Made)
}

// Get is part k, if it is there.
func (p *Parts[T]) Get(k int) (made T, ok bool) {
	p.lock.Lock()
	defer p.lock.Unlock()
	made, ok = p.saved.Made[k]
	return made, ok
}

// Put keeps part k.
func (p *Parts[T]) Put(k int, made T) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.saved.Made[k] = made
}

// Save writes the file whole or not at all.
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

// loadFactor is how many times its file parts take while it is read.
const loadFactor = 4

// LoadParts reads what Save wrote of the run that of names. Another's is the error other; a damaged file
// is refused by name, as one without such parts (what), and so is one that needs more memory than may be used.
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
