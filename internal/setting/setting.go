// Package setting has the error of a setting that cannot be used, and the checks that
// settings of all packages share.
package setting

import (
	"fmt"
	"math"
	"strings"

	"missingscore/internal/spelling"
)

// Error says that a setting has a value that cannot be used. Field is the setting's
// name in settings files; the command line has it as a flag, with dashes.
type Error struct {
	Field   string // as imputer_rate
	Value   string // as it was given
	Allowed string // what it may be, or why this value may not be, as "it must be positive"
}

func (e *Error) Error() string { return e.Message(e.Field) }

// Message is the error's text with the field called name, as --imputer-rate.
func (e *Error) Message(name string) string {
	if e.Value == "" { // "model energy: …" is not said of the field model twice
		return fmt.Sprintf("%s: %s", name, strings.TrimPrefix(e.Allowed, e.Field+" "))
	}
	return fmt.Sprintf("%s %s: %s", name, e.Value, e.Allowed)
}

// Errorf is an Error whose Allowed is formatted.
func Errorf(field string, value any, allowed string, args ...any) error {
	return &Error{field, fmt.Sprint(value), fmt.Sprintf(allowed, args...)}
}

// Field is one number to check.
type Field struct {
	Name  string
	Value float64
}

// Positive refuses the first number that is not positive and finite.
func Positive(fields ...Field) error {
	for _, f := range fields {
		if !(f.Value > 0) || math.IsInf(f.Value, 0) {
			return Errorf(f.Name, f.Value, "it must be positive")
		}
	}
	return nil
}

// NotNegative refuses the first number that is negative or not finite.
func NotNegative(fields ...Field) error {
	for _, f := range fields {
		if !(f.Value >= 0) || math.IsInf(f.Value, 0) {
			return Errorf(f.Name, f.Value, "it must not be negative")
		}
	}
	return nil
}

// OneOf refuses a word that is none of those allowed.
func OneOf(field, value string, allowed ...string) error {
	for _, a := range allowed {
		if value == a {
			return nil
		}
	}
	return Errorf(field, value, "it is one of %s%s", strings.Join(allowed, ", "), spelling.DidYouMean(value, allowed))
}

// Default fills a zero value.
func Default[T comparable](v *T, byDefault T) {
	var zero T
	if *v == zero {
		*v = byDefault
	}
}
