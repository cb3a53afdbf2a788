package cmd

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// The help says of every simulation what it draws from.
func TestSimulationsAreExplained(t *testing.T) {
	long := newSimulateCommand().Long
	for _, name := range simulationNames() {
		require.Regexp(t, regexp.MustCompile(`(?m)^  (\w+, )*`+name+`\b`), long)
	}
}
