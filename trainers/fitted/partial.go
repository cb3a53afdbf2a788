package fitted

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"sync"

	"missingscore/data"
	"missingscore/internal/checkedfile"
)

// Partial are the draws of a run that was cut, by block of rows. Given to ImputeConfig it
// is filled while a run goes on, and what it holds is not drawn again: a run that is cut and
// goes on gives what it would have given uncut. It is safe for several workers.
type Partial struct {
	lock  sync.Mutex
	saved partialFile
}

type partialFile struct {
	Of     string // the run
	Blocks map[int]savedBlock
}

// savedBlock is a block's gaps, row by row and draw by draw, in the units of z.
type savedBlock struct {
	Gaps       []float64
	RHat, Size []float64 // of mcmc
}

// NewPartial holds nothing. of names the run: model, table and settings.
func NewPartial(of string) *Partial { return &Partial{saved: partialFile{of, map[int]savedBlock{}}} }

// ErrOtherImputation says that saved draws are of another run.
var ErrOtherImputation = errors.New("the saved draws belong to another model, table or other settings: use the same, or start again without resuming")

const partialMark = "missingscore draws 1\n"

const loadFactor = 4

// Save writes the file whole or not at all.
func (p *Partial) Save(path string) error {
	var body bytes.Buffer
	p.lock.Lock()
	err := gob.NewEncoder(&body).Encode(p.saved)
	p.lock.Unlock()
	if err != nil {
		return err
	}
	return checkedfile.Write(path, partialMark, body.Bytes())
}

// LoadPartial reads what Save wrote of the run that of names. Another's is
// ErrOtherImputation, a damaged file refused by name, as is one that needs more memory than may
// be used (MISSINGSCORE_MEMORY).
func LoadPartial(path, of string) (*Partial, error) {
	damaged := fmt.Errorf("%s is damaged or holds no draws: delete it and start again", path)
	body, err := checkedfile.Read(path, partialMark, loadFactor)
	switch {
	case checkedfile.Broken(err):
		return nil, damaged
	case err != nil:
		return nil, err
	}
	p := NewPartial("")
	if err := gob.NewDecoder(bytes.NewReader(body)).Decode(&p.saved); err != nil {
		return nil, damaged
	}
	if p.saved.Of != of {
		return nil, ErrOtherImputation
	}
	return p, nil
}

// Blocks is how many blocks of rows are held.
func (p *Partial) Blocks() int {
	p.lock.Lock()
	defer p.lock.Unlock()
	return len(p.saved.Blocks)
}

// put keeps block k; nothing if p is nil.
func (p *Partial) put(k int, b block, d int) {
	if p == nil {
		return
	}
	draws := len(b.x) / len(b.mask)
	s := savedBlock{RHat: b.rhat, Size: b.size}
	eachGap(b.mask, d, draws, func(at int) { s.Gaps = append(s.Gaps, b.x[at]) })
	p.lock.Lock()
	p.saved.Blocks[k] = s
	p.lock.Unlock()
}

// get is block k of a table in the units of z, if p, which may be nil, holds it; chained says that it
// tells of chains. It is ErrOtherImputation if the held block is of other rows or settings.
func (p *Partial) get(k int, z *data.Table, rows []int, draws int, chained bool) (b block, ok bool, err error) {
	if p == nil {
		return b, false, nil
	}
	p.lock.Lock()
	s, ok := p.saved.Blocks[k]
	p.lock.Unlock()
	if !ok {
		return b, false, nil
	}
	b = block{rows: rows, rhat: s.RHat, size: s.Size}
	for _, of := range [][]float64{s.RHat, s.Size} {
		if len(of) != len(rows) && (chained || len(of) != 0) {
			return b, false, ErrOtherImputation
		}
	}
	for _, i := range rows {
		b.mask = append(b.mask, marks(z, i)...)
		for range draws {
			b.x = append(b.x, z.Values[i*z.D:(i+1)*z.D]...)
		}
	}
	var gaps []int
	eachGap(b.mask, z.D, draws, func(at int) { gaps = append(gaps, at) })
	if len(gaps) != len(s.Gaps) {
		return b, false, ErrOtherImputation
	}
	for a, at := range gaps {
		b.x[at] = s.Gaps[a]
	}
	return b, true, nil
}

// eachGap visits the places of missing cells in x (rows·draws, d).
func eachGap(mask []float64, d, draws int, visit func(at int)) {
	for i := 0; i < len(mask); i += d {
		for k := range draws {
			for j := range d {
				if mask[i+j] == 0 {
					visit((i/d*draws+k)*d + j)
				}
			}
		}
	}
}
