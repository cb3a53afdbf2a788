package cmd

import (
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// printable hands on text for people and JSON for programs, with what would steer a terminal
// or turn the direction of writing escaped: names of columns and files come from strangers. The escapes
// are those of JSON, in which they are the same text.
type printable struct{ w io.Writer }

// Write implements io.Writer. A character must not be cut in two.
func (p printable) Write(text []byte) (int, error) {
	out := make([]byte, 0, len(text))
	for rest := text; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && size == 1:
			out = append(out, "\ufffd"...)
		case r == '\n' || r == '\t' || !steers(r):
			out = append(out, rest[:size]...)
		default:
			for _, unit := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
		}
		rest = rest[size:]
	}
	if _, err := p.w.Write(out); err != nil {
		return 0, err
	}
	return len(text), nil
}

func steers(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || unicode.In(r, unicode.Zl, unicode.Zp) || r == '\ufeff'
}

// heedless goes on where nothing can be written: messages that nobody can read are no
// reason to end a run.
type heedless struct{ w io.Writer }

func (h heedless) Write(text []byte) (int, error) {
	_, _ = h.w.Write(text)
	return len(text), nil
}

// beneath is the writer that all goes to in the end, for what draws on a terminal on purpose.
func beneath(w io.Writer) io.Writer {
	for {
		switch v := w.(type) {
		case printable:
			w = v.w
		case heedless:
			w = v.w
		default:
			return w
		}
	}
}
