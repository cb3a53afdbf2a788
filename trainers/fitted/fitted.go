// Package fitted reads and writes fitted models, draws missing cells and new rows from them, and
// scores rows.
//
//	Saved, Load              a model's file
//	Model                    a model ready for use, by Saved.Fitted
//	Impute, Sample, Score    its uses, each with its own settings and result
package fitted

import (
	"errors"
	"fmt"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/graph/model"
	"missingscore/internal/data/mixture"
	"missingscore/internal/data/noise"
	"missingscore/internal/data/transform"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/fitted/diffusion"
	"missingscore/internal/trainers/posterior"
	"missingscore/nets"
)

// Model is a model with everything needed to draw from it and to score rows.
type Model struct {
	Names     []string
	Levels    [][]string            // names of levels per column; nil for numbers, and nil if there are none
	Transform transform.Columns     // functions of the table's columns; x below is their result, the table itself if nil
	Model     model.Model           // of rows z, x_j = Mean_j + Deviation_j z_j
	Scale     data.Scale            // Mean and Deviation
	Domain    *domain.Domain        // in the units of x, nil for all of R^d
	Imputer   nets.Imputer          // of rows z, nil if there is none
	Posterior *posterior.Parameters // of rows z, in place of Model; nil: use Model
	Noise     *noise.Schedule       // noise added to rows z in the fit, nil if none

	// Mechanism in the units of x; nil for MCAR or MAR. With it, missing cells are drawn from q φ_Λ.
	Missingness *missingness.Model
}

var errNetworkOfLevels = errors.New("it is a network of columns with levels, which cannot draw, impute or score rows: use impute TABLE, or fit Spec.Model.Kind mixture")

// Fitted returns the model ready for use. It refuses a network of columns with levels.
func (s *Saved) Fitted() (*Model, error) {
	if s.Blocks != nil {
		return nil, errNetworkOfLevels
	}
	model, err := s.Standardised()
	if err != nil {
		return nil, err
	}
	f := &Model{Posterior: s.Posterior, Names: s.Names, Levels: s.Levels, Transform: s.Transform, Model: model, Scale: s.Scale, Domain: s.Domain, Imputer: s.Imputer, Noise: s.Noise, Missingness: s.Missingness}
	if s.Scale.Mean == nil {
		f.Scale = data.UnitScale(len(s.Names))
	}
	return f, nil
}

// density returns the model of clean rows z; with many noise levels, at the least level.
func (f *Model) density() model.Model {
	if l := f.noiseConditional(); l != nil {
		signal, sigma := f.Noise.At(0)
		return diffusion.Level(l, signal, sigma)
	}
	return f.Model
}

// split returns f without the tilt of its energy, and the tilt's mixture and factor; nil without one.
func (f *Model) split() (*Model, *mixture.Mixture, nets.Factor) {
	e, ok := f.Model.(nets.Tilted)
	if !ok {
		return f, nil, nil
	}
	plain, m, factor := e.Split()
	out := *f
	out.Model = plain
	return &out, m, factor
}

// joint returns density times the probability of the missingness pattern.
func (f *Model) joint() model.Model {
	if phi := model.MissingnessOf(f.Missingness.Standardised(f.Scale.Mean, f.Scale.Deviation)); phi != nil {
		return &model.Joint{Model: f.density(), Missingness: phi}
	}
	return f.density()
}

// patterned returns the domain of rows with missing cells, cut at thresholds of the mechanism, in
// the units of x.
func (f *Model) patterned() *domain.Domain { return f.Missingness.Support(f.Domain) }

func (f *Model) gaps() *domain.Domain {
	return f.patterned().Standardised(f.Scale.Mean, f.Scale.Deviation)
}

func (f *Model) scoreOnly() (bool, error) {
	if f.mixed() != nil || f.Posterior != nil {
		return false, nil
	}
	e, err := model.NewEvaluator(f.density(), 1, true)
	return err == nil && e.ScoreOnly(), err
}

func (f *Model) support() *domain.Domain {
	return f.Domain.Standardised(f.Scale.Mean, f.Scale.Deviation)
}

// transformed returns the model's columns in the units of x. A cell outside is a *data.RowError.
func (f *Model) transformed(t *data.Table) (*data.Table, error) {
	if t.D != len(f.Names) {
		return nil, fmt.Errorf("the model has %d columns, but the table has %d", len(f.Names), t.D)
	}
	x, err := f.Transform.Table(t)
	if err != nil {
		return nil, err
	}
	inside := *x
	inside.Names = f.Transform.Labels(t.Names) // the units of the message
	return x, inside.Inside(f.patterned())
}

// restore converts rows z to the units of the table, in place.
func (f *Model) restore(z []float64) {
	for i, d := 0, len(f.Names); i < len(z); i++ {
		z[i] = f.Scale.Mean[i%d] + f.Scale.Deviation[i%d]*z[i]
	}
	f.Transform.Restore(z)
}

// MaxRHat is the largest R-hat of converged chains.
const MaxRHat = 1.05

func (f *Model) noiseConditional() model.NoiseConditional {
	l, _ := f.Model.(model.NoiseConditional)
	if f.Noise == nil {
		return nil
	}
	return l
}

func marks(t *data.Table, i int) []float64 {
	mask := make([]float64, t.D)
	for j, seen := range t.Observed[i*t.D : (i+1)*t.D] {
		if seen {
			mask[j] = 1
		}
	}
	return mask
}

func (f *Model) checkDraws(values []float64) error {
	for i, v := range values {
		if !engine.Finite(v) {
			return fmt.Errorf("the model draws %v for column %q: its parameters are damaged, or too large for float64", v, f.Names[i%len(f.Names)])
		}
	}
	return nil
}
