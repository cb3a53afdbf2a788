package losses

import (
	"math"
	"slices"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/truncnorm"
	"missingscore/internal/setting"
	"missingscore/nets"
)

// ImputerLoss fits an imputer to the model's conditional distribution p_θ(x_mis | x_obs) (paper,
// "Variational Approximation").
type ImputerLoss string

const (
	// KL is E[log q'_φ(x') − log q_θ(x_obs, x')]. Its reparametrised φ-gradient is that of log
	// q'_φ(x') − Σ_{j∉Λ} sg(s_θ(x))_j x'_j.
	KL ImputerLoss = "kl"
	// Fisher is E Σ_{j∉Λ} (ε_j/σ_j + s_θ(x)_j)²; its φ-gradient goes through s_θ.
	Fisher ImputerLoss = "fisher"
)

// Inputs of an imputer program besides InputX (zero-filled rows), InputMask and InputWeight.
const (
	InputNoise = "noise" // ε (b, d), standard normal

	inputLower    = "lower bound"       // (b, d), infinite for observed cells
	inputUpper    = "upper bound"       // (b, d)
	inputCut      = "cut"               // (b, d): a_mis of the row's half-space, or 0
	inputCutBound = "cut bound"         // (b, 1): b − a_obsᵀx_obs
	inputIsCut    = "whether it is cut" // (b, 1): 1 if a half-space cuts the row
)

// NewImputer builds the program of one imputer step on b rows: one draw per row and stratum, the
// loss per row weighted by InputWeight, and its φ-gradient. If the objective o adds noise, rows
// are noisy and InputSignal and InputNoiseLevel are inputs.
//
// The Fisher loss, noise levels and a domain with a boundary need a nets.NormalConditional.
func NewImputer(t graph.DType, k ImputerLoss, imp nets.Imputer, m model.Model, o Objective, s *domain.Domain, rows int) (*graph.Program, error) {
	normal, ok := imp.(nets.NormalConditional)
	if err := refuse(k, o, s); !ok && err != nil {
		return nil, err
	}
	return graph.BuildAs(t, func(b *graph.Builder) {
		d := m.Dim()
		x0, mask := b.Input(InputX, rows, d), b.Input(InputMask, rows, d)
		noise := b.Input(InputNoise, rows, imp.Noise())
		weight := b.Input(InputWeight, rows, 1)
		at := Rows{R: 1, Mask: mask}
		at.levels(b, m, o)
		var surrogate, reported graph.Node // per row (b, 1)
		if of := (nets.ImputerRows{X: x0, Mask: mask, Signal: at.Signal, Noise: at.Noise}); ok {
			surrogate, reported = normalImputer(b, k, normal, m, s, of, at, noise)
		} else {
			surrogate, reported = strataImputer(b, imp.Draw(b, of, noise), m, of, at)
		}
		b.Minimise(b.Sum(b.Prod(weight, surrogate)), imp.Params()...)
		b.Output(OutputReported, b.Sum(b.Prod(weight, reported)))
	})
}

func refuse(k ImputerLoss, o Objective, s *domain.Domain) error {
	what := ""
	noising, ok := o.(Noising)
	switch {
	case k == Fisher:
		what = "the loss fisher needs its score; take Spec.Steps.ImputerLoss kl, or normal"
	case s.Bounded():
		what = "it cannot be restricted to a domain with a boundary; take normal"
	case ok && !noising.Schedule().Single():
		what = "it does not support noise levels; take normal"
	default:
		return nil
	}
	return &setting.Error{Field: "imputer", Allowed: "it does not draw independent normals: " + what}
}

// strataImputer adds the KL loss of draws x_k from strata with weights π_k,
//
//	Σ_k π_k (log q'_φ(x_k) − log q_θ(x_obs, x_k))
//
// Its reparametrised φ-gradient is that of Σ_k π_k (log q'_φ(x_k) − sg(log q_θ)) − Σ_k sg(π_k s_θ)ᵀ
// x_k over missing cells: the first part is the gradient through the weights and q', the second the
// gradient through the draws.
func strataImputer(b *graph.Builder, draw nets.Strata, m model.Model, of nets.ImputerRows, at Rows) (surrogate, reported graph.Node) {
	at.R = draw.K
	missing := b.GroupRepeat(b.Map(graph.Complement, of.Mask), draw.K)
	at.X = b.Add(b.GroupRepeat(of.X, draw.K), b.Prod(missing, draw.X))
	terms := at.Evaluate(b, m)
	density, score := terms.NeedLogDensity(b), graph.Detach(b, terms.NeedScore(b))
	along := b.RowSum(b.Prod(missing, b.Prod(score, draw.X)))
	if draw.LogWeight == nil {
		return b.Sub(draw.LogDensity, along), b.Sub(draw.LogDensity, density)
	}
	weight := b.Map(graph.Exp, draw.LogWeight)
	surrogate = b.Sub(b.Prod(weight, b.Sub(draw.LogDensity, graph.Detach(b, density))), b.Prod(graph.Detach(b, weight), along))
	return b.GroupSum(surrogate, draw.K), b.GroupSum(b.Prod(weight, b.Sub(draw.LogDensity, density)), draw.K)
}

// On R^d (s nil) it is x' = μ_φ(x⁰) + σ_φ ε.
//
// On a domain q'_φ is the normal restricted to the row's section: per coordinate for a box, along
// σ∘a for a half-space, by x' = μ + σ T(ε) with the increasing map T of graph.Transport. A
// half-space over bounded columns, or a second half-space, is ignored here: the imputer learns
// the conditional on the box, and its draws are restricted later.
func normalImputer(b *graph.Builder, k ImputerLoss, imp nets.NormalConditional, m model.Model, s *domain.Domain, of nets.ImputerRows, at Rows, z graph.Node) (surrogate, reported graph.Node) {
	rows, d := graph.Shape(of.X)
	mean, logSD := imp.Mean(b, of), imp.LogDeviation(b)
	var mass graph.Node // log mass of the normal in the section (b, 1), nil without a domain
	if s.Bounded() {
		z, mass = restrict(b, s, z, mean, logSD)
	}
	draw := nets.DrawNormal(b, imp, of, mean, z)
	if mass != nil {
		draw.LogDensity = b.Sub(draw.LogDensity, mass)
	}
	if k == KL {
		return strataImputer(b, draw, m, of, at)
	}
	inverse := b.Rows(b.Map(graph.Exp, b.Scale(-1, logSD)), rows)
	if level := imp.LevelLogDeviation(b, of.Signal, of.Noise); level != nil {
		inverse = b.Prod(inverse, b.Columns(b.Map(graph.Exp, b.Scale(-1, level)), d))
	}
	missing := b.Map(graph.Complement, of.Mask)
	at.X = b.Add(of.X, b.Prod(missing, draw.X))
	// Restriction does not change the score.
	gap := b.Add(b.Prod(z, inverse), at.Evaluate(b, m).NeedScore(b))
	loss := b.RowSum(b.Prod(missing, b.Map(graph.Square, gap)))
	return loss, loss
}

func restrict(b *graph.Builder, s *domain.Domain, z, mean, logSD graph.Node) (restricted, mass graph.Node) {
	rows, d := graph.Shape(z)
	restricted = z
	if s.Box() {
		inverse := b.Rows(b.Map(graph.Exp, b.Scale(-1, logSD)), rows)
		lower := b.Prod(b.Sub(b.Input(inputLower, rows, d), mean), inverse)
		upper := b.Prod(b.Sub(b.Input(inputUpper, rows, d), mean), inverse)
		restricted = graph.Transport(b, z, lower, upper)
		mass = b.RowSum(graph.LogMass(b, lower, upper))
	}
	if len(s.Half) == 0 {
		return restricted, mass
	}
	// Along u = σ∘a/‖σ∘a‖ the standardised draw stays below β = (b − aᵀμ)/‖σ∘a‖.
	a := b.Input(inputCut, rows, d)
	scaled := b.Prod(a, b.Rows(b.Map(graph.Exp, logSD), rows))
	size := b.Map(inverseRoot, b.RowDot(scaled, scaled))
	u := b.Prod(scaled, b.Columns(size, d))
	beta := b.Prod(b.Sub(b.Input(inputCutBound, rows, 1), b.RowDot(a, mean)), size)
	alpha := b.Constant(rows, 1, slices.Repeat([]float64{-truncnorm.Unbounded}, rows))
	along := b.RowDot(u, restricted)
	shift := b.Sub(graph.Transport(b, along, alpha, beta), along)
	restricted = b.Add(restricted, b.Prod(u, b.Columns(shift, d)))
	cut := b.Prod(b.Input(inputIsCut, rows, 1), graph.LogMass(b, alpha, beta))
	if mass == nil {
		return restricted, cut
	}
	return restricted, b.Add(mass, cut)
}

// inverseRoot is x^(−1/2), 0 at 0: an uncut row has no direction.
var inverseRoot = &graph.Function{Name: "inverse root", F: func(x float64) float64 {
	if x == 0 {
		return 0
	}
	return 1 / math.Sqrt(x)
}, Derivative: &graph.Function{Name: "inverse root'", F: func(x float64) float64 {
	if x == 0 {
		return 0
	}
	return -0.5 / (x * math.Sqrt(x))
}}}

// BindImputer fills the inputs of an imputer program for a batch, except the noise.
func BindImputer(p *graph.Program, s *domain.Domain, batch *data.Batch) {
	copy(p.Input(InputX), batch.X)
	copy(p.Input(InputMask), batch.Mask)
	copy(p.Input(InputWeight), batch.Weight)
	bindLevels(p, batch)
	if !s.Bounded() {
		return
	}
	if s.Box() {
		lower, upper := p.Input(inputLower), p.Input(inputUpper)
		low, high := s.GapBounds()
		for i, m := range batch.Mask {
			lower[i], upper[i] = -truncnorm.Unbounded, truncnorm.Unbounded
			if j := i % batch.D; m == 0 {
				lower[i], upper[i] = max(low[j], lower[i]), min(high[j], upper[i])
			}
		}
	}
	if len(s.Half) == 0 {
		return
	}
	a, bound, is := p.Input(inputCut), p.Input(inputCutBound), p.Input(inputIsCut)
	clear(a)
	clear(bound)
	clear(is)
	var c domain.Section
	for i := range batch.Rows {
		from, to := i*batch.D, (i+1)*batch.D
		s.Section(&c, batch.X[from:to], batch.Mask[from:to])
		if h, ok := c.Single(); ok {
			copy(a[from:to], h.A)
			bound[i], is[i] = h.B, 1
		}
	}
}

const (
	OutputMean  = "mean"
	OutputLogSD = "log sd"

	OutputLevelLogSD = "log sd by level" // (b, 1), of a noise-conditional imputer
)

// NewForward builds the program that evaluates a normal imputer on b rows: OutputMean (b, d) and
// OutputLogSD (1, d).
func NewForward(t graph.DType, imp nets.NormalConditional, d, rows int) (*graph.Program, error) {
	return graph.BuildAs(t, func(b *graph.Builder) {
		of := imputerRows(b, imp.NoiseConditional(), d, rows)
		if imp.NoiseConditional() {
			b.Output(OutputLevelLogSD, imp.LevelLogDeviation(b, of.Signal, of.Noise))
		}
		b.Output(OutputMean, imp.Mean(b, of))
		b.Output(OutputLogSD, b.Scale(1, imp.LogDeviation(b)))
	})
}

func imputerRows(b *graph.Builder, noiseConditional bool, d, rows int) (of nets.ImputerRows) {
	if noiseConditional {
		of.Signal, of.Noise = b.Input(InputSignal, rows, 1), b.Input(InputNoiseLevel, rows, 1)
	}
	of.X, of.Mask = b.Input(InputX, rows, d), b.Input(InputMask, rows, d)
	return of
}

const (
	OutputDraws     = "draws"       // (b·K, d)
	OutputLogDraw   = "log q'"      // (b·K, 1)
	OutputLogWeight = "log weights" // (b·K, 1), for K > 1
)

// NewDraws builds the program of an imputer's draws on b rows, one per stratum, from InputX,
// InputMask and InputNoise.
func NewDraws(t graph.DType, imp nets.Imputer, d, rows int) (*graph.Program, error) {
	return graph.BuildAs(t, func(b *graph.Builder) {
		draw := imp.Draw(b, imputerRows(b, false, d, rows), b.Input(InputNoise, rows, imp.Noise()))
		b.Output(OutputDraws, draw.X)
		b.Output(OutputLogDraw, draw.LogDensity)
		if draw.LogWeight != nil {
			b.Output(OutputLogWeight, draw.LogWeight)
		}
	})
}
