package trainers

import (
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/atomicfile"
)

// State is everything that changes during a fit. Taken up again it gives the
// same bytes as a run that was never cut: draws depend on the seed and the
// iteration only, so there is no random state to keep.
type State struct {
	Version     int
	Fingerprint string // of the table and the settings it belongs to
	Iteration   int    // parameter steps made
	Model       [][]float64
	ModelAdam   Adam // Fit
	Imputer     [][]float64
	ImputerAdam Adam
	History     []Record  // Fit
	Points      []Point   // Path
	Block       Block     // Path: the block of iterations under way
	Spectral    Spectral  // Path, accelerated
	Lifts       int       // Path: how often P was held positive definite
	Resampled   Resampled // Path: the choice of λ by resampling
	Refine      Refine    // Path: the stage after the path
}

const stateVersion = 2

// Save writes the state whole or not at all.
func (s *State) Save(path string) error {
	return atomicfile.Write(path, func(w io.Writer) error { return gob.NewEncoder(w).Encode(s) })
}

// LoadState reads what Save wrote.
func LoadState(path string) (*State, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var s State
	if err := gob.NewDecoder(f).Decode(&s); err != nil {
		return nil, fmt.Errorf("%s is damaged or not a saved state (%v): delete it and start again", path, err)
	}
	if s.Version != stateVersion {
		return nil, fmt.Errorf("%s was written by another version (state version %d, this program reads %d): delete it and start again", path, s.Version, stateVersion)
	}
	return &s, nil
}

// ErrOtherRun says that a state belongs to another table or other settings.
var ErrOtherRun = errors.New("the saved state belongs to another table or other settings: use the same, or start again without resuming")

// fingerprint identifies a table's observed cells and a fit's settings. It fails if
// JSON cannot hold these, as may be with an objective or missingness of a user's own.
func fingerprint(t *data.Table, settings any) (string, error) {
	h := sha256.New()
	enc := json.NewEncoder(h)
	values := make([]uint64, len(t.Values))
	for i, v := range t.Values {
		if t.Observed[i] {
			values[i] = math.Float64bits(v)
		}
	}
	for _, v := range []any{settings, t.Names, t.N, t.D, t.Observed, values} {
		if err := enc.Encode(v); err != nil {
			return "", fmt.Errorf("settings that tell one run from another must be JSON: %w", err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// interrupted saves the state of a cancelled fit and returns the context's
// error, or what kept it from being saved.
func interrupted(ctx context.Context, save func() error) error {
	if err := save(); err != nil {
		return fmt.Errorf("interrupted, and the state could not be saved: %w", err)
	}
	return ctx.Err()
}

// capture copies the engine's part of the state into s, restore copies it back.
func (e *engine) capture(s *State) {
	s.Model = values(e.model.Params())
	if e.imputer != nil {
		s.Imputer = values(e.imputer.Params())
		s.ImputerAdam = e.adam.clone()
	}
}

func (e *engine) restore(s *State) {
	setValues(e.model.Params(), s.Model)
	if e.imputer != nil {
		setValues(e.imputer.Params(), s.Imputer)
		for _, p := range e.imputer.Params() {
			if p.Single != nil {
				p.KeepSingle()
			}
		}
		e.adam = s.ImputerAdam.clone()
	}
}

func cloneAll(xs [][]float64) [][]float64 {
	var out [][]float64
	for _, x := range xs {
		out = append(out, append([]float64(nil), x...))
	}
	return out
}

func values(ps []*graph.Param) [][]float64 {
	var out [][]float64
	for _, p := range ps {
		out = append(out, append([]float64(nil), p.Value...))
	}
	return out
}

func setValues(ps []*graph.Param, v [][]float64) {
	for i, p := range ps {
		copy(p.Value, v[i])
	}
}
