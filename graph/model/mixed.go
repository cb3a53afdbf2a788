package model

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/internal/data/mixture"
)

type mixed struct{ *mixture.Mixture }

// NewMixed returns a mixture over numbers and levels as a model.
func NewMixed(m *mixture.Mixture) Parametric { return mixed{m} }

// MixedOf returns the mixture of NewMixed; nil for another model.
func MixedOf(m Model) *mixture.Mixture {
	of, _ := m.(mixed)
	return of.Mixture
}

func (m mixed) Params() []*graph.Param { return nil }

// Evaluate returns an empty evaluation: levels have no derivative.
func (m mixed) Evaluate(*graph.Builder, graph.Node) Evaluation { return Evaluation{} }

func (m mixed) Options() any { return MixtureOptions{len(m.Weights), m.Levels} }

func (m mixed) SampleRows(n int, s *domain.Domain, rng *rand.Rand) ([]float64, error) {
	if s.Bounded() {
		return nil, ErrNoExactSampler
	}
	return m.Draw(n, rng), nil
}

// Quantities are weights (K, 1), means (K, numbers), covariances (K, numbers²) and shares (K, levels).
func (m mixed) Quantities() []Quantity {
	k, numbers := len(m.Weights), len(m.Means[0])
	qs := []Quantity{{Name: "weights", Rows: k, Cols: 1, Value: slices.Clone(m.Weights), Range: Share}}
	if numbers > 0 {
		qs = append(qs, Quantity{Name: "means", Rows: k, Cols: numbers, Value: slices.Concat(m.Means...)},
			Quantity{Name: "covariances", Rows: k, Cols: numbers * numbers, Value: slices.Concat(m.Covariances...)})
	}
	if len(m.Shares[0]) == 0 {
		return qs
	}
	return append(qs, Quantity{Name: "shares", Rows: k, Cols: len(m.Shares[0]), Value: slices.Concat(m.Shares...), Range: Share})
}

func (m mixed) SetQuantities(qs []Quantity) error {
	for _, q := range m.Quantities() {
		v, err := pick(qs, q.Name, q.Rows, q.Cols)
		if err != nil {
			return err
		}
		switch q.Name {
		case "weights":
			copy(m.Weights, v)
		case "means":
			m.Means = slices.Collect(slices.Chunk(slices.Clone(v), q.Cols))
		case "covariances":
			m.Covariances = slices.Collect(slices.Chunk(slices.Clone(v), q.Cols))
		case "shares":
			m.Shares = slices.Collect(slices.Chunk(slices.Clone(v), q.Cols))
		}
	}
	return m.Check()
}

func checkLevels(levels []int, d int) error {
	if len(levels) != d {
		return fmt.Errorf("levels of %d columns are given, %d are needed", len(levels), d)
	}
	if slices.Min(levels) < 0 {
		return errors.New("levels: give the number of levels of each column, 0 for numbers")
	}
	return nil
}
