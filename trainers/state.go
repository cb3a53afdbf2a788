package trainers

import (
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
	"missingscore/graph/model"
	"missingscore/internal/atomicfile"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/path"
)

// State is everything that changes during an estimate, each stage's part in a type of
// its own. Taken up again it gives the same bytes as a run that was never cut: draws
// depend on the seed and the iteration only, so there is no random state to keep.
type State struct {
	Version     int
	Fingerprint string // of the table and the settings it belongs to
	Engine      engine.State
	Descent     *descent.State // of a fit
	Path        *path.State    // of a network
}

// stateVersion 1 and 2 had one type for all stages, 3 one optimiser for fits.
const stateVersion = 4

// Save writes the state whole or not at all.
func (s *State) Save(path string) error {
	return atomicfile.Write(path, func(w io.Writer) error { return gob.NewEncoder(w).Encode(s) })
}

// LoadState reads what Save wrote. It refuses other files and other versions by name.
func LoadState(path string) (*State, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var head struct{ Version int }
	if err := gob.NewDecoder(f).Decode(&head); err != nil {
		return nil, fmt.Errorf("%s is damaged or not a saved state (%v): delete it and start again", path, err)
	}
	if head.Version != stateVersion {
		return nil, fmt.Errorf("%s was written by another version (state version %d, this program reads %d): delete it and start again", path, head.Version, stateVersion)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	var s State
	if err := gob.NewDecoder(f).Decode(&s); err != nil {
		return nil, fmt.Errorf("%s is damaged (%v): delete it and start again", path, err)
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

// claim makes s the state of this run: a fresh one begins here, another's is refused.
func (s *State) claim(t *data.Table, e *engine.Engine, settings any) error {
	var shapes []string
	for _, p := range e.Model.Params() { // with the model's type and the seed they tell where a fit starts
		shapes = append(shapes, fmt.Sprintf("%s %d %d", p.Name, p.Rows, p.Cols))
	}
	options, err := model.Options(e.Model)
	if err != nil {
		return err
	}
	identified, err := fingerprint(t, []any{settings, fmt.Sprintf("%T %T", e.Model, e.Objective), e.Objective, e.Missingness, options, shapes})
	switch {
	case err != nil:
		return err
	case s.Version == 0:
		s.Version, s.Fingerprint, s.Engine = stateVersion, identified, e.Capture()
	case s.Fingerprint != identified:
		return ErrOtherRun
	default:
		e.Restore(s.Engine)
	}
	return nil
}
