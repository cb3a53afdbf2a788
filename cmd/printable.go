package cmd

import (
	"io"

	"missingscore/internal/printable"
)

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
		case printable.Writer:
			w = v.W
		case heedless:
			w = v.w
		default:
			return w
		}
	}
}
