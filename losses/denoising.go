package losses

import (
	"fmt"
	"math/rand/v2"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/noise"
)

// Denoising is the objective on noisy rows, which needs no diagonal (Vincent 2011; paper,
// appendix "Missing Denoised Score Matching"; docs/theory/objectives.md#eq-denoising). Observed
// cells become x(t) = a x + σ ε, missing cells are imputed given these, and the score is fitted
// to u_j = −ε_j/σ:
//
//	ℓ = ν Σ_{j∈Λ} (E[s_j] − u_j)²,  in parts R = ν Σ_{j∈Λ} u_j² − 2u_j s_j,  S = s,  c_j = ν for j ∈ Λ
//
// A completed row has the loss ν Σ_{j∈Λ} (s_j − u_j)². With the default ν = σ² the loss has no
// units.
type Denoising struct {
	Noise  noise.Schedule `json:"noise"`
	Weight string         `json:"weight"` // ν of a level: "variance", σ², the default; or "one"
}

func (o Denoising) WithDefaults() (Denoising, error) {
	switch o.Weight {
	case "":
		o.Weight = "variance"
	case "variance", "one":
	default:
		return o, fmt.Errorf("unknown weight %q: use variance or one", o.Weight)
	}
	var err error
	o.Noise, err = o.Noise.WithDefaults()
	return o, err
}

const (
	inputTarget      = "target"       // u (b, d), 0 where missing
	inputLevelWeight = "level weight" // ν for observed cells (b, d), 0 where missing
)

func (Denoising) Parts(b *graph.Builder, rows Rows, t model.Evaluation) Parts {
	n, d := graph.Shape(rows.Mask)
	u, nu := b.Input(inputTarget, n, d), b.Input(inputLevelWeight, n, d)
	constant := b.GroupRepeat(graph.GroupSquares(b, nu, u, 1), rows.R)
	return Parts{
		Linear:    b.Add(constant, b.GroupDot(b.Scale(-2, b.Prod(nu, u)), t.NeedScore(b), rows.R)),
		Score:     t.NeedScore(b),
		Quadratic: nu,
	}
}

func (o Denoising) AddNoise(batch *data.Batch, rng *rand.Rand) { batch.AddNoise(o.Noise.Draw, rng) }

func (Denoising) Draws() bool { return true }

func (o Denoising) Schedule() noise.Schedule { return o.Noise }

func (o Denoising) Bind(p graph.Inputs, batch *data.Batch, _ *rand.Rand) {
	u, nu := p.Input(inputTarget), p.Input(inputLevelWeight)
	for i, m := range batch.Mask {
		sigma := batch.Noise[i/batch.D]
		u[i], nu[i] = -batch.Epsilon[i]/sigma, m
		if o.Weight == "variance" {
			nu[i] *= sigma * sigma
		}
	}
}
