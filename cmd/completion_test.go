package cmd

import (
	"bytes"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// Scripts of completions are what their shell reads, where it is there.
func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		var stdout, stderr bytes.Buffer
		require.Zero(t, run([]string{"completion", shell}, &stdout, &stderr), stderr.String())
		program, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("no %s here", shell)
			continue
		}
		check := exec.CommandContext(t.Context(), program, "-n")
		check.Stdin = &stdout
		out, err := check.CombinedOutput()
		require.NoError(t, err, string(out))
	}
}
