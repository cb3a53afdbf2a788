package cmd

import (
	"bytes"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Manual pages have every flag, and nothing that man would take for a request of its own.
func TestManualPages(t *testing.T) {
	requests := regexp.MustCompile(`^\.(TH|SH|TP|B|BR|nf|fi|ad)\b`)
	root := newRoot()
	for _, c := range append(root.Commands(), root) {
		var page bytes.Buffer
		require.NoError(t, writeManual(&page, c, "missingscore v1"))
		for line := range strings.Lines(page.String()) {
			if strings.HasPrefix(line, ".") {
				require.Regexp(t, requests, line, c.Name())
			}
			require.False(t, strings.HasPrefix(line, "'"), "%s: %s", c.Name(), line)
		}
		if c.Flags().Lookup("seed") != nil {
			require.Contains(t, page.String(), ".B \\-\\-seed=UINT64\n")
		}
		if _, err := exec.LookPath("groff"); err == nil {
			format := exec.CommandContext(t.Context(), "groff", "-man", "-Tutf8", "-ww", "-K", "utf8")
			format.Stdin = &page
			var warnings bytes.Buffer
			format.Stderr = &warnings
			require.NoError(t, format.Run(), warnings.String())
			require.NotRegexp(t, `warning|error`, warnings.String(), c.Name())
		}
	}
	require.Equal(t, "a\\-b\n\\&.x\n\\&'y\n\\e", roff("a-b\n.x\n'y\n\\"))
}
