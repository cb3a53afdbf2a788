package losses

import (
	"fmt"

	"missingscore/graph"
	"missingscore/nets"
)

// ImputerLoss is how an imputer is drawn towards the model's conditional
// distribution p_θ(x_mis | x_obs) (paper, "Variational Approximation").
type ImputerLoss int

const (
	// KL is E[log q'_φ(x') − log q_θ(x_obs, x')]. By reparametrisation its
	// φ-gradient is that of −Σ_{j∉Λ} log σ_j + sg(s_θ(x))_j x'_j.
	KL ImputerLoss = iota
	// Fisher is E Σ_{j∉Λ} (ε_j/σ_j + s_θ(x)_j)²; its φ-gradient passes through s_θ.
	Fisher
)

func (k ImputerLoss) String() string { return [...]string{"kl", "fisher"}[k] }

// MarshalText writes the name, for settings in files.
func (k ImputerLoss) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// ParseImputerLoss reads "kl" or "fisher".
func ParseImputerLoss(s string) (ImputerLoss, error) {
	for k := KL; k <= Fisher; k++ {
		if k.String() == s {
			return k, nil
		}
	}
	return 0, fmt.Errorf("there is no imputer loss %q; they are kl, fisher", s)
}

// Inputs of an imputer program beside InputX (zero-filled rows), InputMask and InputWeight.
const InputNoise = "noise" // ε (b, d), standard normal

// NewImputer builds the program of one imputer step on b rows: one draw
// x' = μ_φ(x⁰) + σ_φ ε a row, the loss per row weighted by InputWeight, and its
// gradient for φ. The reported value of KL is E[log q' − log q_θ], up to the
// model's constant.
func NewImputer(k ImputerLoss, imp *nets.Imputer, m graph.Model, rows int) (*graph.Program, error) {
	return graph.Build(func(b *graph.Builder) {
		d := m.Dim()
		x0, mask := b.Input(InputX, rows, d), b.Input(InputMask, rows, d)
		noise := b.Input(InputNoise, rows, d)
		weight := b.Input(InputWeight, rows, 1)
		missing := b.Map(graph.Complement, mask)

		logSD := imp.LogDeviation(b)
		sd := b.Rows(b.Map(graph.Exp, logSD), rows)
		draw := b.Add(imp.Mean(b, x0, mask), b.Prod(sd, noise))
		x := b.Add(x0, b.Prod(missing, draw))
		t := m.Terms(b, x)

		var surrogate, reported graph.Node // per cell (b, d), per row (b, 1)
		switch k {
		case KL:
			cell := b.Add(b.Rows(logSD, rows), b.Prod(b.Detach(t.Score), draw))
			surrogate = b.Scale(-1, b.RowSum(b.Prod(missing, cell)))
			entropy := b.Add(b.Rows(logSD, rows), b.Scale(0.5, b.Square(noise)))
			reported = b.Sub(b.Scale(-1, b.RowSum(b.Prod(missing, entropy))), t.LogDensity)
		case Fisher:
			gap := b.Add(b.Prod(noise, b.Rows(b.Map(graph.Exp, b.Scale(-1, logSD)), rows)), t.Score)
			surrogate = b.RowSum(b.Prod(missing, b.Square(gap)))
			reported = surrogate
		}
		b.Minimise(b.Sum(b.Prod(weight, surrogate)), imp.Params()...)
		b.Output(OutputReported, b.Sum(b.Prod(weight, reported)))
	})
}

// Names of the outputs of NewForward.
const (
	OutputMean  = "mean"
	OutputLogSD = "log sd"
)

// NewForward builds the program that only evaluates the imputer on b rows:
// OutputMean (b, d) and OutputLogSD (1, d).
func NewForward(imp *nets.Imputer, d, rows int) (*graph.Program, error) {
	return graph.Build(func(b *graph.Builder) {
		b.Output(OutputMean, imp.Mean(b, b.Input(InputX, rows, d), b.Input(InputMask, rows, d)))
		b.Output(OutputLogSD, b.Scale(1, imp.LogDeviation(b)))
	})
}
