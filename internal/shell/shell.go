// Package shell writes words as they are typed into a shell.
package shell

import (
	"encoding/csv"
	"strings"
)

// Word is a word as a shell takes it, in quotes where it has to be.
func Word(word string) string {
	plain := func(r rune) bool {
		return strings.ContainsRune("-_./,=:+%@", r) || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= 0x80
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// List is the word of a list as a flag takes it: separated by commas as in a line of CSV, for
// names may have commas.
func List(values []string) string {
	var line strings.Builder
	out := csv.NewWriter(&line)
	out.Write(values)
	out.Flush()
	return Word(strings.TrimSuffix(line.String(), "\n"))
}
