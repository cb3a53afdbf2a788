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
	"missingscore/internal/testtables"
	"missingscore/losses"
	"missingscore/nets"
)

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

// A program is refused, or built if want is empty.
func TestProgramsAreRefused(t *testing.T) {
	g := model.NewGaussian(d, model.CholeskyFactor)
	changed := func(change func(*model.Evaluation)) model.Model {
		return testtables.Changed{Model: g, Change: change}
	}
	scoreAlone := testtables.ScoreAlone(g)
	noDiagonal := changed(func(t *model.Evaluation) { t.Diagonal = nil })
	noProduct := changed(func(t *model.Evaluation) { t.HessianProduct = nil })
	noScore := changed(func(t *model.Evaluation) { t.Score = nil })
	law := model.NewLogisticMissingness(selfMasked())
	masked := &model.Joint{Model: normalModel(t, 3, model.FreeSymmetric), Missingness: law}
	sliced := losses.Sliced{Directions: losses.Rademacher, Number: 1}
	half := domain.All(d)
	half.Half = []domain.HalfSpace{{A: []float64{1, 1, 0, 0}, B: 3}}
	box := domain.All(d)
	box.Lower[0] = 0
	onBox, onHalf := losses.Truncated{Domain: box}, losses.Truncated{Domain: half}
	steps := losses.Denoising{Noise: noise.Schedule{Kind: noise.Exploding, Least: 0.1, Most: 1}}
	with := func(l losses.Loss, w losses.Weighting) way { return way{l, w} }
	none := noWeights{losses.Uniform}
	const parts = "objective losses_test.lacking lacks one of its parts Linear, Score and Quadratic"
	for _, c := range []struct {
		m    model.Model
		way  way
		o    losses.Objective
		r    int
		want string
	}{
		{scoreAlone, byUniform, losses.Classical, 3, "a score but no log density"},
		{scoreAlone, byEM, losses.Classical, 3, "a score but no log density"},
		{scoreAlone, byZeroed, losses.Classical, 3, ""},
		{noDiagonal, byUniform, losses.Classical, 3, "no diagonal of its Hessian, which the classical and truncated"},
		{noDiagonal, byUniform, onBox, 3, "no diagonal of its Hessian"},
		{noDiagonal, byUniform, sliced, 3, ""},
		{noProduct, byUniform, sliced, 3, "gives no Hessian product, which sliced objectives and half-spaces need"},
		{noProduct, byUniform, onHalf, 3, "no Hessian product"},
		{noProduct, byUniform, onBox, 3, ""},
		{noScore, byUniform, sliced, 3, "gives no score"},
		{noScore, byUniform, losses.Classical, 3, "gives no score"},

		{g, byUniform, lacking{}, 3, parts},
		{g, byZeroed, lacking{}, 3, parts},
		{g, byCompleteData, lacking{}, 3, parts},
		{g, byDirect, lacking{}, 3, parts},
		{g, with(losses.Marginal, none), losses.Classical, 3, "weighting uniform gives no weights"},
		{g, with(losses.Complete, none), losses.Classical, 3, "weighting uniform gives no weights"},
		{g, with(losses.CompleteData, none), losses.Classical, 3, "weighting uniform gives no weights"},
		{g, with(losses.Direct, none), losses.Classical, 3, "weighting uniform gives no weights"},
		{g, with(noResult{losses.Marginal}, losses.Uniform), losses.Classical, 3, "loss marginal gives no surrogate"},

		{g, with(losses.Complete, losses.LeaveOneOut), losses.Classical, 4, "and loss complete has none"},
		{g, byLOO, losses.Classical, 2, "weighting leave-one-out needs at least 3 draws per row, not 2"},
		{g, with(losses.GaussianMarginal, losses.SelfNormalised), losses.Classical, 1, "loss gaussian-marginal makes none"},
		{g, byClosedForm, losses.Classical, 2, "closed-form expectations: take 1 draw per row, not 2"},
		{g, byClosedForm, losses.Sliced{}, 1, "the closed form exists for the classical objective only"},
		{model.NewQuartic(d), byClosedForm, losses.Classical, 1, "the closed form exists for normal models"},
		{changed(func(*model.Evaluation) {}), byClosedForm, losses.Classical, 1, "exists for normal models"},
		{model.NewGaussian(d, model.Natural), byClosedForm, losses.Classical, 1, "the model has the parameter η = Pμ"},
		{g, byCompleteData, ladder, 1, "it treats imputed cells as observed, but no noise was added"},
		{g, byCompleteData, fixedNoise("one"), 1, "use em"},
		{g, byUniform, steps, 1, "many noise levels"},
		{masked, byIW, fixedNoise("one"), 4, "cannot be combined with an objective that adds noise"},
	} {
		_, err := losses.New(graph.Float64, c.way.Loss, c.way.weighting, c.m, c.o, 2, c.r)
		if c.want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, c.want)
		}
	}
	censored := domain.All(d)
	censored.Gaps = &domain.Domain{Lower: censored.Lower, Upper: censored.Upper}
	check := losses.CompleteData.(losses.DomainChecker).CheckDomain
	require.ErrorContains(t, check(censored), "censored cells lie beyond")
	require.NoError(t, check(nil))

	imp := nets.NewMixtureImputer(2, nets.MixtureOptions{Components: 2, Hidden: 3}, stream.New(1))
	plane := domain.All(2)
	plane.Lower[0] = 0
	for _, c := range []struct {
		k    losses.ImputerLoss
		o    losses.Objective
		s    *domain.Domain
		want string
	}{
		{losses.Fisher, losses.Classical, nil, "the loss fisher needs its score; take Spec.Steps.ImputerLoss kl"},
		{losses.KL, losses.Truncated{Domain: plane}, plane, "it cannot be restricted to a domain with a boundary"},
		{losses.KL, ladder, nil, "it does not support noise levels"},
	} {
		_, err := losses.NewImputer(graph.Float64, c.k, imp, model.NewGaussian(2, model.Natural), c.o, c.s, 3)
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, err, "does not draw independent normals")
	}
	_, err := losses.WeightingByName("median")
	require.ErrorContains(t, err, "weightings are leave-one-out, self-normalised, uniform")
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
		{
			name: "sliced", options: `{"directions":"basis","variance_reduced":true}`, support: box,
			want: losses.Sliced{Directions: losses.Basis, VarianceReduced: true, Domain: box},
		},
		{
			name: "denoising", options: `{"noise":{"kind":"preserving","levels":10},"weight":"one"}`,
			want: losses.Denoising{Noise: noise.Schedule{Kind: noise.Preserving, Least: 0.1, Most: 20, Levels: 10}, Weight: "one"},
		},
		{name: "classical", support: box, problem: "take truncated or sliced"},
		{name: "truncated", problem: "needs a support that ends"},
		{name: "denoising", support: box, problem: "moves rows out of the support"},
		{name: "classic", problem: "objectives are classical, denoising, sliced, truncated"},
		{name: "classical", options: `{"number":1}`, problem: "should look like {}"},
		{name: "sliced", options: `{"numbers":1}`, problem: `"directions": …, "number": …, "variance_reduced": …`},
		{name: "sliced", options: `{"directions":"axis"}`, problem: "use rademacher, normal or basis"},
		{name: "sliced", options: `{"directions":"basis","number":2}`, problem: "basis takes all d"},
		{name: "denoising", options: `{"weight":"two"}`, problem: "use variance or one"},
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
	for want, s := range map[string]losses.ObjectiveSetting{
		"objective classical: a table of 0 columns":        {},
		"objective classical: 1 names for 2 columns":       {Dim: 2, Names: []string{"a"}},
		"objective classical: a domain of 3 columns for 2": {Dim: 2, Domain: domain.All(3)},
	} {
		_, err := losses.NewObjective("classical", s)
		require.EqualError(t, err, want)
	}
}

// docs/theory/index.md#assumptions
func TestLossesSayWhatTheyAssume(t *testing.T) {
	want := map[string]losses.Assumption{
		"marginal": losses.MCAR, "gaussian-marginal": losses.MCAR, "direct": losses.MCAR, "complete": losses.MCAR,
		"complete-data": losses.MAR, "gaussian-complete": losses.MAR,
	}
	for name, assumes := range want {
		require.Equal(t, assumes, losses.Losses[name].Needs().Assumes, name)
	}
}
