package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReport(t *testing.T) {
	for _, s := range []setting{{rows: 10_000, d: 4}, {rows: 5000, d: 4, missing: 0.2}, {rows: 5000, d: 4, missing: 0.2, pairs: true}} {
		var out strings.Builder
		require.NoError(t, s.report(&out))
		require.Regexp(t, `rows of 4 columns, .* for each 10⁶ rows`, out.String())
	}
	m, err := setting{rows: 1000, d: 3, missing: 0.3}.measure()
	require.NoError(t, err)
	require.LessOrEqual(t, m.patterns, 7)
}
