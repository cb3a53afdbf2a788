package source

import (
	"math"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/setting"
	"missingscore/losses"
)

// Each draw selects a stratum by weight.
type strata struct {
	r, k    int // draws per row, strata
	program *graph.Program
}

func newStrata(s Setting) (Source, error) {
	if s.Domain.Bounded() {
		return nil, &setting.Error{Field: "imputer", Allowed: "this imputer cannot be restricted to a domain with a boundary; use normal"}
	}
	p, err := losses.NewDraws(s.DType, s.Imputer, s.Model.Dim(), s.Batch)
	if err != nil {
		return nil, err
	}
	return &strata{s.Draws, len(p.Output(losses.OutputLogDraw)) / s.Batch, p}, nil
}

func (s *strata) Complete(b *data.Batch, x, logProposal []float64, rng *Stream) error {
	copy(s.program.Input(losses.InputX), b.X)
	copy(s.program.Input(losses.InputMask), b.Mask)
	Repeat(b, s.r, x)
	clear(logProposal)
	for k := range s.r {
		rng.Normals(s.program.Input(losses.InputNoise))
		run := s.program.RunAgain
		if k == 0 {
			run = s.program.Run
		}
		if err := run(); err != nil {
			return err
		}
		draws, log := s.program.Output(losses.OutputDraws), s.program.Output(losses.OutputLogDraw)
		for i := range b.Rows {
			from := s.choose(i, rng)
			to := i*s.r + k
			logProposal[to] = log[from]
			for j := range b.D {
				if b.Mask[i*b.D+j] == 0 {
					x[to*b.D+j] = draws[from*b.D+j]
				}
			}
		}
	}
	return nil
}

func (s *strata) choose(i int, rng *Stream) int {
	if !s.program.HasOutput(losses.OutputLogWeight) {
		return i
	}
	u, first := rng.Float64(), i*s.k
	for stratum, log := range s.program.Output(losses.OutputLogWeight)[first : first+s.k] {
		if u -= math.Exp(log); u < 0 {
			return first + stratum
		}
	}
	return first + s.k - 1 // by rounding
}
