// Package setting has the error of an invalid setting and common checks.
package setting

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"missingscore/internal/spelling"
)

// Error reports an invalid setting. Field is its name in settings files, and as a flag.
type Error struct {
	Field   string // such as imputer_rate
	Value   string // as given
	Allowed string // the allowed values, or the reason, as "it must be positive"
}

func (e *Error) Error() string { return e.Message(e.Field) }

// Message is the error's text with name in place of Field, as --imputer-rate.
func (e *Error) Message(name string) string {
	if e.Value == "" { // avoids repeating a field that the context names
		return fmt.Sprintf("%s: %s", name, strings.TrimPrefix(e.Allowed, e.Field+" "))
	}
	return fmt.Sprintf("%s %s: %s", name, e.Value, e.Allowed)
}

// Unread refuses the first setting in set, by name, unless the reader reads it.
func Unread(reader string, reads bool, set map[string]bool) error {
	for _, field := range slices.Sorted(maps.Keys(set)) {
		if set[field] && !reads {
			return &Error{Field: field, Allowed: reader + " does not use it; leave it out"}
		}
	}
	return nil
}

func Errorf(field string, value any, allowed string, args ...any) error {
	return &Error{field, fmt.Sprint(value), fmt.Sprintf(allowed, args...)}
}

type Field struct {
	Name  string
	Value float64
}

// Positive fails at the first number that is not positive and finite.
func Positive(fields ...Field) error {
	return check(fields, func(x float64) bool { return x > 0 }, "it must be positive")
}

// NotNegative fails at the first number that is negative or not finite.
func NotNegative(fields ...Field) error {
	return check(fields, func(x float64) bool { return x >= 0 }, "it must not be negative")
}

func check(fields []Field, valid func(x float64) bool, why string) error {
	for _, f := range fields {
		if !valid(f.Value) || math.IsInf(f.Value, 0) {
			return Errorf(f.Name, f.Value, "%s", why)
		}
	}
	return nil
}

// OneOf fails if value is not in allowed.
func OneOf(field, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return Errorf(field, value, "it is one of %s%s", strings.Join(allowed, ", "), spelling.DidYouMean(value, allowed))
}

func Default[T comparable](v *T, byDefault T) {
	var zero T
	if *v == zero {
		*v = byDefault
	}
}
