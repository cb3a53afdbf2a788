// Package star holds the paper's edge recovery on simulated networks (section "Gaussian Graphical
// Model Estimation"): the AUC of the L1 path on rows from one side of a random plane.
//
// The paper's setting violates its own lemma: the range of missing cells depends on the observed
// cells, so the expected score is not the marginal score (domain.Tangent). Hence several treatments
// of the support:
//
//   - "literal", the paper's: one g for each row, which is 1 if the plane cuts a missing cell; draws
//     from all of R^d;
//   - "honoured": g by coordinate, draws inside, tangential correction;
//   - "uncorrected": one g for each row, draws inside, no correction;
//   - "ignored": the support counts as R^d.
package star

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"missingscore/benchmarks/emglasso"
	"missingscore/benchmarks/graphs"
	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/regpath"
)

var (
	//go:embed star-missing.json
	starMissing []byte
	//go:embed dense-missing.json
	denseMissing []byte
	//go:embed collider-missing.json
	colliderMissing []byte
	//go:embed star-centres.json
	starCentres []byte
	//go:embed star-dim.json
	starDim []byte
	//go:embed star-roc.json
	starROC []byte
)

var Missing = harness.Experiment{
	Name: "star-missing", Title: "Star, truncated: missing probability",
	Source:   "section “Star Shaped Truncated Graphical Model” (figure ggm_starprec_varymiss)",
	Settings: starMissing, Grid: grid,
}

var Dense = harness.Experiment{
	Name: "dense-missing", Title: "Dense network, truncated: missing probability",
	Source:   "section “Unstructured Dense Graphical Model” (figure ggm_one_varymiss)",
	Settings: denseMissing, Grid: grid,
}

// Colliders has a network on which ranking by correlations fails.
var Colliders = harness.Experiment{
	Name: "collider-missing", Title: "Colliders and a star, truncated: missing probability",
	Source:   "ours: ranking by correlations finds the edges of the paper's stars, but not these",
	Settings: colliderMissing, Grid: grid,
}

// Centres varies the number of star centres with a constant expected number of edges.
var Centres = harness.Experiment{
	Name: "star-centres", Title: "Increasing number of stars",
	Source:   "section “Increasing Number of Stars” (figure GGM_vary_centres), appendix “Varying Number of Star Centres” (figures star_marginalisation, 5star_marginalisation)",
	Settings: starCentres, Grid: grid,
}

var Dim = harness.Experiment{
	Name: "star-dim", Title: "Star, truncated: number of columns",
	Source:   "appendix “Varying Number of Dimensions” (figure GGM_vary_dim)",
	Settings: starDim, Grid: grid,
}

var ROC = harness.Experiment{
	Name: "star-roc", Title: "Star, truncated: individual ROC curves",
	Source:   "appendix “Individual ROC Curves” (figure GGM_starprec_ROC)",
	Settings: starROC, Grid: grid,
}

// One list has several values: the varied setting.
type settings struct {
	Replicates int               `json:"replicates"`
	Graph      string            `json:"graph"` // star, dense or collider
	Columns    []int             `json:"columns"`
	Rows       int               `json:"rows"`
	Missing    []float64         `json:"missing"`
	Centres    []int             `json:"centres"` // number of star centres
	Outside    float64           `json:"outside"` // probability beyond the plane
	Treatments []treatment       `json:"treatments"`
	Fit        engine.Config     `json:"fit"`  // common to the methods
	Path       regpath.Config    `json:"path"` // common to their paths
	Methods    []json.RawMessage `json:"methods"`
	Likelihood *emglasso.Options `json:"likelihood"` // of peer, which ignores the truncation; null: no peer
	References bool              `json:"references"` // also run the references
	Ours       []string          `json:"ours"`
	variants   []harness.Variant
}

type treatment struct {
	Name      string        `json:"name"`
	Ignore    bool          `json:"ignore"`
	Weight    domain.Weight `json:"weight"`
	FreeDraws bool          `json:"free_draws"` // draw missing cells from all of R^d
}

func decode(text json.RawMessage) (s settings, err error) {
	if err = harness.Decode(text, &s); err != nil {
		return s, err
	}
	if !slices.Contains([]string{"star", "dense", "collider"}, s.Graph) {
		return s, fmt.Errorf("settings: graph %q: choose star, dense or collider", s.Graph)
	}
	if s.variants, err = harness.Variants(s.Fit, s.Methods); err != nil {
		return s, err
	}
	var others []string
	if s.Likelihood != nil {
		others = append(others, peer)
	}
	if s.References {
		others = append(others, references...)
	}
	for _, name := range others {
		s.variants = append(s.variants, harness.Variant{Name: name, Config: engine.Config{Method: name}})
	}
	return s, nil
}

const peer = "glasso"

type setting struct {
	treatment treatment
	columns   int
	missing   float64
	centres   int
}

func (s settings) truth(d, centres int, rng *rand.Rand) (simulate.Gaussian, error) {
	switch s.Graph {
	case "star":
		return simulate.Stars(d, centres, rng)
	case "dense":
		return simulate.Dense(d, rng)
	}
	return graphs.Colliders(d)
}

func (s settings) simulate(at setting, seed uint64) (truth simulate.Gaussian, support *domain.Domain, table *data.Table, err error) {
	rng := stream.New(seed, stream.Simulate)
	if truth, err = s.truth(at.columns, at.centres, rng); err != nil {
		return truth, nil, nil, err
	}
	if support, err = truth.TruncateAcross(s.Outside, stream.New(seed, stream.Simulate, 1)); err != nil {
		return truth, nil, nil, err
	}
	table, err = truth.SampleInside(support, s.Rows, rng)
	return truth, support, table, err
}
