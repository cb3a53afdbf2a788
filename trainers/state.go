package trainers

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/checkedfile"
	"missingscore/internal/memory"
	"missingscore/internal/panics"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/inference"
	"missingscore/trainers/mixed"
	"missingscore/trainers/regpath"
)

// State is everything that changes during an estimate, each stage's part in a type of
// its own. Taken up again it gives the same bytes as a run that was never cut: draws
// depend on the seed and the iteration only, so there is no random state to keep.
type State struct {
	Version     int
	Fingerprint string   // of the table and the settings it belongs to
	Libraries   []string // of matrix products, in the order in which they had a part; see graph.BLAS
	Engine      engine.State
	Descent     *descent.State   // of a fit
	Path        *regpath.State   // of a network
	Mixture     *mixed.State     // of a mixture fitted by its likelihood
	Inference   *inference.State // of a network: what is made again on other rows
}

const stateVersion = 4

const stateMark = "missingscore state\n"

// Save writes the state whole or not at all.
func (s *State) Save(path string) error {
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(s); err != nil {
		return err
	}
	return checkedfile.Write(path, stateMark, text.Bytes())
}

const stateFactor = 4

// LoadState reads what Save wrote. It refuses other files, other versions by name, and
// files in which a single bit is not as it was written.
func LoadState(path string) (*State, error) {
	text, err := memory.ReadFile(path, stateFactor)
	if err != nil {
		return nil, err
	}
	damaged := fmt.Errorf("%s is damaged or not a saved state: delete it and start again", path)
	var head struct{ Version int }
	body, err := checkedfile.Open(stateMark, text)
	if err != nil {
		return nil, damaged
	}
	if err := gob.NewDecoder(bytes.NewReader(body)).Decode(&head); err != nil {
		return nil, damaged
	}
	if head.Version != stateVersion {
		return nil, fmt.Errorf("%s was written by another version (state version %d, this program reads %d): delete it and start again", path, head.Version, stateVersion)
	}
	var s State
	if err := gob.NewDecoder(bytes.NewReader(body)).Decode(&s); err != nil {
		return nil, damaged
	}
	return &s, nil
}

// ErrOtherRun says that a state belongs to another table or other settings.
var ErrOtherRun = errors.New("the saved state belongs to another table or other settings: use the same, or start again without resuming")

// StateError says that an estimate broke down going on from a state, which may hold what no run of
// this program leaves.
type StateError struct{ Why *panics.Error }

// Unwrap is what happened.
func (e *StateError) Unwrap() error { return e.Why }

func (e *StateError) Error() string {
	return fmt.Sprintf("nothing could go on from the saved state, which may hold what no run leaves there: delete it and start again without resuming; if that fails as well, please report it%s", e.Why.Place)
}

// Fingerprint identifies settings and the observed cells of tables. It fails if JSON cannot hold the
// settings, for example an objective or missingness of a user's own.
func Fingerprint(settings any, tables ...*data.Table) (string, error) {
	h := sha256.New()
	enc := json.NewEncoder(h)
	if err := enc.Encode(settings); err != nil {
		return "", fmt.Errorf("settings that tell one run from another must be JSON: %w", err)
	}
	for _, t := range tables {
		if err := enc.Encode([]any{t.Names, t.N, t.D, t.Weights, t.Counted, t.Sampled}); err != nil {
			return "", err
		}
		row := make([]byte, 0, 9*t.D)
		for i := range t.N {
			row = row[:0]
			for k := i * t.D; k < (i+1)*t.D; k++ {
				if !t.Observed[k] {
					row = append(row, 0)
					continue
				}
				row = binary.LittleEndian.AppendUint64(append(row, 1), math.Float64bits(t.Values[k]))
			}
			h.Write(row)
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
	library, err := graph.BLAS()
	if err != nil {
		return err
	}
	fresh := s.Version == 0
	if err := s.claimSettings(t, []any{settings, fmt.Sprintf("%T %T %T %s %T %T", e.Model, e.Objective, e.Imputer, e.Estimator.Source.Name, e.Estimator.Weighting, e.Estimator.Loss), e.Objective, e.Missingness, options, shapes}); err != nil {
		return err
	}
	if fresh {
		s.Engine = e.Capture()
	} else {
		e.Restore(s.Engine)
	}
	if !slices.Contains(s.Libraries, library) {
		s.Libraries = append(s.Libraries, library)
	}
	return nil
}

// claimSettings is claim of a run that has no engine.
func (s *State) claimSettings(t *data.Table, settings any) error {
	identified, err := Fingerprint(settings, t)
	switch {
	case err != nil:
		return err
	case s.Version == 0:
		s.Version, s.Fingerprint = stateVersion, identified
	case s.Fingerprint != identified:
		return ErrOtherRun
	}
	return nil
}

// mixed warns of an estimate that was taken up with another library of matrix products:
// only with the same are its bytes those of one that was never cut.
func (s *State) mixed() []string {
	if len(s.Libraries) < 2 {
		return nil
	}
	return []string{fmt.Sprintf("it was resumed with other matrix products (%s): rounding differs from a run that was never cut; %s chooses them", strings.Join(s.Libraries, ", then "), graph.BLASVariable)}
}

// Join takes over what the states of other shards have made of the same estimate. It is
// ErrOtherRun where one is of another table or other settings.
func (s *State) Join(others ...*State) error {
	for _, o := range others {
		if s.Fingerprint != o.Fingerprint || s.Inference == nil || o.Inference == nil {
			return ErrOtherRun
		}
		s.Inference.Join(o.Inference)
		for _, library := range o.Libraries {
			if !slices.Contains(s.Libraries, library) {
				s.Libraries = append(s.Libraries, library)
			}
		}
	}
	return nil
}
