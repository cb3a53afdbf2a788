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

	"missingscore/benchmarks/emglasso"
	"missingscore/benchmarks/graphs"
	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
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
	Settings: starMissing, Grid: harness.Of(grid),
}

var Dense = harness.Experiment{
	Name: "dense-missing", Title: "Dense network, truncated: missing probability",
	Source:   "section “Unstructured Dense Graphical Model” (figure ggm_one_varymiss)",
	Settings: denseMissing, Grid: harness.Of(grid),
}

// Colliders has a network on which ranking by correlations fails.
var Colliders = harness.Experiment{
	Name: "collider-missing", Title: "Colliders and a star, truncated: missing probability",
	Source:   "ours: ranking by correlations finds the edges of the paper's stars, but not these",
	Settings: colliderMissing, Grid: harness.Of(grid),
}

// Centres varies the number of star centres with a constant expected number of edges.
var Centres = harness.Experiment{
	Name: "star-centres", Title: "Increasing number of stars",
	Source:   "section “Increasing Number of Stars” (figure GGM_vary_centres), appendix “Varying Number of Star Centres” (figures star_marginalisation, 5star_marginalisation)",
	Settings: starCentres, Grid: harness.Of(grid),
}

var Dim = harness.Experiment{
	Name: "star-dim", Title: "Star, truncated: number of columns",
	Source:   "appendix “Varying Number of Dimensions” (figure GGM_vary_dim)",
	Settings: starDim, Grid: harness.Of(grid),
}

var ROC = harness.Experiment{
	Name: "star-roc", Title: "Star, truncated: individual ROC curves",
	Source:   "appendix “Individual ROC Curves” (figure GGM_starprec_ROC)",
	Settings: starROC, Grid: harness.Of(grid),
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
	Fit        json.RawMessage   `json:"fit"`  // engine.Config, common to the methods
	Path       regpath.Config    `json:"path"` // common to their paths
	Methods    []json.RawMessage `json:"methods"`
	Likelihood *emglasso.Options `json:"likelihood"` // of peer, which ignores the truncation; null: no peer
	References bool              `json:"references"` // also run the references
	Ours       []string          `json:"ours"`
}

type treatment struct {
	Name      string        `json:"name"`
	Ignore    bool          `json:"ignore"`
	Weight    domain.Weight `json:"weight"`
	FreeDraws bool          `json:"free_draws"` // draw missing cells from all of R^d
}

const peer = "glasso"

type setting struct {
	treatment treatment
	columns   int
	missing   float64
	centres   int
}

func (s settings) simulate(at setting, seed uint64) (truth simulate.Gaussian, support *domain.Domain, table *data.Table, err error) {
	rng := stream.New(seed, stream.Simulate)
	switch s.Graph {
	case "star":
		truth, err = simulate.Stars(at.columns, at.centres, rng)
	case "dense":
		truth, err = simulate.Dense(at.columns, rng)
	case "collider":
		truth = graphs.Colliders(at.columns)
	}
	if err != nil {
		return truth, nil, nil, err
	}
	if support, err = truth.TruncateAcross(s.Outside, stream.New(seed, stream.Simulate, 1)); err != nil {
		return truth, nil, nil, err
	}
	table, err = truth.SampleInside(support, s.Rows, rng)
	return truth, support, table, err
}
