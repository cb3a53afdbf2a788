package cmd

import (
	"os"

	"github.com/spf13/cobra"

	"missingscore/internal/memory"
)

// memoryFlag is memory.Flag as a command has it.
const memoryFlag = "memory"

// addMemory adds --memory to commands.
func addMemory(commands ...*cobra.Command) {
	for _, c := range commands {
		c.Flags().String(memoryFlag, "", "how much memory may be used, as 8GB or 500MB: what needs more is refused before it is made (default: "+memory.Variable+", or 80 % of what is free)")
	}
}

// obeyMemory makes the limit what --memory says, or else the environment.
func obeyMemory(cmd *cobra.Command) error {
	if flag := cmd.Flags().Lookup(memoryFlag); flag != nil && flag.Changed {
		if err := memory.Use(flag.Value.String()); err != nil {
			return usageError{err}
		}
	} else {
		memory.UseVariable()
	}
	limit, err := memory.Limit()
	if err != nil {
		return usageError{err}
	}
	if os.Getenv("GOMEMLIMIT") == "" { // rubbish is collected before it takes what is left
		memory.Collect(limit)
	}
	return nil
}
