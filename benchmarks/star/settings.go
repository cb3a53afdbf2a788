package star

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"

	"missingscore/benchmarks/emglasso"
	"missingscore/benchmarks/harness"
	"missingscore/data/domain"
	"missingscore/trainers/engine"
	"missingscore/trainers/regpath"
)

// settings of an experiment; see the JSON files. The one list of several is what varies.
type settings struct {
	Replicates int               `json:"replicates"`
	Graph      string            `json:"graph"` // star, dense or collider
	Columns    []int             `json:"columns"`
	Rows       int               `json:"rows"`
	Missing    []float64         `json:"missing"`
	Centres    []int             `json:"centres"` // of a star
	Outside    float64           `json:"outside"` // share of the distribution beyond the plane
	Treatments []treatment       `json:"treatments"`
	Fit        engine.Config     `json:"fit"`  // what the methods have in common, and …
	Path       regpath.Config    `json:"path"` // … what their paths have
	Methods    []json.RawMessage `json:"methods"`
	Likelihood *emglasso.Options `json:"likelihood"` // of the peer "glasso", which ignores the truncation; null: without it
	References bool              `json:"references"` // run what references are, too
	Ours       []string          `json:"ours"`
	variants   []harness.Variant
}

// treatment of the support.
type treatment struct {
	Name   string        `json:"name"`
	Ignore bool          `json:"ignore"`
	Weight domain.Weight `json:"weight"`
	// FreeDraws draws missing cells from all of R^d.
	FreeDraws bool `json:"free_draws"`
}

func decode(text json.RawMessage) (s settings, err error) {
	if err = harness.Decode(text, &s); err != nil {
		return s, err
	}
	if !slices.Contains([]string{"star", "dense", "collider"}, s.Graph) {
		return s, fmt.Errorf("settings: graph %q: it is star, dense or collider", s.Graph)
	}
	if s.variants, err = harness.Variants(s.Fit, s.Methods); err == nil {
		err = cmp.Or(harness.CheckAtLeast(3, "columns", s.Columns...), harness.CheckAtLeast(2, "rows", s.Rows), harness.CheckAtLeast(1, "centres", s.Centres...),
			harness.CheckShares("missing", s.Missing...), harness.CheckShares("outside", s.Outside))
	}
	if err == nil && s.Likelihood != nil {
		if err = s.Likelihood.Check(); err != nil {
			err = fmt.Errorf("settings: %w", err)
		}
	}
	return s, err
}

// peer is penalised likelihood, beside the methods of score matching.
const peer = "glasso"

// names are those of all methods.
func (s settings) names() []string {
	names := harness.Names(s.variants)
	if s.Likelihood != nil {
		names = append(names, peer)
	}
	if s.References {
		names = append(names, references...)
	}
	return names
}

// config is a method's; the peer has none.
func (s settings) config(name string) engine.Config {
	for _, v := range s.variants {
		if v.Name == name {
			return v.Config
		}
	}
	return engine.Config{Method: name}
}

// setting is one of the grid.
type setting struct {
	treatment treatment
	columns   int
	missing   float64
	centres   int
}
