package posterior

import (
	"bytes"
	"encoding/gob"

	"missingscore/internal/checkedfile"
)

// Partial holds the chains' states. A resumed run gives the same result as an uninterrupted run.
type Partial = checkedfile.Parts[[]byte]

const partialMark = "missingscore chains 2\n"

// NewPartial is empty; of identifies table and settings.
func NewPartial(of string) *Partial { return checkedfile.NewParts[[]byte](partialMark, of) }

// LoadPartial fails with other for another run, and with an error naming the file if it is damaged
// or exceeds the memory limit.
func LoadPartial(path, of string, other error) (*Partial, error) {
	return checkedfile.LoadParts[[]byte](path, partialMark, of, "chains", other)
}

type saved struct {
	Stage, Done    int
	Z, Psi         []float64
	Of             []int
	Nu, Delta, Tau float64
	Mixture        Mixture
	Random         []byte
	Results        results
}

func (r *run) state() []byte {
	s := r.chain
	position, _ := s.rng.MarshalBinary() // no error is possible in memory
	var b bytes.Buffer
	_ = gob.NewEncoder(&b).Encode(saved{r.stage, r.done, s.z, s.psi, s.of, s.nu, s.delta, s.tau, s.mixture, position, r.results})
	return b.Bytes()
}

func (r *run) load(state []byte) error {
	var v saved
	if err := gob.NewDecoder(bytes.NewReader(state)).Decode(&v); err != nil {
		return err
	}
	s := r.chain
	s.z, s.psi, s.of, s.nu, s.delta, s.tau = v.Z, v.Psi, v.Of, v.Nu, v.Delta, v.Tau
	s.take(v.Mixture)
	r.stage, r.done, r.results = v.Stage, v.Done, v.Results
	return s.rng.UnmarshalBinary(v.Random)
}
