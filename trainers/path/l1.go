package path

import (
	"context"

	"missingscore/trainers/engine"
)

// lone is the penalty λ Σ_{j<k} |P_jk|, of all pairs alike.
type lone struct{}

func (lone) name() string { return "l1" }

func (lone) form() string { return "l1 (all pairs alike)" }

func (lone) pilots() bool { return false }

func (lone) resolve(c Config, p engine.Problem) (Config, error) {
	return c.span(200, func() float64 {
		top := LambdaMax(p.Table, p.Domain, p.Weight)
		if p.Missingness != nil {
			top *= 1.3 // the score of φ is left aside there
		}
		return top
	})
}

func (lone) prepare(context.Context, *Run) error { return nil }

func (lone) describe(*Pilot) string { return "L1, all pairs alike" }
