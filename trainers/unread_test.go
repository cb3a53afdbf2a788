package trainers_test

import (
	"encoding/json"
	"testing"

	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/inference"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers"
)

// Also for defaults written out.
func TestResolvedSpecsAreRead(t *testing.T) {
	_, table := testtables.Normal(t, 300, 3)
	low := domain.All(4)
	low.Lower[0] = -20
	for _, s := range []trainers.Spec{
		{}, {Steps: engine.Config{Method: "iw"}}, {Steps: engine.Config{Method: "var"}}, {Steps: engine.Config{Method: "exact"}}, {Network: &regpath.Config{}},
		{Steps: engine.Config{Method: "iw", FreeDraws: true, Draws: 3, DType: graph.Float32}, Domain: low},
		{Steps: engine.Config{Draws: 10, ImputerSteps: 10, ProposalSD: 1, WarmUp: new(500), Imputer: engine.ImputerSpec{Options: json.RawMessage("")}}},
		{Model: trainers.ModelSpec{Kind: "mixture"}, Steps: engine.Config{Draws: 10}},
		{Network: &regpath.Config{Select: regpath.Selection{Kind: "fdr"}}, Inference: inference.Config{Level: 0.9}},
		{Network: &regpath.Config{Select: regpath.Selection{Kind: "cv"}}, Inference: inference.Config{Kind: "auto", Level: 0.9}},
	} {
		p := prepare(t, table, s)
		p.Spec.Objective.Kind = "auto" // networks and mixtures take no other
		prepare(t, table, p.Spec)
	}
}
