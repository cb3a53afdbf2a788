// Package nets holds the neural networks: models with an energy (NewEnergy) and without
// (NewScoreNetwork), each also at all levels of noise, and imputers q'_φ(x_mis | x_obs), as an
// interface (Imputer), the paper's (NormalImputer) and others. The models are in model.Models, the
// imputers in Imputers.
package nets

import (
	"math/rand/v2"

	"missingscore/graph"
)

// Imputer is a distribution q'_φ(x_mis | x_obs) that is trained along with the model, to
// fill gaps (paper, "Variational Approximation"). A new one is a type with these methods
// and a line in Imputers.
type Imputer interface {
	// Params are φ.
	Params() []*graph.Param
	// Options are what its ImputerMaker makes it again from, once they are JSON.
	Options() any
	// Noise is how many standard normal numbers a row's draw takes.
	Noise() int
	// Draw adds reparametrised draws: functions of φ and of the noise.
	Draw(b *graph.Builder, rows ImputerRows, noise graph.Node) Strata
}

// ImputerRows are n rows that are to be completed.
type ImputerRows struct {
	X    graph.Node // (n, d), zero where missing
	Mask graph.Node // (n, d), 1 = observed

	Signal, Noise graph.Node // level of noise of each row, a and σ (n, 1), else nil
}

// Strata are an imputer's draws: K of a row, one from each part of a mixture
// q' = Σ_k π_k q'_k, so that the weights π_k can be trained too. Stratum k of row i is
// row i·K + k.
type Strata struct {
	K          int
	X          graph.Node // (n·K, d): only missing coordinates mean anything
	LogDensity graph.Node // (n·K, 1): log q', of the whole mixture, at the draw; up to a constant of the row
	LogWeight  graph.Node // (n·K, 1): log π_k; nil for K = 1
}

// NormalConditional is an imputer whose missing cells are independent normals given the
// observed ones. It can be restricted to a domain, told levels of noise and trained by
// the Fisher divergence, and a row's draws share one pass.
type NormalConditional interface {
	Imputer
	// Mean adds the means (n, d) for the rows. Only missing coordinates mean anything.
	Mean(b *graph.Builder, rows ImputerRows) graph.Node
	// LogDeviation adds log σ as a row (1, d).
	LogDeviation(b *graph.Builder) graph.Node
	// NoiseConditional says that Mean and LevelLogDeviation depend on the rows' level of noise.
	NoiseConditional() bool
	// LevelLogDeviation adds what a row's level adds to LogDeviation (n, 1); nil unless
	// the imputer is noise-conditional.
	LevelLogDeviation(b *graph.Builder, signal, noise graph.Node) graph.Node
}

// ImputerMaker makes an imputer for d columns: options are a JSON object, nothing for the
// defaults, and rng is for what starts at random.
type ImputerMaker func(d int, options []byte, rng *rand.Rand) (Imputer, error)
