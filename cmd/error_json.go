package cmd

import (
	"regexp"
	"strconv"
)

// errorJSON is what --json prints in place of a result.
type errorJSON struct {
	Error  string `json:"error"`
	Exit   int    `json:"exit"`
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column string `json:"column,omitempty"`
	Cell   string `json:"cell,omitempty"`
}

// place is how every message about a file's contents begins: FILE:LINE: and, where it is one
// cell, column "NAME": "CELL".
var place = regexp.MustCompile(`^(?:--[a-z-]+: )?([^\n]+?):(\d+): (?:column ("(?:[^"\\]|\\.)*")(?:: ("(?:[^"\\]|\\.)*"|-?[0-9][-+.0-9e]*) )?)?`)

// newErrorJSON takes the place out of a message, where it names one.
func newErrorJSON(message string, exit int) errorJSON {
	e := errorJSON{Error: message, Exit: exit}
	found := place.FindStringSubmatch(message)
	if found == nil {
		return e
	}
	e.File = found[1]
	e.Line, _ = strconv.Atoi(found[2]) // digits; one too long for a line is none
	e.Column, e.Cell = unquoted(found[3]), unquoted(found[4])
	return e
}

// unquoted is what a message has in quotation marks, or what it has without.
func unquoted(text string) string {
	if plain, err := strconv.Unquote(text); err == nil {
		return plain
	}
	return text
}
