package cmd

import (
	"encoding/json"
	"io"
	"slices"

	"missingscore/internal/printable"
)

// printJSON writes one object.
func printJSON(w io.Writer, v any) error { return json.NewEncoder(printable.Writer{W: w}).Encode(v) }

// asksJSON tells whether arguments ask for JSON, also those of a command line with a mistake,
// of which no flags are known.
func asksJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.ContainsFunc(args, func(a string) bool { return a == "--json" || a == "--json=true" })
}

// used notes whether anything was written, and the first error of it: cobra drops those of its
// help.
type used struct {
	io.Writer
	yes bool
	err error
}

func (u *used) Write(text []byte) (n int, err error) {
	u.yes = u.yes || len(text) > 0
	if n, err = u.Writer.Write(text); u.err == nil {
		u.err = err
	}
	return n, err
}
