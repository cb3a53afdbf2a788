package losses_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"

	"missingscore/graph"
	"missingscore/graph/gradcheck"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/nets"
)

// pair is an imputer of two normals, the same for all rows; one normal if single.
type pair struct {
	d                  int
	logits, means, log *graph.Param
}

func newPair(d int, two bool) *pair {
	k := 1
	if two {
		k = 2
	}
	return &pair{d, graph.NewParam("logits", k, 1), graph.NewParam("means", k, d), graph.NewParam("log sd", 1, d)}
}

func (p *pair) Params() []*graph.Param {
	if p.logits.Rows == 1 {
		return []*graph.Param{p.means, p.log}
	}
	return []*graph.Param{p.logits, p.means, p.log}
}
func (p *pair) Options() any { return nil }
func (p *pair) Noise() int   { return p.d }

func (p *pair) Draw(b *graph.Builder, rows nets.ImputerRows, noise graph.Node) nets.Strata {
	n, _ := graph.Shape(rows.X)
	k := p.means.Rows
	means, logSD := graph.Tile(b, b.Param(p.means), n), b.Param(p.log)
	sd := b.Rows(b.Map(graph.Exp, logSD), n*k)
	x := b.Add(means, b.Prod(sd, b.GroupRepeat(noise, k)))
	missing := b.GroupRepeat(b.Map(graph.Complement, rows.Mask), k)
	log := func(means graph.Node, mask graph.Node, x graph.Node, m int) graph.Node {
		z := b.Prod(b.Sub(x, means), b.Rows(b.Map(graph.Exp, b.Scale(-1, logSD)), m))
		return b.Scale(-1, b.RowSum(b.Prod(mask, b.AddRow(b.Scale(0.5, b.Map(graph.Square, z)), logSD))))
	}
	if k == 1 {
		return nets.Strata{K: 1, X: x, LogDensity: log(means, missing, x, n)}
	}
	logits := graph.Tile(b, b.Param(p.logits), n)
	norm := b.GroupRepeat(graph.GroupLogSumExp(b, logits, k), k)
	weight := b.Sub(logits, norm)
	// of all components at each draw: (n·k·k, d)
	each := graph.Tile(b, b.Param(p.means), n*k)
	parts := log(each, b.GroupRepeat(missing, k), b.GroupRepeat(x, k), n*k*k)
	density := graph.GroupLogSumExp(b, b.Add(parts, graph.Tile(b, b.Sub(b.Param(p.logits), graph.Tile(b, graph.GroupLogSumExp(b, b.Param(p.logits), k), k)), n*k)), k)
	return nets.Strata{K: k, X: x, LogDensity: density, LogWeight: weight}
}

// At fixed noise the surrogate's gradient is that of the reported value; its mean over the noise
// is that of the KL, by quadrature.
func TestStrataKL(t *testing.T) {
	const n = 400
	m := model.NewGaussian(2, model.CholeskyFactor)
	m.Location.Value[0], m.Location.Value[1] = 0.2, -0.3
	copy(m.Packed.Value, []float64{0.1, 0.5, -0.2})
	imp := newPair(2, true)
	copy(imp.logits.Value, []float64{0.3, -0.4})
	copy(imp.means.Value, []float64{0, -0.8, 0, 1.1})
	copy(imp.log.Value, []float64{0, -0.5})

	prog, err := losses.NewImputer(graph.Float64, losses.KL, imp, m, losses.Classical, nil, n)
	require.NoError(t, err)
	const observed = 0.7 // the first column; the second is missing
	z, w := make([]float64, n), make([]float64, n)
	quad.Legendre{}.FixedLocations(z, w, -9, 9)
	for i := range n {
		prog.Input(losses.InputX)[2*i], prog.Input(losses.InputMask)[2*i] = observed, 1
		prog.Input(losses.InputNoise)[2*i+1] = z[i]
		prog.Input(losses.InputWeight)[i] = w[i] * math.Exp(-z[i]*z[i]/2) / math.Sqrt(2*math.Pi)
	}
	logNormal := func(x, mean, sd float64) float64 { return -0.5*(x-mean)*(x-mean)/sd/sd - math.Log(sd) }
	kl := func() (float64, error) { // ∫ q' (log q' − log q_θ) dx, log q' without ½ log 2π
		x, w := make([]float64, 2000), make([]float64, 2000)
		quad.Legendre{}.FixedLocations(x, w, -9, 9)
		pi := 1 / (1 + math.Exp(imp.logits.Value[1]-imp.logits.Value[0]))
		sd, prec, mu, sum := math.Exp(imp.log.Value[1]), m.Precision(), m.Mean(), 0.0
		for i, v := range x {
			q := pi*math.Exp(logNormal(v, imp.means.Value[1], sd)) + (1-pi)*math.Exp(logNormal(v, imp.means.Value[3], sd))
			a, c := observed-mu[0], v-mu[1]
			log := -0.5 * (prec.At(0, 0)*a*a + 2*prec.At(0, 1)*a*c + prec.At(1, 1)*c*c)
			if q > 0 {
				sum += w[i] * q / math.Sqrt(2*math.Pi) * (math.Log(q) - log)
			}
		}
		return sum, nil
	}
	require.NoError(t, prog.Run())
	want, _ := kl()
	require.InDelta(t, want, prog.Output(losses.OutputReported)[0], 1e-9)
	diff, err := gradcheck.Params(prog, imp.Params(), gradcheck.Step, kl)
	require.NoError(t, err)
	require.Less(t, diff.Error, 1e-7, "%+v", diff)

	diff, err = gradcheck.Params(prog, imp.Params(), gradcheck.Step, func() (float64, error) {
		err := prog.Run()
		return prog.Output(losses.OutputReported)[0], err
	})
	require.NoError(t, err)
	require.Less(t, diff.Error, 1e-7, "%+v", diff)
}

// hidden is an imputer whose type says nothing but nets.Imputer.
type hidden struct{ nets.Imputer }

func TestOneStratumIsTheNormalImputer(t *testing.T) {
	for _, dtype := range []graph.DType{graph.Float64, graph.Float32} {
		p := newProblem(t, 9, 0.4, model.CholeskyFactor, 51)
		imp := nets.NewNormalImputer(d, nets.NormalOptions{Hidden: 8, MaskInput: true, DiagonalSD: true, InitialLogS: -0.2}, stream.New(52))
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
