// Package spelling suggests known names for mistyped ones.
package spelling

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// DidYouMean returns " (did you mean NAME?)" for the nearest known name, "" if none is near.
func DidYouMean(typed string, known []string) string {
	if name, ok := Nearest(typed, known); ok {
		return fmt.Sprintf(" (did you mean %s?)", name)
	}
	return ""
}

// Unknown is the error of an unknown name: there is no WHAT "NAME" (did you mean …?); WHATs are ….
func Unknown(what, name string, known []string) error {
	return fmt.Errorf("there is no %s %q%s; %s are %s", what, name, DidYouMean(name, known), plural(what), strings.Join(known, ", "))
}

// Find returns the value of a name, or the error Unknown.
func Find[V any](what, name string, of map[string]V) (v V, err error) {
	v, ok := of[name]
	if !ok {
		err = Unknown(what, name, slices.Sorted(maps.Keys(of)))
	}
	return v, err
}

func plural(what string) string {
	if strings.HasSuffix(what, "s") {
		return what + "es"
	}
	return what + "s"
}

const (
	shortest = 3 // letters of a prefix that stands for the whole name
	mistakes = 3 // at most, and at most one in three letters
)

// Nearest returns the first known name with the fewest mistakes, at most three and one in three
// letters; else the first with the prefix typed. It ignores case.
func Nearest(typed string, known []string) (name string, ok bool) {
	letters := []rune(strings.ToLower(typed))
	least := min(mistakes, len(letters)/3) + 1
	for _, k := range known {
		if n := distance(letters, []rune(strings.ToLower(k))); n < least {
			name, ok, least = k, true, n
		}
	}
	for i := 0; !ok && len(letters) >= shortest && i < len(known); i++ {
		if strings.HasPrefix(strings.ToLower(known[i]), string(letters)) {
			name, ok = known[i], true
		}
	}
	return name, ok
}

// distance is the optimal string alignment distance (Boytsov 2011, Indexing methods for approximate
// dictionary searching, section 2.1); agnivade/levenshtein counts a swap as two mistakes.
func distance(a, b []rune) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i, x := range a {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j, y := range b {
			mistaken := last[j]
			if x != y {
				mistaken++
			}
			row[j+1] = min(mistaken, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x == b[j-1] && a[i-1] == y {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
