package data

import (
	"errors"
	"fmt"
	"strings"

	"missingscore/internal/memory"
	"missingscore/internal/panics"
	"missingscore/internal/plainwords"
)

// guarded has a library do something with the file. Whatever goes wrong is the file's fault.
func (c *columnarFile) guarded(do func() error) error {
	err := panics.Caught(do)
	var panicked *panics.Error
	var plain fileError
	var full *memory.Error
	switch {
	case err == nil || errors.As(err, &plain) || errors.As(err, &full):
		return err
	case errors.As(err, &panicked):
		if full, ok := panicked.Value.(*memory.Error); ok {
			full.What = c.in.name + ", " + full.What
			return full
		}
		err = fmt.Errorf("%v", panicked.Value)
	}
	return fileError{fmt.Sprintf("%s: cannot be read as %s: it is damaged or cut%s; write it again, or save the table as CSV", c.in.name, c.format.name, inWords(err)), err}
}

// inWords is what a library says of a file, in brackets; nothing where that is of its program: who
// has a file learns nothing by it.
func inWords(err error) string {
	line := firstLine(err)
	if plainwords.Unknown(line) != "" {
		return ""
	}
	return " (" + line + ")"
}

// firstLine is an error on one line, cut where it is long.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	if words := []rune(line); len(words) > 120 {
		line = string(words[:120]) + "…"
	}
	return strings.ToValidUTF8(line, "?")
}
