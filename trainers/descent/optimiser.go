package descent

import (
	"context"
	"fmt"
	"strings"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/losses"
	"missingscore/trainers/estimator"
)

// Optimiser is a way to find a fit's parameters. A new one is a type with these methods
// and a line in Optimisers.
type Optimiser interface {
	// Name is that in Config.
	Name() string
	// Suits says whether it may be the default for a fit.
	Suits(p Problem) bool
	// Resolve fills in the zero values that it needs. It refuses settings that it does not
	// have, and fits that it cannot make.
	Resolve(c Config, p Problem) (Config, error)
	// Run makes what is left of a fit, and saves its state now and then.
	Run(ctx context.Context, f *Fit) error
	// Verdict says whether a fit that has run converged, in a sentence.
	Verdict(f *Fit) (converged bool, verdict string)
}

// Optimisers are all there are. The first that suits a fit is its default.
var Optimisers = []Optimiser{Proximal{}, EM{}, LBFGS{}, Adam{}}

// Problem is what an optimiser is chosen for.
type Problem struct {
	Estimator estimator.Estimator
	Model     model.Model
	Objective losses.Objective
	Rows      int
	Batch     int // rows in a batch
	DType     graph.DType
	Streamed  bool // the rows are a file's, of which a few are held at a time
	Penalised bool // it has a penalty on couplings
}

// Names are those of Optimisers.
func Names() (names []string) {
	for _, o := range Optimisers {
		names = append(names, o.Name())
	}
	return names
}

// ByName looks an optimiser up.
func ByName(name string) (Optimiser, error) {
	for _, o := range Optimisers {
		if o.Name() == name {
			return o, nil
		}
	}
	return nil, setting.Errorf("optimiser", name, "it is one of auto, %s", strings.Join(Names(), ", "))
}

// choose is the optimiser of that name, or the default for a fit.
func choose(name string, p Problem) (Optimiser, error) {
	if name != "" && name != "auto" {
		if p.Streamed && name != (Adam{}).Name() {
			return nil, setting.Errorf("optimiser", name, "it goes over all rows at each iteration, and those of a streamed file are not held: take adam, or leave --stream out")
		}
		return ByName(name)
	}
	if p.Streamed {
		return Adam{}, nil
	}
	for _, o := range Optimisers {
		if o.Suits(p) {
			return o, nil
		}
	}
	return nil, fmt.Errorf("no optimiser suits method %s", p.Estimator.Name)
}

// withoutAdam refuses what only Adam has, and leaves its defaults out.
func (c *Config) withoutAdam(reason string) error {
	given := []setting.Field{{Name: "epochs", Value: float64(c.Epochs)}, {Name: "rate", Value: c.Rate}, {Name: "patience", Value: float64(c.Patience)}}
	if c.Validation != nil {
		given = append(given, setting.Field{Name: "validation", Value: *c.Validation})
	}
	if c.Average != nil {
		given = append(given, setting.Field{Name: "average", Value: *c.Average})
	}
	if err := foreign(reason, given...); err != nil {
		return err
	}
	c.Validation, c.Average = nil, nil
	return nil
}

// foreign refuses settings that an optimiser does not have.
func foreign(reason string, settings ...setting.Field) error {
	for _, s := range settings {
		if s.Value != 0 {
			return setting.Errorf(s.Name, s.Value, "%s", reason)
		}
	}
	return nil
}
