// Package printable makes untrusted text safe to show: no terminal control or direction marks.
package printable

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text escapes control characters and direction marks as in JSON, but not line feeds and tabs.
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

func Texts(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = Text(name)
	}
	return out
}

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

// Writer passes on the Text of its input. A write must not split a character.
type Writer struct{ W io.Writer }

func (p Writer) Write(text []byte) (int, error) {
	if _, err := io.WriteString(p.W, Text(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

func steers(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || unicode.In(r, unicode.Zl, unicode.Zp) || r == '\ufeff')
}
