package data

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
)

var (
	errNotNumber = errors.New("is not a number")
	errInfinite  = errors.New("is infinite")
	errTooLarge  = errors.New("is too large, its square overflows")
)

// number reads a plain decimal number. strconv knows more ways to write one
// (hexadecimal, underscores, NaN) than a table should hold.
func number(cell string) (float64, error) {
	if !plausible(cell, '.') {
		if word := strings.ToLower(strings.TrimLeft(cell, "+-")); word == "inf" || word == "infinity" {
			return 0, errInfinite
		}
		return 0, errNotNumber
	}
	x, err := strconv.ParseFloat(cell, 64)
	switch {
	case errors.Is(err, strconv.ErrSyntax):
		return 0, errNotNumber
	case math.IsInf(x, 0):
		return 0, errInfinite
	case math.Abs(x) > largest:
		return 0, errTooLarge
	}
	return x, nil
}

// format writes the shortest text that reads back as x, with an exponent only
// where the zeros would be many.
func format(x float64) string {
	if size := math.Abs(x); x != 0 && (size < 1e-6 || size >= 1e21) {
		return strconv.FormatFloat(x, 'e', -1, 64)
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// FormatNumber writes a result for a file: the shortest text that reads back as x, nothing for NaN.
func FormatNumber(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// looksMissing knows marks of a missing cell that are not in DefaultNA because
// they may also be a slip.
func looksMissing(cell string) bool {
	marks := []string{".", "-", "--", "*", "na", "n/a", "#n/a", "#na", "n.a.", "<na>", "nan", "null", "none", "nil", "nd", "missing", "unknown", "?"}
	return slices.Contains(marks, strings.ToLower(cell))
}
