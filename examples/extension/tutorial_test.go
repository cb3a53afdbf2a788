package extension_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTutorialIsThisCode(t *testing.T) {
	page, err := os.ReadFile("../../docs/extending.md")
	require.NoError(t, err)
	var code strings.Builder
	for _, pattern := range []string{"*.go", "*/*.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, f := range files {
			text, err := os.ReadFile(f)
			require.NoError(t, err)
			code.Write(text)
		}
	}
	blocks := strings.Split(string(page), "```go\n")[1:]
	require.Len(t, blocks, 9)
	for _, b := range blocks {
		block, _, _ := strings.Cut(b, "```")
		require.True(t, strings.Contains(code.String(), block), block)
	}
}
