package cmd

import (
	"io"

	"github.com/spf13/cobra"
)

// addQuiet adds --quiet to commands that say what they do.
func addQuiet(commands ...*cobra.Command) {
	for _, c := range commands {
		c.Flags().BoolP("quiet", "q", false, "print nothing but errors: no progress, no warnings, no summary; with --json the object alone")
	}
}

// obeyQuiet leaves what a command says unsaid, if it was asked to. The error that ends it is
// not the command's to print, and what --json asks for is the result.
func obeyQuiet(cmd *cobra.Command) {
	if !isSet(cmd, "quiet") {
		return
	}
	cmd.SetErr(io.Discard)
	if !isSet(cmd, "json") {
		cmd.SetOut(io.Discard)
	}
}

// isSet tells whether a command has a switch and it is on.
func isSet(cmd *cobra.Command, name string) bool {
	on, err := cmd.Flags().GetBool(name)
	return err == nil && on
}
