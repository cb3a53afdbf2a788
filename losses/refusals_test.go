package losses_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/noise"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/nets"
)

type part struct {
	model.Model
	leave func(*model.Evaluation)
}

func (m part) Evaluate(b *graph.Builder, x graph.Node) model.Evaluation {
	t := m.Model.Evaluate(b, x)
	m.leave(&t)
	return t
}

func TestMissingPartsAreRefusedByName(t *testing.T) {
	g := model.NewGaussian(d, model.CholeskyFactor)
	scoreAlone := part{g, func(t *model.Evaluation) { t.LogDensity = nil }}
	noDiagonal := part{g, func(t *model.Evaluation) { t.Diagonal = nil }}
	noProduct := part{g, func(t *model.Evaluation) { t.HessianProduct = nil }}
	noScore := part{g, func(t *model.Evaluation) { t.Score = nil }}
	sliced := losses.Sliced{Directions: losses.Rademacher, Number: 1}
	half := domain.All(d)
	half.Half = []domain.HalfSpace{{A: []float64{1, 1, 0, 0}, B: 3}}
	box := domain.All(d)
	box.Lower[0] = 0
	for _, c := range []struct {
		m    model.Model
		way  way
		o    losses.Objective
		want string
	}{
		{scoreAlone, byUniform, losses.Classical, "a score but no log density"},
		{scoreAlone, byEM, losses.Classical, "a score but no log density"},
		{scoreAlone, byZeroed, losses.Classical, ""},
		{noDiagonal, byUniform, losses.Classical, "no diagonal of its Hessian, which the classical and truncated"},
		{noDiagonal, byUniform, losses.Truncated{Domain: box}, "no diagonal of its Hessian"},
		{noDiagonal, byUniform, sliced, ""},
		{noProduct, byUniform, sliced, "the model gives no Hessian product, which sliced objectives and half-spaces need"},
		{noProduct, byUniform, losses.Truncated{Domain: half}, "no Hessian product"},
		{noProduct, byUniform, losses.Truncated{Domain: box}, ""},
		{noScore, byUniform, sliced, "gives no score"},
		{noScore, byUniform, losses.Classical, "gives no score"},
	} {
		_, err := losses.New(graph.Float64, c.way.Loss, c.way.weighting, c.m, c.o, 2, 3)
		if c.want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, c.want)
		}
	}
}

type lacking struct{}

func (lacking) Bind(graph.Inputs, *data.Batch, *rand.Rand) {}
func (lacking) Parts(*graph.Builder, losses.Rows, model.Evaluation) losses.Parts {
	return losses.Parts{}
}

type noWeights struct{ losses.Weighting }

func (noWeights) Weights(*graph.Builder, losses.Rows, model.Evaluation) graph.Node { return nil }

type noResult struct{ losses.Loss }

func (noResult) Add(*graph.Builder, model.Model, losses.Objective, losses.Rows, losses.Weighting) losses.Result {
	return losses.Result{}
}

func TestPartsThatGiveNothingAreNamed(t *testing.T) {
	g := model.NewGaussian(d, model.CholeskyFactor)
	for _, l := range []losses.Loss{losses.Marginal, losses.Complete, losses.CompleteData, losses.Direct} {
		_, err := losses.New(graph.Float64, l, losses.Uniform, g, lacking{}, 2, 3)
		require.EqualError(t, err, "objective losses_test.lacking lacks one of its parts Linear, Score and Quadratic", l.Name())
		_, err = losses.New(graph.Float64, l, noWeights{losses.Uniform}, g, losses.Classical, 2, 3)
		require.EqualError(t, err, "weighting uniform gives no weights", l.Name())
	}
	_, err := losses.New(graph.Float64, noResult{losses.Marginal}, losses.Uniform, g, losses.Classical, 2, 3)
	require.EqualError(t, err, "loss marginal gives no surrogate, or no value to report")
}

func TestChoicesThatDoNotGoTogether(t *testing.T) {
	g := model.NewGaussian(d, model.CholeskyFactor)
	for _, c := range []struct {
		l    losses.Loss
		w    losses.Weighting
		m    model.Model
		o    losses.Objective
		r    int
		want string
	}{
		{losses.Complete, losses.LeaveOneOut, g, losses.Classical, 4, "weighting leave-one-out removes the bias of products of two averages over the same draws, and loss complete has none"},
		{losses.Marginal, losses.LeaveOneOut, g, losses.Classical, 2, "weighting leave-one-out needs at least 3 draws per row, not 2"},
		{losses.GaussianMarginal, losses.SelfNormalised, g, losses.Classical, 1, "weighting self-normalised needs draws, and loss gaussian-marginal makes none"},
		{losses.GaussianMarginal, losses.Uniform, g, losses.Classical, 2, "loss gaussian-marginal uses closed-form expectations: take 1 draw per row, not 2"},
		{losses.GaussianMarginal, losses.Uniform, g, losses.Sliced{}, 1, "loss gaussian-marginal: the closed form exists for the classical objective only"},
		{losses.GaussianMarginal, losses.Uniform, model.NewQuartic(d), losses.Classical, 1, "the closed form exists for normal models"},
		{losses.GaussianMarginal, losses.Uniform, part{g, func(*model.Evaluation) {}}, losses.Classical, 1, "the closed form exists for normal models"},
		{losses.GaussianMarginal, losses.Uniform, model.NewGaussian(d, model.Natural), losses.Classical, 1, "the closed form needs the mean: the model has the parameter η = Pμ"},
		{losses.CompleteData, losses.Uniform, g, ladder, 1, "loss complete-data: it treats imputed cells as observed, but no noise was added"},
	} {
		_, err := losses.New(graph.Float64, c.l, c.w, c.m, c.o, 2, c.r)
		require.ErrorContains(t, err, c.want)
	}
	censored := domain.All(d)
	censored.Gaps = &domain.Domain{Lower: censored.Lower, Upper: censored.Upper}
	require.ErrorContains(t, losses.CompleteData.(losses.DomainChecker).CheckDomain(censored), "censored cells lie beyond")
	require.NoError(t, losses.CompleteData.(losses.DomainChecker).CheckDomain(nil))
}

func TestWeightingsByName(t *testing.T) {
	for name, w := range losses.Weightings {
		got, err := losses.WeightingByName(name)
		require.NoError(t, err)
		require.Equal(t, w, got)
		require.Equal(t, name, w.Name())
	}
	_, err := losses.WeightingByName("median")
	require.ErrorContains(t, err, "weightings are leave-one-out, self-normalised, uniform")
}

func TestObjectivesKnowTheirTable(t *testing.T) {
	for want, s := range map[string]losses.ObjectiveSetting{
		"objective classical: a table of 0 columns":        {},
		"objective classical: 1 names for 2 columns":       {Dim: 2, Names: []string{"a"}},
		"objective classical: a domain of 3 columns for 2": {Dim: 2, Domain: domain.All(3)},
	} {
		_, err := losses.NewObjective("classical", s)
		require.EqualError(t, err, want)
	}
}

func TestOtherImputersAreRefusedByName(t *testing.T) {
	imp := newPair(2, true)
	box := domain.All(2)
	box.Lower[0] = 0
	m := model.NewGaussian(2, model.CholeskyFactor)
	for _, c := range []struct {
		k    losses.ImputerLoss
		o    losses.Objective
		s    *domain.Domain
		want string
	}{
		{losses.Fisher, losses.Classical, nil, "the loss fisher needs its score; take Spec.Steps.ImputerLoss kl"},
		{losses.KL, losses.Truncated{Domain: box}, box, "it cannot be restricted to a domain with a boundary"},
		{losses.KL, ladder, nil, "it does not support noise levels"},
	} {
		_, err := losses.NewImputer(graph.Float64, c.k, imp, m, c.o, c.s, 3)
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, err, "does not draw independent normals")
	}
	_, err := nets.NewImputer("gan", 2, nil, stream.New(1))
	require.ErrorContains(t, err, `there is no imputer "gan"; imputers are linear, mixture, normal`)
	made, err := nets.NewImputer("normal", 2, []byte(`{"hidden":5}`), stream.New(1))
	require.NoError(t, err)
	require.Equal(t, nets.NormalOptions{Hidden: 5}, made.Options())
	_, err = nets.NewImputer("normal", 2, []byte(`{"hiden":5}`), stream.New(1))
	require.ErrorContains(t, err, "imputer normal: options")
	options, err := nets.ImputerAtLevels("normal", []byte(`{"hidden":5}`))
	require.NoError(t, err)
	require.Contains(t, string(options), `"noise_conditional":true`)
}

func TestObjectivesByName(t *testing.T) {
	box := domain.All(2)
	box.Lower[0] = 0
	for _, c := range []struct {
		name, options string
		support       *domain.Domain
		want          losses.Objective
		problem       string
	}{
		{name: "auto", want: losses.Classical},
		{name: "auto", support: box, want: losses.Truncated{Domain: box}},
		{name: "sliced", want: losses.Sliced{Directions: losses.Rademacher, Number: 1}},
		{name: "sliced", options: `{"directions":"basis","variance_reduced":true}`, support: box, want: losses.Sliced{Directions: losses.Basis, VarianceReduced: true, Domain: box}},
		{name: "denoising", want: losses.Denoising{Noise: noise.Schedule{Kind: noise.Exploding, Least: 0.01, Most: 10}, Weight: "variance"}},
		{name: "denoising", options: `{"noise":{"kind":"preserving","levels":10},"weight":"one"}`, want: losses.Denoising{Noise: noise.Schedule{Kind: noise.Preserving, Least: 0.1, Most: 20, Levels: 10}, Weight: "one"}},
		{name: "classical", support: box, problem: "take truncated or sliced"},
		{name: "truncated", problem: "needs a support that ends"},
		{name: "denoising", support: box, problem: "moves rows out of the support"},
		{name: "classic", problem: "objectives are classical, denoising, sliced, truncated"},
		{name: "classical", options: `{"number":1}`, problem: "should look like {}"},
		{name: "sliced", options: `{"numbers":1}`, problem: `"directions": …, "number": …, "variance_reduced": …`},
		{name: "denoising", options: `{"noise":{"kind":"blue"}}`, problem: "noise schedules are fixed, exploding, preserving"},
	} {
		got, err := losses.NewObjective(c.name, losses.ObjectiveSetting{Dim: 2, Options: []byte(c.options), Domain: c.support})
		if c.problem != "" {
			require.ErrorContains(t, err, c.problem)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
}

// What each loss takes missing cells for: docs/theory/index.md#assumptions.
func TestLossesSayWhatTheyAssume(t *testing.T) {
	want := map[string]losses.Assumption{
		"marginal": losses.MCAR, "gaussian-marginal": losses.MCAR, "direct": losses.MCAR, "complete": losses.MCAR,
		"complete-data": losses.MAR, "gaussian-complete": losses.MAR,
	}
	for name, l := range losses.Losses {
		require.NotEmpty(t, l.Needs().Assumes, name)
		if assumes, ok := want[name]; ok {
			require.Equal(t, assumes, l.Needs().Assumes, name)
		}
	}
	require.Contains(t, losses.MCAR.String(), "completely at random (MCAR)")
	require.Equal(t, losses.MCAR.String(), losses.Assumption("").String())
	words := map[string]bool{}
	for _, a := range []losses.Assumption{losses.MCAR, losses.MAR, losses.KnownLaw, losses.EstimatedLaw, losses.NoGaps, losses.NoneHolds} {
		words[a.String()] = true
	}
	require.Len(t, words, 6)
}
