// Package nets holds neural networks: models with an energy (NewEnergy) and with a score only
// (NewScoreNetwork), each optionally noise-conditional, and imputers q'_φ(x_mis | x_obs): the
// interface Imputer, the paper's NewNormalImputer and others. Models are in model.Models, imputers in
// Imputers.
package nets

import (
	"fmt"
	"math/rand/v2"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/strictjson"
)

// Imputer is a trainable distribution q'_φ(x_mis | x_obs) (paper, "Variational Approximation").
type Imputer interface {
	// Params returns φ.
	Params() []*graph.Param
	// Options returns the options, which its ImputerMaker reads as JSON.
	Options() any
	// Noise returns the number of standard normals per draw of a row.
	Noise() int
	Draw(b *graph.Builder, rows ImputerRows, noise graph.Node) Strata
}

// ImputerRows are n rows to complete.
type ImputerRows struct {
	X    graph.Node // (n, d), zero where missing
	Mask graph.Node // (n, d), 1 = observed

	Signal, Noise graph.Node // noise level per row, a and σ (n, 1), else nil
}

// Strata are an imputer's draws: K per row, one from each component of a mixture q' = Σ_k π_k q'_k,
// so that the weights π_k can be trained. Stratum k of row i is row i·K + k.
type Strata struct {
	K          int
	X          graph.Node // (n·K, d): valid in missing cells only
	LogDensity graph.Node // (n·K, 1): log q' of the whole mixture at the draw, up to a constant per row
	LogWeight  graph.Node // (n·K, 1): log π_k; nil for K = 1
}

// NormalConditional is an imputer with independent normal missing cells given the observed ones. It
// supports domains, noise levels and the Fisher loss, and one pass serves all draws of a row.
type NormalConditional interface {
	Imputer
	// Mean adds the means (n, d), valid in missing cells only.
	Mean(b *graph.Builder, rows ImputerRows) graph.Node
	// LogDeviation adds log σ as a row (1, d).
	LogDeviation(b *graph.Builder) graph.Node
	NoiseConditional() bool
	// LevelLogDeviation adds the noise level's term (n, 1) of log σ; nil unless the imputer is
	// noise-conditional.
	LevelLogDeviation(b *graph.Builder, signal, noise graph.Node) graph.Node
}

// ImputerMaker makes an imputer of d columns from options, a JSON object or nothing for the
// defaults; rng draws random starts.
type ImputerMaker func(d int, options []byte, rng *rand.Rand) (Imputer, error)

// imputerOptions are the options of an imputer with hidden layers.
type imputerOptions[O any] interface {
	resolved() O // with the defaults
	// size returns, of resolved options, the units of a hidden layer and the number of parameters.
	size(d int) (units, numbers int, err error)
}

// maker reads options and refuses sizes that exceed the limits before memory is allocated.
func maker[O imputerOptions[O], I Imputer](make func(d int, o O, rng *rand.Rand) I) ImputerMaker {
	return func(d int, text []byte, rng *rand.Rand) (Imputer, error) {
		var o O
		if err := strictjson.Options(text, &o); err != nil {
			return nil, err
		}
		o = o.resolved()
		units, numbers, err := o.size(d)
		if err != nil {
			return nil, err
		}
		if units < 0 || units > MostUnits {
			return nil, fmt.Errorf("%d units: 1 to %d are possible", units, MostUnits)
		}
		if err := model.CheckSize(float64(numbers), "an imputer of %d units for %d columns", units, d); err != nil {
			return nil, err
		}
		return make(d, o, rng), nil
	}
}
