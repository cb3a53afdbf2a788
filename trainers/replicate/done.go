package replicate

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/checkedfile"
)

// Done are the finished replicates of a run, by number. It is safe for several workers.
type Done[T any] struct {
	lock sync.Mutex
	of   string
	made map[int]T
}

// NewDone holds nothing. of names the run: tables and settings; see Identity.
func NewDone[T any](of string) *Done[T] { return &Done[T]{of: of, made: map[int]T{}} }

// Count is how many replicates are done.
func (d *Done[T]) Count() int {
	d.lock.Lock()
	defer d.lock.Unlock()
	return len(d.made)
}

func (d *Done[T]) get(k int) (made T, ok bool) {
	d.lock.Lock()
	defer d.lock.Unlock()
	made, ok = d.made[k]
	return made, ok
}

func (d *Done[T]) put(k int, made T) {
	d.lock.Lock()
	defer d.lock.Unlock()
	d.made[k] = made
}

// first are replicates 0 … total−1, all of which are done.
func (d *Done[T]) first(total int) (out []T) {
	for k := range total {
		made, _ := d.get(k)
		out = append(out, made)
	}
	return out
}

// doneFile is the body of what Save writes.
type doneFile[T any] struct {
	Of   string
	Made map[int]T
}

// doneMark begins a file of replicates (checkedfile).
const doneMark = "missingscore replicates 1\n"

// loadFactor is how many times its file replicates take while it is read.
const loadFactor = 4

// ErrOtherRun says that saved replicates are of another run.
var ErrOtherRun = errors.New("what is saved belongs to other tables or other settings: use the same, or start again without resuming")

// Save writes the file whole or not at all.
func (d *Done[T]) Save(path string) error {
	var body bytes.Buffer
	d.lock.Lock()
	err := gob.NewEncoder(&body).Encode(doneFile[T]{d.of, d.made})
	d.lock.Unlock()
	if err != nil {
		return err
	}
	return checkedfile.Write(path, doneMark, body.Bytes())
}

// Load reads what Save wrote of the run that of names. Another's is ErrOtherRun, a file
// in which a single bit is not as it was written is refused by name.
func Load[T any](path, of string) (*Done[T], error) {
	damaged := fmt.Errorf("%s is damaged or holds no saved replicates: delete it and start again", path)
	body, err := checkedfile.Read(path, doneMark, loadFactor)
	switch {
	case checkedfile.Broken(err):
		return nil, damaged
	case err != nil:
		return nil, err
	}
	var f doneFile[T]
	if err := gob.NewDecoder(bytes.NewReader(body)).Decode(&f); err != nil {
		return nil, damaged
	}
	if f.Of != of {
		return nil, ErrOtherRun
	}
	d := NewDone[T](of)
	for k, made := range f.Made {
		d.made[k] = made
	}
	return d, nil
}

// Identity names a run by its settings, the observed cells of its tables and what computes
// matrix products: only where all are the same do its replicates go together. It fails if
// JSON cannot hold the settings.
func Identity(settings any, tables ...*data.Table) (string, error) {
	library, err := graph.BLAS()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	parts := []any{settings, library}
	for _, t := range tables {
		values := make([]uint64, len(t.Values))
		for i, v := range t.Values {
			if t.Observed[i] {
				values[i] = math.Float64bits(v)
			}
		}
		parts = append(parts, t.Names, t.N, t.D, t.Observed, values)
	}
	for _, part := range parts {
		if err := json.NewEncoder(h).Encode(part); err != nil {
			return "", fmt.Errorf("settings that tell one run from another must be JSON: %w", err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
