package estimator_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/testtables"
	"missingscore/losses"
	"missingscore/trainers/estimator"
	"missingscore/trainers/estimatortest"
	"missingscore/trainers/source"
)

// Probability ½ for every cell.
func fair() model.Missingness {
	return &model.LogisticMissingness{Intercept: graph.NewParam("a", 1, 2), Slope: graph.NewParam("b", 2, 2)}
}

func TestFor(t *testing.T) {
	g := model.NewGaussian(2, model.CholeskyFactor)
	box := domain.All(2)
	box.Lower[0] = 0
	joint := &model.Joint{Model: g, Missingness: fair()}
	for _, c := range []struct {
		m    model.Model
		o    losses.Objective
		want string
	}{
		{g, losses.Classical, "exact"},
		{g, losses.Sliced{Directions: losses.Basis}, "exact-mc"},
		{g, losses.ObjectiveFor(box, domain.Weight{}), "exact-mc"},
		{model.NewGaussian(2, model.Natural), losses.Classical, "exact-mc"},
		{model.NewQuartic(2), losses.Classical, "exact"}, // an error of its Check
		{joint, losses.Classical, "exact"},
	} {
		e, err := estimator.ByName("exact")
		require.NoError(t, err)
		require.Equal(t, c.want, e.For(c.m, c.o, nil).Name)
	}
	_, err := estimator.ByName("varr")
	require.EqualError(t, err, `there is no method "varr" (did you mean var?); methods are var, iw, variw, exact, exact-mc, em-exact, em-exact-mc, em-var, em-variw, em-chains, chains, em, em-full, zeroed, pairwise, em-latent, full`)
}

func TestCheck(t *testing.T) {
	g := model.NewGaussian(2, model.CholeskyFactor)
	censored := domain.All(2)
	censored.Gaps = &domain.Domain{Lower: censored.Lower, Upper: censored.Upper}
	for _, c := range []struct {
		method string
		m      model.Model
		s      *domain.Domain
		want   string
	}{
		{"exact", model.NewQuartic(2), nil, "method exact: it needs a Gaussian model"},
		{"exact-mc", &model.Joint{Model: g, Missingness: fair()}, nil, "method exact-mc: it cannot be combined with a missingness mechanism"},
		{"em-full", g, censored, "method em-full: it treats imputed cells as observed"},
		{"iw", testtables.ScoreAlone(g), nil, "method iw: the model has no log density, which this method needs; use zeroed, full"},
		{"zeroed", testtables.ScoreAlone(g), nil, ""},
		{"var", model.NewQuartic(2), censored, ""},
		{"pairwise", model.NewQuartic(2), nil, "method pairwise: it needs a Gaussian model"},
		{"pairwise", g, censored, "method pairwise: pairwise moments are for columns without bounds"},
	} {
		e, err := estimator.ByName(c.method)
		require.NoError(t, err)
		if err = e.Check(c.m, losses.Classical, c.s); c.want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, c.want)
		}
	}
}

type inside struct {
	model.Model
	domain *domain.Domain
}

func (m inside) Support() *domain.Domain { return m.domain }

func TestCheckKnowsTheSupport(t *testing.T) {
	support, wider, narrower := domain.All(2), domain.All(2), domain.All(2)
	support.Lower[0], support.Half = 0, []domain.HalfSpace{{A: []float64{1, 1}, B: 2}}
	wider.Lower[0] = -1
	narrower.Lower[0], narrower.Half = 0.5, support.Half
	m := inside{model.NewQuartic(2), support}
	e, err := estimator.ByName("iw")
	require.NoError(t, err)
	for _, s := range []*domain.Domain{nil, domain.All(2), wider} {
		require.ErrorContains(t, e.Check(m, losses.ObjectiveFor(s, domain.Weight{}), s), "the domain reaches beyond the model")
		s = s.Intersect(model.SupportOf(m))
		require.NoError(t, e.Check(m, losses.ObjectiveFor(s, domain.Weight{}), s))
	}
	require.NoError(t, e.Check(m, losses.Truncated{Domain: narrower}, narrower))
}

func TestWeightingFor(t *testing.T) {
	for _, c := range []struct {
		method, weighting string
		draws             int
		want              losses.Weighting
		problem           string
	}{
		{"var", "", 10, losses.Uniform, ""},
		{"var", "leave-one-out", 10, losses.LeaveOneOut, ""},
		{"exact-mc", "", 10, losses.LeaveOneOut, ""},
		{"exact-mc", "", 2, losses.Uniform, ""},
		{"exact-mc", "uniform", 10, losses.Uniform, ""},
		{"iw", "self-normalised", 10, losses.SelfNormalised, ""},
		{"iw", "leave-one-out", 10, nil, "the weighting of method iw is self-normalised; uniform and leave-one-out are interchangeable in the methods var, exact-mc"},
		{"var", "self-normalised", 10, nil, "the weighting of method var is uniform"},
		{"zeroed", "leave-one-out", 1, nil, "the weighting of method zeroed is uniform"},
		{"iw", "half", 10, nil, "there is no weighting \"half\"; weightings are leave-one-out, self-normalised, uniform"},
	} {
		e, err := estimator.ByName(c.method)
		require.NoError(t, err)
		got, err := e.WeightingFor(c.weighting, c.draws)
		if c.problem != "" {
			require.ErrorContains(t, err, c.problem)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
}

func TestRegister(t *testing.T) {
	defer func(all []estimator.Estimator) { estimator.All = all }(slices.Clone(estimator.All))
	mine := estimator.Estimator{Name: "mine", Source: source.Proposal, Weighting: losses.Uniform, Loss: losses.CompleteData}
	estimator.Register(mine)
	e, err := estimator.ByName("mine")
	require.NoError(t, err)
	require.True(t, e.Draws())
	require.PanicsWithValue(t, `estimator: a second method "mine"`, func() { estimator.Register(mine) })
	for want, bad := range map[string]estimator.Estimator{
		"method a: it needs a source, a weighting and a loss":                                                 {Name: "a"},
		"method b: weighting self-normalised needs the log density of the draws, which source zeros does not": {Name: "b", Source: source.Zeros, Weighting: losses.SelfNormalised, Loss: losses.Complete},
		"method c: loss gaussian-marginal makes no draws, but source proposal does":                           {Name: "c", Source: source.Proposal, Weighting: losses.Uniform, Loss: losses.GaussianMarginal},
		"method d: weighting leave-one-out removes the bias":                                                  {Name: "d", Source: source.Proposal, Weighting: losses.LeaveOneOut, Loss: losses.Complete},
	} {
		func() {
			defer func() { require.Contains(t, recover(), want) }()
			estimator.Register(bad)
		}()
	}
}

func TestEstimators(t *testing.T) {
	for _, e := range estimator.All {
		t.Run(e.Name, func(t *testing.T) { estimatortest.Run(t, e.Name) })
	}
}
