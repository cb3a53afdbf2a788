package fitted

import (
	"context"
	"errors"
	"math/rand/v2"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/trainers/mcmc"
)

// Sample draws n complete rows: exactly from a Gaussian, by rejection on its domain, or
// a mixture; otherwise by Hamiltonian Monte Carlo, the last states of n chains, with
// their diagnostics (else nil).
func (s *Saved) Sample(ctx context.Context, n int, rng *rand.Rand) (*data.Table, *mcmc.Result, error) {
	d := len(s.Names)
	if exactly(s.Model, s.Domain) {
		x, err := model.SampleRows(s.Model, n, s.Domain, rng)
		if err != nil {
			return nil, nil, err
		}
		s.Transform.Restore(x)
		t, err := data.NewTable(s.Names, x, nil)
		return t, nil, err
	}
	r, err := chainRows(ctx, s.InUnits(), s.Domain, max(n, 4), mcmc.Options{}, rng)
	if err != nil {
		return nil, nil, err
	}
	s.Transform.Restore(r.Last)
	t, err := data.NewTable(s.Names, r.Last[:n*d], nil)
	return t, r, err
}

// chainRows runs n chains from points inside the domain.
func chainRows(ctx context.Context, m model.Model, s *domain.Domain, n int, o mcmc.Options, rng *rand.Rand) (*mcmc.Result, error) {
	start, err := starts(s, n, m.Dim(), rng)
	if err != nil {
		return nil, err
	}
	return mcmc.HMC(ctx, m, s, start, o, rng)
}

// starts are points inside a domain: normal ones, drawn towards one well inside
// until they are.
func starts(s *domain.Domain, n, d int, rng *rand.Rand) ([]float64, error) {
	x := make([]float64, n*d)
	for i := range x {
		x[i] = 0.5 * rng.NormFloat64()
	}
	if !s.Bounded() {
		return x, nil
	}
	none := make([]float64, d)
	inner, ok := s.Interior(none, none)
	if !ok {
		return nil, errors.New("the domain leaves no room")
	}
	for i := 0; i < len(x); i += d {
		row := x[i : i+d]
		for range 100 {
			if s.Contains(row) {
				break
			}
			for j := range row {
				row[j] = inner[j] + 0.7*(row[j]-inner[j])
			}
		}
	}
	return x, nil
}

// exactly tells whether independent draws of m on s are known.
func exactly(m model.Model, s *domain.Domain) bool {
	_, err := model.SampleRows(m, 1, s, stream.New(0))
	return !errors.Is(err, model.ErrNoExactSampler)
}
