package fitted

import (
	"slices"

	"missingscore/data/transform"
)

const (
	mostLevels  = 20
	sharedValue = 5 // cells that a level has on average at least
)

// levels is the function of a column of few values that nobody called ordinal: as
// transform.Ordinal, of any number, and nothing but draws from a table alone know of it.
type levels struct{ *transform.Ordinal }

// levelsOf is nil for a column that has many values: more than 20, or one in five of its cells.
func levelsOf(x []float64) *levels {
	distinct := len(slices.Compact(slices.Sorted(slices.Values(x))))
	if distinct > mostLevels || len(x) < sharedValue*distinct {
		return nil
	}
	return &levels{transform.NewOrdinal(x, nil)}
}

// Kind implements transform.Function.
func (l *levels) Kind() string { return "levels" }

// Check implements transform.Function.
func (l *levels) Check(float64) error { return nil }

var _ transform.Function = (*levels)(nil)
