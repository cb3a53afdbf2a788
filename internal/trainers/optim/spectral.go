package optim

import "slices"

// Spectral chooses the lengths t of proximal gradient steps in a metric M,
//
//	θ⁺ = prox(θ − tM⁻¹∇ℓ)
//
// by the long and the short Barzilai–Borwein step in turn (SpaRSA, Wright, Nowak & Figueiredo 2009).
type Spectral struct {
	Recent []float64 // last values of the objective F
	Step   float64   // next t to try
	Long   bool      // use the long step next
}

const (
	spectralMemory   = 5
	spectralDecrease = 1e-4
)

// Falls reports F(θ⁺) ≤ max(Recent) − 10⁻⁴/(2t) ‖θ⁺ − θ‖²_M + slack; moved is the squared norm.
func (s *Spectral) Falls(value, t, moved, slack float64) bool {
	return value <= slices.Max(s.Recent)-spectralDecrease/(2*t)*moved+slack
}

// Accept takes a step of length t to a point with the given F; inverse is the diagonal of M⁻¹.
func (s *Spectral) Accept(value, t float64, from, to, before, after, inverse []float64) {
	if s.Recent = append(s.Recent, value); len(s.Recent) > spectralMemory {
		s.Recent = slices.Clone(s.Recent[1:])
	}
	moved, along, across := 0.0, 0.0, 0.0 // ‖Δθ‖²_M, ⟨Δθ, Δ∇ℓ⟩, ‖Δ∇ℓ‖² in the dual of M
	for i, v := range to {
		x, y := v-from[i], after[i]-before[i]
		moved += x * x / inverse[i]
		along += x * y
		across += y * y * inverse[i]
	}
	switch {
	case along <= 0: // no positive curvature
		s.Step = 2 * t
	case s.Long:
		s.Step = moved / along
	default:
		s.Step = along / across
	}
	s.Long = !s.Long
}
