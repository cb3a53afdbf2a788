package trainers

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/checkedfile"
	"missingscore/internal/strictjson"
	"missingscore/internal/trainers/descent"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/inference"
	"missingscore/internal/trainers/mixed"
	"missingscore/internal/trainers/regpath"
)

// State is everything that changes during an estimate. A resumed run gives the same bytes as an
// uninterrupted one.
type State struct {
	Version     int
	Fingerprint string // of the table and the settings
	Engine      engine.State
	Descent     *descent.State   // fit of parameters
	Path        *regpath.State   // network
	Mixture     *mixed.State     // mixture fitted by EM
	Inference   *inference.State // resamples of a network
}

const stateVersion = 6

const stateMark = "missingscore state\n"

// Save writes the state atomically.
func (s *State) Save(path string) error { return checkedfile.WriteGob(path, stateMark, s) }

const stateFactor = 4

// LoadState reads a file of Save; it fails for other versions and damaged files.
func LoadState(path string) (*State, error) {
	var s State
	err := checkedfile.ReadGob(path, stateMark, stateFactor, &s)
	switch {
	case errors.Is(err, checkedfile.ErrBroken):
		return nil, fmt.Errorf("%s is damaged or not a saved state; delete it and start again", path)
	case err != nil:
		return nil, err
	case s.Version != stateVersion:
		return nil, fmt.Errorf("%s has state version %d, but this program reads version %d; delete it and start again", path, s.Version, stateVersion)
	}
	return &s, nil
}

// ErrOtherRun: the state belongs to another table or other settings.
var ErrOtherRun = errors.New("the saved state belongs to another table or other settings; use the same, or start again without resuming")

// Fingerprint identifies settings and observed cells. It fails if JSON cannot encode the settings.
func Fingerprint(settings any, tables ...*data.Table) (string, error) {
	h := sha256.New()
	enc := json.NewEncoder(h)
	if err := enc.Encode(settings); err != nil {
		return "", fmt.Errorf("settings that identify a run must be JSON: %w", strictjson.Plainly(err))
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

// claim sets the fingerprint of a fresh state; ErrOtherRun for another run.
func (s *State) claim(t *data.Table, e *engine.Engine, settings any) error {
	var shapes []string
	for _, p := range e.Model.Params() { // with type and seed these determine the start
		shapes = append(shapes, fmt.Sprintf("%s %d %d", p.Name, p.Rows, p.Cols))
	}
	options, err := model.Options(e.Model)
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
	return nil
}

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

// Join merges the states of other shards; ErrOtherRun if one is of another run.
func (s *State) Join(others ...*State) error {
	for _, o := range others {
		if s.Fingerprint != o.Fingerprint || s.Inference == nil || o.Inference == nil {
			return ErrOtherRun
		}
		s.Inference.Join(o.Inference)
	}
	return nil
}
