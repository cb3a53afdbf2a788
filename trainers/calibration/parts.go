package calibration

import (
	"math"
	"slices"

	"missingscore/data"
	"missingscore/data/transform"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/nets"
	"missingscore/trainers/fitted"
	"missingscore/trainers/source"
)

// imputed is a gaussian whose imputer's network is the exact conditional of the last column
// given the others:
//
//	E[x_d | others] = μ_d − Σ_j P_dj (x_j − μ_j)/P_dd,   deviation 1/√P_dd
//
// with a rectified unit for each other column, one for its negative, and these once more.
func imputed() (*fitted.Model, error) {
	f, err := gaussian(nil)
	if err != nil {
		return nil, err
	}
	mean := f.Model.(*model.Gaussian).Mean()
	p, last := precision(), columns-1
	const units = 2 * (columns - 1)
	m := nets.NewNormalImputer(columns, nets.NormalOptions{Hidden: units}, stream.New(1))
	for _, q := range m.Params() {
		clear(q.Value)
	}
	first, second, third, constant := m.Params()[0], m.Params()[2], m.Params()[4], m.Params()[5]
	constant.Value[last] = mean[last]
	for j := range last {
		slope := -p.At(last, j) / p.At(last, last)
		constant.Value[last] -= slope * mean[j]
		for side, sign := range []float64{1, -1} {
			unit := 2*j + side
			first.Value[j*units+unit] = sign
			second.Value[unit*units+unit] = 1
			third.Value[unit*columns+last] = sign * slope
		}
	}
	m.LogSD.Value[0] = -math.Log(p.At(last, last)) / 2
	f.Imputer = m
	return f, nil
}

// thresholds of the columns that categories knows by intervals.
var thresholds = [][]float64{{-0.6, 0.4}, {0.1}}

// categories is a gaussian whose columns but the last are known by ordered categories.
func categories() (*fitted.Model, error) {
	f, err := gaussian(nil)
	if err == nil {
		f.Transform, err = transform.Read([]byte(`{"x1": {"kind": "ordinal", "categories": [0, 1, 2], "thresholds": [-0.6, 0.4]}, "x2": {"kind": "ordinal", "categories": [0, 1], "thresholds": [0.1]}}`), f.Names)
	}
	return f, err
}

// seen is a table as the model's user has it: with categories for latent numbers.
func seen(f *fitted.Model, t *data.Table) *data.Table {
	if f.Transform == nil {
		return t
	}
	s := *t
	s.Values = slices.Clone(t.Values)
	for i := 0; i < len(s.Values); i += columns {
		for j, cuts := range thresholds {
			category := 0
			for _, cut := range cuts {
				if t.Values[i+j] > cut {
					category++
				}
			}
			s.Values[i+j] = float64(category)
		}
	}
	return &s
}

// steps of a fit in which chains move.
const steps = 60

// completed are rows with draws of a source in their gaps, (n·Draws, d): of chains, after so
// many steps of a fit whose model stays as it is.
func completed(f *fitted.Model, t *data.Table, name string, seed uint64) ([]float64, error) {
	from, err := source.Kinds[name].New(source.Setting{Model: f.Model, Table: t, Batch: t.N, Draws: Draws, Domain: f.Domain})
	if err != nil {
		return nil, err
	}
	b := data.NewBatch(t.N, t.D)
	b.Fill(t, t.AllRows(), 1)
	x, log := make([]float64, t.N*Draws*t.D), make([]float64, t.N*Draws)
	moves := 1
	if _, chained := from.(source.Chained); chained {
		moves = steps
	}
	for k := range moves {
		if err := from.Complete(b, x, log, new(source.Stream).At(seed, stream.Impute, uint64(k))); err != nil {
			return nil, err
		}
	}
	return x, nil
}
