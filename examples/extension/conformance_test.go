package extension_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"

	"example.com/extension"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/gradcheck"
	"missingscore/graph/model"
	"missingscore/graph/modeltest"
	"missingscore/losses"
	"missingscore/nets"
	"missingscore/trainers/estimator"
	"missingscore/trainers/source"
)

// gonum's multivariate t.
func TestStudent(t *testing.T) {
	modeltest.Run(t, func(d int) model.Model {
		return extension.Student{Parametric: model.NewGaussian(d, model.CholeskyFactor), Freedom: 4}
	})
	normal := model.NewGaussian(2, model.CholeskyFactor)
	m := extension.Student{Parametric: normal, Freedom: 4}
	_, says := model.AsNormal(m)
	require.False(t, says)
	require.NoError(t, normal.SetPrecision(mat.NewSymDense(2, []float64{2, -0.6, -0.6, 1})))
	normal.SetMean([]float64{1, -1})
	var sigma mat.SymDense
	var c mat.Cholesky
	require.True(t, c.Factorize(normal.Precision()))
	require.NoError(t, c.InverseTo(&sigma))
	truth, ok := distmv.NewStudentsT(normal.Mean(), &sigma, 4, nil)
	require.True(t, ok)
	log, _ := at(t, m, []float64{0.3, 2, -4, 1})
	require.InDelta(t, truth.LogProb([]float64{0.3, 2})-truth.LogProb([]float64{-4, 1}), log[0]-log[1], 1e-12)

	made, err := model.New("student", 3, []byte(`{"freedom":7}`), nil)
	require.NoError(t, err)
	options, err := model.Options(made)
	require.NoError(t, err)
	again, err := model.New("student", 3, options, nil)
	require.NoError(t, err)
	require.Equal(t, 7., again.(extension.Student).Freedom)
	_, err = model.New("student", 3, []byte(`{"freedom":7`), nil)
	require.EqualError(t, err, "model student: it ends too early")
}

func attention(m model.Model, x []float64) float64 {
	p := map[string]*graph.Param{}
	for _, q := range m.Params() {
		p[q.Name] = q
	}
	d, e := len(x), p["query"].Cols
	project := func(j int, name string) []float64 {
		z := make([]float64, e)
		for i := range e {
			token := x[j]*p["size"].Value[j*e+i] + p["place"].Value[j*e+i]
			for k := range e {
				z[k] += token * p[name].Value[i*e+k]
			}
		}
		return z
	}
	log := 0.0
	for j, v := range x {
		log -= v * v / 2
		weight := make([]float64, d)
		for l := range d {
			weight[l] = math.Exp(floats.Dot(project(j, "query"), project(l, "key")) / math.Sqrt(float64(e)))
		}
		floats.Scale(1/floats.Sum(weight), weight)
		for k := range e {
			seen := 0.0
			for l, w := range weight {
				seen += w * project(l, "value")[k]
			}
			log += p["out"].Value[j*e+k] * math.Tanh(seen)
		}
	}
	return log
}

func TestEnergies(t *testing.T) {
	rng := func() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
	modeltest.Run(t, func(d int) model.Model { return extension.NewTwoLayers(d, 4, rng()) })
	modeltest.Run(t, func(d int) model.Model { return extension.NewAttention(d, 3, rng()) })
	m := extension.NewAttention(3, 4, rng())
	x := []float64{0.3, 2, -1, -0.4, 1, 1.5}
	log, _ := at(t, m, x)
	require.InDelta(t, attention(m, x[:3]), log[0], 1e-12)
	require.InDelta(t, attention(m, x[3:]), log[1], 1e-12)
}

func at(t *testing.T, m model.Model, x []float64) (log, score []float64) {
	t.Helper()
	e, err := model.NewEvaluator(m, len(x)/m.Dim(), false)
	require.NoError(t, err)
	log, score, err = e.At(x)
	require.NoError(t, err)
	return log, score
}

func roots(t *testing.T, d int) model.Model {
	t.Helper()
	m, err := model.New("roots", d, nil, nil)
	require.NoError(t, err)
	return m
}

// The score is η_j/√x_j − Σ_k K_jk √(x_k/x_j).
func TestRoots(t *testing.T) {
	modeltest.Run(t, func(d int) model.Model { return roots(t, d) })
	m := roots(t, 2)
	log, score := at(t, m, []float64{0.3, 2, 4, 1})
	require.InDelta(t, -0.3-2-(-4-1), log[0]-log[1], 1e-12)
	require.InDeltaSlice(t, []float64{-1, -1, -1, -1}, score, 1e-12)

	copy(m.Params()[0].Value, []float64{0.5, -0.2})
	copy(m.Params()[1].Value, []float64{0, 0.4, math.Log(1.5)}) // L = [1 0; 0.4 1.5]
	k := [2][2]float64{{1, 0.4}, {0.4, 0.16 + 2.25}}
	x := []float64{0.7, 2.5}
	_, score = at(t, m, x)
	for j, eta := range []float64{0.5, -0.2} {
		want := eta / math.Sqrt(x[j])
		for l := range x {
			want -= k[j][l] * math.Sqrt(x[l]/x[j])
		}
		require.InDelta(t, want, score[j], 1e-12)
	}
	has, err := model.CapabilitiesOf(m)
	require.NoError(t, err)
	require.Equal(t, []float64{0, 0}, has.Support.Lower)
}

// Three rows of three columns, each drawn four times.
func program(t *testing.T, l losses.Loss, w losses.Weighting, o losses.Objective) (loss float64, gradient []float64) {
	t.Helper()
	m := model.NewGaussian(3, model.FreeSymmetric)
	p, err := losses.New(graph.Float64, l, w, m, o, 3, 4)
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(1, 2))
	b := data.NewBatch(3, 3)
	for i := range b.Mask {
		b.Mask[i] = float64(i % 2)
	}
	for i := range p.Input(losses.InputX) {
		p.Input(losses.InputX)[i] = rng.NormFloat64()
	}
	for i := range p.Input(losses.InputLogProposal) {
		p.Input(losses.InputLogProposal)[i] = rng.NormFloat64()
	}
	for i := range b.Weight {
		b.Weight[i] = 1 / 3.0
	}
	losses.Bind(p, l, o, b, rng)
	require.NoError(t, p.Run())
	for _, q := range m.Params() {
		gradient = append(gradient, p.Grad(q)...)
	}
	return p.Output(losses.OutputReported)[0], gradient
}

func TestColumns(t *testing.T) {
	setting := losses.ObjectiveSetting{Dim: 3, Names: []string{"a", "b", "c"}, Options: []byte(`{"weights":[1,1,1]}`)}
	made, err := losses.NewObjective("columns", setting)
	require.NoError(t, err)
	snis := losses.SelfNormalised
	want, wantGradient := program(t, losses.Marginal, snis, losses.Classical)
	got, gradient := program(t, losses.Marginal, snis, made)
	require.Equal(t, want, got)
	require.Equal(t, wantGradient, gradient)
	_, without := program(t, losses.Complete, losses.Uniform, extension.Columns{Weights: []float64{0, 1, 1}})
	require.Zero(t, without[3], "P_11, after the mean: the column that does not count")

	setting.Options = []byte(`{"weights":[1,1]}`)
	_, err = losses.NewObjective("columns", setting)
	require.ErrorContains(t, err, "objective columns: 2 weights for the 3 columns [a b c]")
	setting.Options = []byte(`{"weights":"all"}`)
	_, err = losses.NewObjective("columns", setting)
	require.EqualError(t, err, `objective columns: "weights" takes no string`)
	setting.Options, setting.Domain = []byte(`{"weights":[1,1,1]}`), domain.All(3)
	setting.Domain.Lower[0] = 0
	_, err = losses.NewObjective("columns", setting)
	require.ErrorContains(t, err, "without bounds")
}

func TestTemperedAndBlend(t *testing.T) {
	want, wantGradient := program(t, losses.Marginal, losses.SelfNormalised, losses.Classical)
	got, gradient := program(t, losses.Marginal, extension.Tempered{Power: 1}, losses.Classical)
	require.Equal(t, want, got)
	require.Equal(t, wantGradient, gradient)
	got, gradient = program(t, extension.Blend{Share: 1}, losses.SelfNormalised, losses.Classical)
	require.InDelta(t, want, got, 1e-12)
	require.InDeltaSlice(t, wantGradient, gradient, 1e-12)
	other, _ := program(t, losses.Complete, losses.SelfNormalised, losses.Classical)
	got, _ = program(t, extension.Blend{Share: 0.25}, losses.SelfNormalised, losses.Classical)
	require.InDelta(t, 0.25*want+0.75*other, got, 1e-12)
	_, err := losses.New(graph.Float64, losses.GaussianMarginal, extension.Tempered{Power: 1}, model.NewGaussian(2, model.CholeskyFactor), losses.Classical, 1, 1)
	require.ErrorContains(t, err, "needs draws")
}

func TestHotDeck(t *testing.T) {
	const draws = 20000
	table, err := data.NewTable([]string{"a", "b"}, []float64{1, 0, 2, -1, 3, 4, 0, 2}, []bool{true, true, true, true, true, true, false, true})
	require.NoError(t, err)
	e, err := estimator.ByName("iw-hot-deck")
	require.NoError(t, err)
	s, err := e.Source.New(source.Setting{Table: table, Draws: draws})
	require.NoError(t, err)
	b := data.NewBatch(1, 2)
	b.Fill(table, []int{3}, 1)
	x, log := make([]float64, 2*draws), make([]float64, draws)
	require.NoError(t, s.Complete(b, x, log, new(source.Stream).At(1)))
	var drawn []float64
	inverse := 0.0 // E[1/density] over an interval is its length
	for k := range draws {
		require.Equal(t, 2.0, x[2*k+1], "what was observed stays")
		drawn = append(drawn, x[2*k])
		if v := x[2*k]; v > 1 && v < 3 {
			inverse += math.Exp(-log[k]) / draws
		}
	}
	mean, variance := stat.PopMeanVariance(drawn, nil)
	require.InDelta(t, 2, mean, 4*math.Sqrt(variance/draws))
	require.InEpsilon(t, 2./3+0.25, variance, 0.05)
	require.InEpsilon(t, 2/math.Sqrt(2*math.Pi)/0.5, inverse, 0.05, "up to the kernel's constant")
}

func TestMixture(t *testing.T) {
	const d, n = 2, 5
	imp, err := nets.NewImputer("own-mixture", d, []byte(`{"Components":2}`), rand.New(rand.NewPCG(1, 1)))
	require.NoError(t, err)
	p, err := losses.NewDraws(graph.Float64, imp, d, n)
	require.NoError(t, err)
	run := func(noise float64) (x, log, weights []float64) {
		for i := range n {
			p.Input(losses.InputX)[i*d], p.Input(losses.InputMask)[i*d] = float64(i), 1 // the second column is missing
			p.Input(losses.InputNoise)[i*d+1] = noise
		}
		require.NoError(t, p.Run())
		clone := func(name string) []float64 { return append([]float64(nil), p.Output(name)...) }
		return clone(losses.OutputDraws), clone(losses.OutputLogDraw), clone(losses.OutputLogWeight)
	}
	means, _, weights := run(0)
	x, log, _ := run(1.3)
	sd := math.Exp(imp.Params()[6].Value[1])
	for i := range n {
		density := func(v float64) (sum float64) {
			for l := 2 * i; l < 2*i+2; l++ {
				sum += math.Exp(weights[l]-0.5*math.Pow((v-means[l*d+1])/sd, 2)) / sd
			}
			return sum
		}
		require.InDelta(t, 1, math.Exp(weights[2*i])+math.Exp(weights[2*i+1]), 1e-12)
		require.InDelta(t, math.Sqrt(2*math.Pi), quad.Fixed(density, -20, 20, 400, nil, 0), 1e-9)
		for k := 2 * i; k < 2*i+2; k++ {
			require.InDelta(t, means[k*d+1]+1.3*sd, x[k*d+1], 1e-12)
			require.InDelta(t, math.Log(density(x[k*d+1])), log[k], 1e-12)
		}
	}

	train, err := losses.NewImputer(graph.Float64, losses.KL, imp, model.NewQuartic(d), losses.Classical, nil, n)
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(2, 2))
	for i := range n {
		train.Input(losses.InputX)[i*d], train.Input(losses.InputMask)[i*d], train.Input(losses.InputWeight)[i] = rng.NormFloat64(), 1, 1
		train.Input(losses.InputNoise)[i*d+1] = rng.NormFloat64()
	}
	diff, err := gradcheck.Params(train, imp.Params(), gradcheck.Step, func() (float64, error) {
		err := train.Run()
		return train.Output(losses.OutputReported)[0], err
	})
	require.NoError(t, err)
	require.Less(t, diff.Error, 1e-6, "%+v", diff)

	_, err = nets.NewImputer("own-mixture", d, []byte(`{"Components":1}`), rng)
	require.ErrorContains(t, err, "or more")
}
