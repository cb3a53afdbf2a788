package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/markdown"
)

// Every table between marks is what the committed results give.
func TestReadmesAreGenerated(t *testing.T) {
	changed, err := update("..", func(string, []byte) error { return nil })
	require.NoError(t, err)
	require.Empty(t, changed, "go run ./benchmarks/readme writes them again")
}

func TestFill(t *testing.T) {
	tables := map[string]markdown.Table{"a b": {Header: []string{"x", "y"}, Lines: [][]string{{"1", "2 | 3"}}}}
	got, err := fill([]byte("before\n  <!-- generated: a b -->\nold\n  <!-- end -->\nafter\n"), tables)
	require.NoError(t, err)
	require.Equal(t, "before\n  <!-- generated: a b -->\n  | x | y |\n  | --- | --- |\n  | 1 | 2 \\| 3 |\n  <!-- end -->\nafter\n", string(got))
	_, err = fill([]byte("<!-- generated: c -->\n<!-- end -->\n"), tables)
	require.EqualError(t, err, `there is no table "c"`)
}
