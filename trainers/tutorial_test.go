package trainers_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every block of code of the tutorial stands in an example, word for word but for the
// indentation of a function's body and where the table is.
func TestTutorialIsInExamples(t *testing.T) {
	page, err := os.ReadFile("../docs/tutorials/go-program.md")
	require.NoError(t, err)
	text, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	code := strings.ReplaceAll("\n"+string(text), "\n\t", "\n")
	code = strings.ReplaceAll(code, `"../examples/`, `"examples/`)
	blocks := strings.Split(string(page), "```go\n")[1:]
	require.Len(t, blocks, 7)
	for _, b := range blocks {
		block, _, closed := strings.Cut(b, "```")
		require.True(t, closed)
		require.True(t, strings.Contains(code, "\n"+block), block)
	}
	require.NotContains(t, string(page), "TODO")
}
