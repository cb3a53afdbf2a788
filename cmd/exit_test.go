package cmd

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every ending has its code, and its message goes to people and to --json alike.
func TestEnding(t *testing.T) {
	for _, c := range []struct {
		err             error
		code            int
		message, advice string
	}{
		{nil, exitDone, "", ""},
		{errors.New("no"), exitError, "no", ""},
		{usageError{errors.New("no")}, exitUsage, "no", " (see missingscore --help)"},
		{unconverged{"NOT converged"}, exitUnconverged, "NOT converged", ""},
		{interrupted("nothing is written"), exitInterrupted, "interrupted; nothing is written", ""},
		{context.Canceled, exitInterrupted, "interrupted", ""},
	} {
		code, message, advice := ending(c.err)
		require.Equal(t, c.code, code)
		require.Equal(t, c.message, message)
		require.Equal(t, c.advice, advice)
	}
}
