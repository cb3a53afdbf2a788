package losses_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/losses"
	"missingscore/nets"
)

// KL and Fisher losses of normal draws by their formulas: unbounded, on domains, censored, at
// levels of noise.
func TestImputerLosses(t *testing.T) {
	inf := math.Inf(1)
	box := domain.All(d)
	box.Lower[0], box.Upper[1], box.Lower[2], box.Upper[2] = -1.5, 2, -3, 4
	half := domain.All(d)
	half.Half = []domain.HalfSpace{{A: []float64{1, -0.5, 0, 0.8}, B: 1.5}}
	both := domain.All(d)
	both.Lower[2] = -3
	both.Half = half.Half
	censored := domain.All(d).Censoring([]float64{-inf, -0.5, -inf, -inf}, []float64{inf, inf, 1, inf})
	domains := map[string]*domain.Domain{
		"all": domain.All(d), "box": box, "half-space": half, "both": both, "censored": censored, "noise": nil,
	}
	for name, s := range domains {
		for _, o := range []nets.NormalOptions{
			{Hidden: 7, MaskInput: true}, {Hidden: 7, DiagonalSD: true, InitialLogS: -0.3},
		} {
			o.NoiseConditional = name == "noise"
			for _, kind := range []losses.ImputerLoss{losses.KL, losses.Fisher} {
				t.Run(fmt.Sprint(name, kind, o), func(t *testing.T) { imputerLoss(t, kind, o, s) })
			}
		}
	}
}

func imputerLoss(t *testing.T, kind losses.ImputerLoss, o nets.NormalOptions, s *domain.Domain) {
	p := newProblem(t, 6, 0.5, model.CholeskyFactor, 17)
	imp, b := nets.NewNormalImputer(d, o, stream.New(18, 18)), p.batch()
	var m model.Model = p.model
	objective := losses.Objective(losses.Classical)
	if o.NoiseConditional {
		imp.Slope.Value[0], imp.Slope.Value[1] = 0.4, -0.7
		m, objective = scaled{Gaussian: p.model}, ladder
		ladder.AddNoise(b, stream.New(36))
	}
	prog, err := losses.NewImputer(graph.Float64, kind, imp, m, objective, s, p.n)
	require.NoError(t, err)
	losses.BindImputer(prog, s, b)
	noise, rng := prog.Input(losses.InputNoise), stream.New(19, 19)
	for i := range noise {
		noise[i] = rng.NormFloat64()
	}
	testtables.Gradient(t, prog, imp.Params(), 1e-6, func() float64 { return reported(t, prog) })

	forward, err := losses.NewForward(graph.Float64, imp, d, p.n)
	require.NoError(t, err)
	copy(forward.Input(losses.InputX), b.X)
	if o.MaskInput {
		copy(forward.Input(losses.InputMask), p.mask)
	}
	if o.NoiseConditional {
		copy(forward.Input(losses.InputSignal), b.Signal)
		copy(forward.Input(losses.InputNoiseLevel), b.Noise)
	}
	require.NoError(t, forward.Run())
	joint, want := normal(t, p.model, nil), 0.0
	zero := joint.LogProb(p.model.Mean())
	for i, w := range p.weights() {
		size, scale := 1.0, 1.0
		if o.NoiseConditional {
			size = math.Hypot(b.Signal[i], b.Noise[i])
			level := 0.25 * math.Log(b.Noise[i]/b.Signal[i])
			scale = size * math.Exp(0.4*level-0.7*level*level)
		}
		sd := make([]float64, d)
		for j := range sd {
			sd[j] = imp.Deviation(j) * scale
		}
		of := func(x []float64) []float64 { return x[i*d : i*d+d] }
		mask := of(p.mask)
		row, z, log := restrictedRow(t, s, sd, of(b.X), mask, of(noise), of(forward.Output(losses.OutputMean)))
		floats.Scale(1/size, row)
		if kind == losses.KL {
			want += w * (log - joint.LogProb(row) + zero)
			continue
		}
		for j, score := range joint.ScoreInput(nil, row) {
			if mask[j] == 0 {
				want += w * math.Pow(z[j]/sd[j]+score/size, 2)
			}
		}
	}
	require.InDelta(t, want, reported(t, prog), 1e-9)
}

// restrictedRow completes a row by normal draws moved into the domain, with their log density.
func restrictedRow(t *testing.T, s *domain.Domain, sd, x, mask, noise, mean []float64) (row, z []float64, log float64) {
	row, z = append(row, x...), make([]float64, d)
	if s == nil {
		s = domain.All(d)
	}
	var c domain.Section
	s.Section(&c, row, mask)
	lower, upper := s.GapBounds()
	for j := range d {
		if mask[j] == 0 {
			alpha, beta := (lower[j]-mean[j])/sd[j], (upper[j]-mean[j])/sd[j]
			z[j] = inverseCDF(noise[j], alpha, beta)
			log -= math.Log(sd[j]) + logMass(alpha, beta)
		}
	}
	if len(c.Cuts) == 1 {
		u, beta := make([]float64, d), c.Cuts[0].B
		for j, a := range c.Cuts[0].A {
			u[j] = a * sd[j]
			beta -= a * mean[j]
		}
		size := floats.Norm(u, 2)
		floats.Scale(1/size, u)
		along := floats.Dot(u, z)
		floats.AddScaled(z, inverseCDF(along, math.Inf(-1), beta/size)-along, u)
		log -= logMass(math.Inf(-1), beta/size)
	}
	for j := range d {
		if mask[j] == 0 {
			row[j] = mean[j] + sd[j]*z[j]
			log -= z[j] * z[j] / 2
		}
	}
	require.True(t, c.Contains(row, mask))
	return row, z, log
}

var standard = distuv.UnitNormal

func logMass(alpha, beta float64) float64 {
	return math.Log(standard.CDF(beta) - standard.CDF(alpha))
}

func inverseCDF(z, alpha, beta float64) float64 {
	return standard.Quantile(standard.CDF(alpha) + standard.CDF(z)*(standard.CDF(beta)-standard.CDF(alpha)))
}

// At fixed noise the surrogate's gradient is the gradient of the reported value; its mean over the
// noise is the gradient of the KL divergence, by quadrature.
func TestKLOfMixtures(t *testing.T) {
	const n, observed = 400, 0.7 // the first column; the second is missing
	m := normalModel(t, 2, model.CholeskyFactor)
	imp := nets.NewMixtureImputer(2, nets.MixtureOptions{Components: 2, Hidden: 3}, stream.New(3, 3))
	for _, q := range imp.Params() {
		floats.Scale(1.5, q.Value) // far from the start
	}
	prog, err := losses.NewImputer(graph.Float64, losses.KL, imp, m, losses.Classical, nil, n)
	require.NoError(t, err)
	z, w := make([]float64, n), make([]float64, n)
	quad.Legendre{}.FixedLocations(z, w, -9, 9)
	log := logNormal(m)
	for i := range n {
		prog.Input(losses.InputX)[2*i], prog.Input(losses.InputMask)[2*i] = observed, 1
		prog.Input(losses.InputNoise)[2*i+1] = z[i]
		prog.Input(losses.InputWeight)[i] = w[i] * standard.Prob(z[i])
	}
	draws, err := losses.NewDraws(graph.Float64, imp, 2, 2) // at noise 0 and 1
	require.NoError(t, err)
	copy(draws.Input(losses.InputX), []float64{observed, 0, observed, 0})
	copy(draws.Input(losses.InputMask), []float64{1, 0, 1, 0})
	draws.Input(losses.InputNoise)[3] = 1
	kl := func() float64 { // ∫ q' (log q' − log q_θ) dx, log q' without ½ log 2π
		require.NoError(t, draws.Run())
		x, share := draws.Output(losses.OutputDraws), draws.Output(losses.OutputLogWeight)
		divergence := func(v float64) float64 {
			q := 0.0
			for k := range 2 {
				mean := x[2*k+1]
				q += math.Exp(share[k]) * distuv.Normal{Mu: mean, Sigma: x[4+2*k+1] - mean}.Prob(v)
			}
			if q == 0 {
				return 0
			}
			return q * (math.Log(q) + 0.5*math.Log(2*math.Pi) - log([]float64{observed, v}))
		}
		return quad.Fixed(divergence, -12, 12, 2000, nil, 0)
	}
	require.InDelta(t, kl(), reported(t, prog), 1e-9)
	testtables.Gradient(t, prog, imp.Params(), 1e-7, kl)
	testtables.Gradient(t, prog, imp.Params(), 1e-7, func() float64 { return reported(t, prog) })
}

// hidden is an imputer whose type says nothing but nets.Imputer.
type hidden struct{ nets.Imputer }

func TestOneStratumIsTheNormalImputer(t *testing.T) {
	p := newProblem(t, 9, 0.4, model.CholeskyFactor, 51)
	o := nets.NormalOptions{Hidden: 8, MaskInput: true, DiagonalSD: true, InitialLogS: -0.2}
	imp := nets.NewNormalImputer(d, o, stream.New(52))
	for _, dtype := range []graph.DType{graph.Float64, graph.Float32} {
		var results [2][][]float64
		for i, of := range []nets.Imputer{imp, hidden{imp}} {
			prog, err := losses.NewImputer(dtype, losses.KL, of, p.model, losses.Classical, nil, p.n)
			require.NoError(t, err)
			losses.BindImputer(prog, nil, p.batch())
			rng := stream.New(53)
			for k := range prog.Input(losses.InputNoise) {
				prog.Input(losses.InputNoise)[k] = rng.NormFloat64()
			}
			require.NoError(t, prog.Run())
			results[i] = append(results[i], []float64{prog.Loss()}, prog.Output(losses.OutputReported))
			for _, q := range imp.Params() {
				results[i] = append(results[i], prog.Grad(q))
			}
		}
		require.Equal(t, results[0], results[1])
	}
}
