// Package shell quotes words for a shell.
package shell

import (
	"encoding/csv"
	"strings"
)

// Word quotes a word if necessary.
func Word(word string) string {
	plain := func(r rune) bool {
		return strings.ContainsRune("-_./,=:+%@", r) || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= 0x80
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// List is the shell word of a list flag: a CSV line, because names may have commas.
func List(values []string) string {
	var line strings.Builder
	out := csv.NewWriter(&line)
	out.Write(values)
	out.Flush()
	return Word(strings.TrimSuffix(line.String(), "\n"))
}
