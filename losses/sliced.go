package losses

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
)

// Directions is the distribution of a sliced objective's directions v, with E[vvᵀ] = I.
type Directions string

const (
	Rademacher Directions = "rademacher" // ±1 per coordinate
	Normal     Directions = "normal"     // N(0, I)
	// Basis is √d e_j for each j: its mean is the classical objective.
	Basis Directions = "basis"
)

// Sliced is the objective on random directions, for models with an expensive diagonal (Song et al.
// 2020; paper, appendix "Missing Sliced Score Matching"; docs/theory/objectives.md#eq-sliced). With
// V = m∘v, shared by all draws of a row,
//
//	ℓ = E_v { 2E[VᵀHV] + 2E[(Vᵀs)²] − E[Vᵀs]² }
//
// the mean over Number directions v. Its expectation is the classical objective, because E[vvᵀ] =
// I. VarianceReduced computes the squares exactly,
//
//	R = 2VᵀHV + 2‖m∘s‖²,  S = m∘s,  c = −1
//
// so that only the trace is estimated. On a domain V = T(√g∘v), with T the tangents of Truncated,
// and the term 2∂_jg_j s̃_j is added: its expectation over v is Truncated's objective. Units: 1/x².
type Sliced struct {
	Directions      Directions     `json:"directions"`       // rademacher
	Number          int            `json:"number"`           // directions per row; 1; basis takes all
	VarianceReduced bool           `json:"variance_reduced"` // compute squares exactly
	Domain          *domain.Domain `json:"-"`                // nil for R^d
	Weight          domain.Weight  `json:"-"`
}

const mostDirections = 10000 // per row; each is a pass through the model

func (o Sliced) WithDefaults() (Sliced, error) {
	if o.Directions == "" {
		o.Directions = Rademacher
	}
	switch o.Directions {
	case Rademacher, Normal:
		if o.Number == 0 {
			o.Number = 1
		}
		if o.Number < 0 || o.Number > mostDirections {
			return o, fmt.Errorf("%d directions: 1 to %d are possible", o.Number, mostDirections)
		}
	case Basis:
		if o.Number != 0 {
			return o, fmt.Errorf("%d directions: basis takes all d of them", o.Number)
		}
	default:
		return o, fmt.Errorf("unknown directions %q: use rademacher, normal or basis", o.Directions)
	}
	return o, nil
}

// Draws implements Drawing: true except for Basis.
func (o Sliced) Draws() bool { return o.Directions != Basis }

func (o Sliced) number(d int) int {
	if o.Directions == Basis {
		return d
	}
	return o.Number
}

func (o Sliced) truncated(d int) Truncated {
	if o.Domain == nil {
		return Truncated{Domain: domain.All(d)}
	}
	return Truncated{o.Domain, o.Weight}
}

const inputDirection = "direction %d" // (b, d): √g∘v, 0 where missing

func (o Sliced) Parts(b *graph.Builder, rows Rows, t model.Evaluation) Parts {
	n, d := graph.Shape(rows.Mask)
	k := o.number(d)
	share := 1 / float64(k)
	truncated := o.truncated(d)
	hessian, score := t.NeedHessianProduct(b), t.NeedScore(b)

	var linear, projections graph.Node
	for i := range k {
		v := truncated.tangential(b, b.Input(fmt.Sprintf(inputDirection, i), n, d))
		each := t.Hessians(rows.R)
		vhv := b.GroupRepeat(b.GroupDot(v, hessian(b.GroupRepeat(v, each)), each), rows.R/each)
		linear = plus(b, linear, b.Scale(2*share, vhv))
		if o.VarianceReduced {
			continue
		}
		vs := b.GroupDot(v, score, rows.R)
		linear = b.Add(linear, b.Scale(2*share, b.Map(graph.Square, vs)))
		if projections == nil {
			projections = vs
		} else {
			projections = graph.ConcatColumns(b, projections, vs)
		}
	}
	p := Parts{Linear: linear, Score: projections}
	g := rows.Mask
	if o.Domain.Bounded() {
		score = truncated.score(b, n, rows.R, score)
		g = b.Input(inputG, n, d)
		p.Linear = b.Add(p.Linear, b.GroupDot(b.Scale(2, b.Input(inputSlope, n, d)), score, rows.R))
	}
	if o.VarianceReduced {
		p.Linear = b.Add(p.Linear, graph.GroupSquares(b, b.Scale(2, g), score, rows.R))
		p.Score, p.Quadratic = score, b.Scale(-1, g)
		return p
	}
	p.Quadratic = b.Rows(b.Constant(1, k, slices.Repeat([]float64{-share}, k)), n)
	return p
}

func plus(b *graph.Builder, x, y graph.Node) graph.Node {
	if x == nil {
		return y
	}
	return b.Add(x, y)
}

func (o Sliced) Bind(p graph.Inputs, batch *data.Batch, rng *rand.Rand) {
	d := batch.D
	bounded := o.Domain.Bounded()
	if bounded {
		o.truncated(d).Bind(p, batch, rng)
	}
	for k := range o.number(d) {
		v := p.Input(fmt.Sprintf(inputDirection, k))
		for i, m := range batch.Mask {
			switch {
			case o.Directions == Normal:
				v[i] = rng.NormFloat64()
			case o.Directions == Rademacher:
				v[i] = 2*float64(rng.Uint64()>>63) - 1
			case i%d == k:
				v[i] = math.Sqrt(float64(d))
			default:
				v[i] = 0
			}
			if m == 0 {
				v[i] = 0
			}
		}
		if bounded {
			for i, g := range p.Input(inputG) {
				v[i] *= math.Sqrt(g)
			}
		}
	}
}
