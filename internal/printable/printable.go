// Package printable makes text from strangers, as names of columns and files and cells, fit to be
// shown: nothing in it steers a terminal, turns the direction of writing, or runs on without end.
//
//	Text    a name
//	Cell    the beginning of a cell
//	Writer  all that is written
package printable

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text is s with control characters and marks of direction escaped as in JSON, \u202e, where they are
// the same text. Line feeds and tabs stay; what is no UTF-8 is replaced.
func Text(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, steers) {
		return s
	}
	var out strings.Builder
	for _, r := range s {
		if !steers(r) {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
	}
	return out.String()
}

// Texts are the Text of each name.
func Texts(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = Text(name)
	}
	return out
}

// longestCell is how many characters of a cell a message shows.
const longestCell = 60

// Cell is the beginning of a cell for a message: up to 60 characters.
func Cell(s string) string {
	at := 0
	for i := range s {
		if at++; at > longestCell {
			return s[:i] + "…"
		}
	}
	return s
}

// Writer hands on the Text of what is written, for people or as JSON. A character must not be cut in two.
type Writer struct{ W io.Writer }

// Write implements io.Writer.
func (p Writer) Write(text []byte) (int, error) {
	if _, err := io.WriteString(p.W, Text(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

func steers(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || unicode.In(r, unicode.Zl, unicode.Zp) || r == '\ufeff')
}
