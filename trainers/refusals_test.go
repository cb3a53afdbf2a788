package trainers_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/graph/model"
	"missingscore/internal/data/transform"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/descent"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/inference"
	"missingscore/internal/trainers/regpath"
	"missingscore/losses"
	"missingscore/trainers"
	"missingscore/trainers/penalty"
)

// A setting is refused by its name that was not refused before.
func TestRefusals(t *testing.T) {
	_, numbers := testtables.Normal(t, 60, 24)
	law := &missingness.Model{Logistic: missingness.NewLogistic(2)}
	copy(law.Logistic.Intercept, []float64{0.8, 0.6})
	law.Logistic.Slope.SetRow(0, []float64{-1.5, 0.5})
	law.Logistic.Slope.SetRow(1, []float64{0, 1.2})
	two := testtables.Must(numbers.Select(numbers.Names[:2]))
	few := tenRows(t)
	few.Observed[4] = false
	categories, city := items(t, 100), cityTable(50)
	lower := domain.All(4)
	lower.Lower[1] = -100
	moments, pairs := counted(t, chain(t, 200, 4, 0.2), false), counted(t, chain(t, 200, 4, 0.2), true)

	type spec = trainers.Spec
	by := func(method string) spec { return spec{Steps: engine.Config{Method: method}} }
	ofRegpath := func(c regpath.Config) spec { return spec{Network: &c} }
	network := ofRegpath(regpath.Config{})
	made := func(m model.Model) func(int, *rand.Rand) (model.Model, error) {
		return func(int, *rand.Rand) (model.Model, error) { return m, nil }
	}
	l1 := func(c penalty.Config) func(s *spec) {
		return func(s *spec) { s.Descent.Penalty = c }
	}
	robust := func(s *spec) { s.Inference.Kind = "robust" }
	for _, group := range []struct {
		table   *data.Table
		base    spec
		refused map[string]func(s *spec) // by field or words
	}{
		{numbers, spec{}, map[string]func(s *spec){
			`there is no model "moon"`:        func(s *spec) { s.Model.Kind = "moon" },
			`there is no objective "moon"`:    func(s *spec) { s.Objective.Kind = "moon" },
			`there is no method "vae"`:        func(s *spec) { s.Steps.Method = "vae" },
			"ModelSpec.New returned no model": func(s *spec) { s.Model.New = made(nil) },
			"returned a model of 5 columns":   func(s *spec) { s.Model.New = made(model.NewQuartic(5)) },
			"ModelSpec.New makes the model":   func(s *spec) { s.Model.New, s.Model.Options = made(model.NewQuartic(4)), []byte("{}") },
			"ObjectiveSpec.New returned no objective": func(s *spec) {
				s.Objective.New = func(losses.ObjectiveSetting) (losses.Objective, error) { return nil, nil }
			},
			"optimiser lbfgs":                              func(s *spec) { s.Descent.Optimiser = "lbfgs" },
			"rate":                                         func(s *spec) { s.Descent.Rate = 3 },
			"validation":                                   func(s *spec) { s.Descent.Validation = new(0.1) },
			"draws":                                        func(s *spec) { s.Steps.Draws = 20 },
			"level: inference none does not use it":        func(s *spec) { s.Inference.Level = 0.9 },
			"resamples":                                    func(s *spec) { s.Inference.Resamples = 9 },
			"the command network":                          l1(penalty.Config{Kind: "l1"}),
			"for a fit it is none or robust":               func(s *spec) { s.Inference.Kind = "model" },
			"parameters of model energy":                   func(s *spec) { s.Model.Kind = "energy"; robust(s) },
			"the draws of method var have":                 func(s *spec) { s.Steps.Method = "var"; robust(s) },
			"the draws of method em-chains":                func(s *spec) { s.Steps.Method = "em-chains"; robust(s) },
			"method zeroed is biased":                      func(s *spec) { s.Steps.Method = "zeroed"; robust(s) },
			"support Spec.KeepUnits":                       func(s *spec) { s.KeepUnits = true; robust(s) },
			"it does not support this objective":           func(s *spec) { s.Objective.Kind = "sliced"; robust(s) },
			"it is for networks; leave it out":             func(s *spec) { s.Inference.Stability = 50; robust(s) },
			"method em-latent: the table has no ordered c": func(s *spec) { s.Steps.Method = "em-latent" },
		}},
		{two, spec{}, map[string]func(s *spec){"a given missingness mechanism": func(s *spec) { s.Missingness = law; robust(s) }}},
		{numbers, by("exact"), map[string]func(s *spec){"optimiser em": func(s *spec) { s.Descent.Optimiser = "em" }}},
		{numbers, by("zeroed"), map[string]func(s *spec){
			"optimiser lbfgs": func(s *spec) { s.Objective.Kind, s.Descent.Optimiser = "sliced", "lbfgs" },
		}},
		{numbers, by("var"), map[string]func(s *spec){"proposal_sd": func(s *spec) { s.Steps.ProposalSD = 4 }}},
		{numbers, by("iw"), map[string]func(s *spec){
			"free_draws":            func(s *spec) { s.Steps.FreeDraws = true },
			"imputer":               func(s *spec) { s.Steps.Imputer.Kind = "linear" },
			"imputer_options":       func(s *spec) { s.Steps.Imputer.Options = []byte(`{"hidden":3}`) },
			"imputer_steps":         func(s *spec) { s.Steps.ImputerSteps = 3 },
			"imputer_rate":          func(s *spec) { s.Steps.ImputerRate = 0.1 },
			"imputer_loss":          func(s *spec) { s.Steps.ImputerLoss = losses.Fisher },
			"warm_up":               func(s *spec) { s.Steps.WarmUp = new(7) },
			"weighting":             func(s *spec) { s.Steps.Weighting = "uniform" },
			"g_cap":                 func(s *spec) { s.Weight.Cap = 2 },
			"g_per_row":             func(s *spec) { s.Weight.Scalar = true },
			"no_tangent":            func(s *spec) { s.Weight.NoTangent = true },
			"lambda":                func(s *spec) { s.Descent.Penalty.Lambda = 1 },
			"iterations":            func(s *spec) { s.Descent.Iterations = 3 },
			"tolerance":             func(s *spec) { s.Descent.Tolerance = 1 },
			"patience":              func(s *spec) { s.Descent.Patience = 3 },
			"optimiser lbfgs":       func(s *spec) { s.Descent.Optimiser = "lbfgs" },
			"validation 0.6":        func(s *spec) { s.Descent.Validation = new(0.6) },
			"validation 0.005":      func(s *spec) { s.Descent.Validation = new(0.005) },
			"the model gaussian or": func(s *spec) { s.Model.Kind = "energy"; l1(penalty.Config{Kind: "l1"})(s) },
		}},
		{few, penalised("iw", penalty.Config{}), map[string]func(s *spec){
			"it is one of none, l1, ridge":        l1(penalty.Config{Kind: "l2"}),
			"use at least 2 folds":                l1(penalty.Config{Kind: "l1", Folds: 6}),
			"folds":                               l1(penalty.Config{Kind: "l1", Lambda: 1, Folds: 3}),
			"it must be a positive number, cv or": l1(penalty.Config{Kind: "l1", Lambda: -1}),
			"proximal needs a penalty":            func(s *spec) { s.Descent.Optimiser = "proximal" },
			"needs proximal or adam": func(s *spec) {
				s.Descent = descent.Config{Optimiser: "lbfgs", Penalty: penalty.Config{Kind: "l1", Lambda: 1}}
			},
		}},
		{numbers, network, map[string]func(s *spec){
			"a network needs the model gaussian":     func(s *spec) { s.Model.Kind = "quartic" },
			"a network needs the objective auto":     func(s *spec) { s.Objective.Kind = "classical" },
			"by NetworkResult.Rates":                 func(s *spec) { s.Truth = &trainers.Truth{} },
			"descent":                                func(s *spec) { s.Descent.Epochs = 3 },
			"penalty":                                func(s *spec) { s.Network.Penalty = regpath.Penalty{Kind: "l1", Alpha: 0.2} },
			"gamma":                                  func(s *spec) { s.Network.Select = regpath.Selection{Kind: "cv", Gamma: new(0.5)} },
			"density":                                func(s *spec) { s.Network.Select.Density = 0.5 },
			"folds":                                  func(s *spec) { s.Network.Select.Folds = 3 },
			"beta":                                   func(s *spec) { s.Network.Select.Beta = 0.1 },
			"false_edges":                            func(s *spec) { s.Network.Select.FalseEdges = 2 },
			"share":                                  func(s *spec) { s.Network.Select.Share = 0.8 },
			"rate":                                   func(s *spec) { s.Network.Select.Rate = 0.2 },
			"level: inference none does not use it":  func(s *spec) { s.Inference.Level = 0.9 },
			"resamples":                              func(s *spec) { s.Inference = inference.Config{Kind: "model", Resamples: 9} },
			"schedule":                               func(s *spec) { s.Network.InitialIter = 3 },
			"(did you mean x1?)":                     func(s *spec) { s.Network.Covariates = []string{"x11"} },
			"covariates x1: it is named twice":       func(s *spec) { s.Network.Covariates = []string{"x1", "x1"} },
			"a network needs at least two other col": func(s *spec) { s.Network.Covariates = []string{"x1", "x2", "x3"} },
		}},
		{numbers, ofRegpath(regpath.Config{Covariates: []string{"x1"}}), map[string]func(s *spec){
			"use Spec.Network.Penalty l1":    func(s *spec) { s.Network.Penalty.Kind = "adaptive" },
			"use ebic or fdr":                func(s *spec) { s.Network.Select.Kind = "stability" },
			"use Spec.Steps.Method em-exact": func(s *spec) { s.Steps.Method = "iw" },
		}},
		{categories, spec{Transform: ordinal, Network: &regpath.Config{}}, map[string]func(s *spec){
			"use em-latent":                          func(s *spec) { s.Steps.Method = "var" },
			"the categories of a cannot have bounds": func(s *spec) { s.Domain = lower },
			"cannot be combined with Spec.Missing":   func(s *spec) { s.Missingness = &missingness.Model{} },
			"Spec.Inference bootstrap=N":             robust,
			`ordinal q: there is no column "q"`:      func(s *spec) { s.Transform.Columns = map[string]string{"q": "ordinal"} },
			"=none to treat it as a number":          func(s *spec) { s.Transform = transform.Spec{Others: "ordinal"} },
		}},
		{categories, spec{Transform: ordinal}, map[string]func(s *spec){
			"Spec.Model.Kind gaussian": func(s *spec) { s.Model.Kind = "quartic" },
			"no standard errors":       robust,
			"without an optimiser":     func(s *spec) { s.Descent.Rate = 1 },
		}},
		{city, mixtureSpec, map[string]func(s *spec){
			"method em-full: the method needs numbers": func(s *spec) { s.Steps.Method = "em-full" },
			"city, yes) is fitted":                     func(s *spec) { s.Steps.Method = "iw" },
			"the model needs numbers, but city has":    func(s *spec) { s.Model.Kind = "energy" },
			"objective":                                func(s *spec) { s.Objective.Kind = "sliced" },
			"domain":                                   func(s *spec) { s.Domain = lower },
			"inference":                                robust,
			"optimiser":                                func(s *spec) { s.Descent.Epochs = 3 },
			"penalty":                                  l1(penalty.Config{Kind: "l1"}),
			"keep_units":                               func(s *spec) { s.KeepUnits = true },
			"the table sets the levels":                func(s *spec) { s.Model.Options = json.RawMessage(`{"levels":[3,0,2,0]}`) },
			"use 1 to 50":                              func(s *spec) { s.Model.Options = json.RawMessage(`{"components":51}`) },
			"unknown field":                            func(s *spec) { s.Model.Options = json.RawMessage(`{"k":1}`) },
			"as unordered levels":                      func(s *spec) { s.Transform.Columns = map[string]string{"yes": "ordinal"} },
		}},
		{moments, network, map[string]func(s *spec){
			"domain: it needs the rows":           func(s *spec) { s.Domain = lower },
			"transform: it needs the rows":        func(s *spec) { s.Transform.Others = "sqrt" },
			"ordinal: it needs the rows":          func(s *spec) { s.Transform.Others = "ordinal" },
			"keep_units true: it needs the rows":  func(s *spec) { s.KeepUnits = true },
			"select cv: it needs the rows":        func(s *spec) { s.Network.Select.Kind = "cv" },
			"stability 9: it needs the rows":      func(s *spec) { s.Inference.Stability = 9 },
			"inference robust: it needs the rows": robust,
			"method iw: it needs the rows":        func(s *spec) { s.Steps.Method = "iw" },
		}},
		{moments, spec{}, map[string]func(s *spec){
			"model quartic: it needs the rows":    func(s *spec) { s.Model.Kind = "quartic" },
			"inference robust: it needs the rows": robust,
			"validation: it needs the rows":       func(s *spec) { s.Descent.Validation = new(0.1) },
			"optimiser adam: it needs the rows":   func(s *spec) { s.Descent.Optimiser = "adam" },
			"method exact-mc: it needs the rows":  func(s *spec) { s.Steps.Method, s.Objective.Kind = "exact", "sliced" },
		}},
		{pairs, network, map[string]func(s *spec){"the file has moments of pairs only": func(s *spec) { s.Steps.Method = "em-exact" }}},
	} {
		copied := func() spec {
			s := group.base
			if s.Network != nil {
				c := *s.Network
				s.Network = &c
			}
			return s
		}
		_, err := trainers.Prepare(group.table, copied())
		require.NoError(t, err)
		for words, set := range group.refused {
			t.Run(words, func(t *testing.T) {
				s := copied()
				set(&s)
				p, err := trainers.Prepare(group.table, s)
				if err == nil && s.Network != nil {
					_, err = p.Path()
				}
				var wrong *trainers.SettingError
				require.ErrorContains(t, err, words)
				if !strings.Contains(words, " ") {
					require.ErrorAs(t, err, &wrong, words)
					require.Equal(t, words, wrong.Field)
				}
			})
		}
	}
}
