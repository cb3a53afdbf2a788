package cmd

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"missingscore/internal/shell"
)

// incidental are flags that a result does not depend on: where it is written, what is shown
// meanwhile, in how many parts it is made, and what it may take.
var incidental = []string{"out", "json", "verbose", "quiet", "workers", "resume", "shard", "merge", memoryFlag}

// commandLine is the command that makes the result again, as a shell takes it.
func commandLine(cmd *cobra.Command) string {
	words := []string{cmd.CommandPath()}
	for _, arg := range cmd.Flags().Args() {
		words = append(words, shell.Word(arg))
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(incidental, f.Name) {
			return
		}
		if f.Value.Type() == "bool" && f.Value.String() == "true" {
			words = append(words, "--"+f.Name)
			return
		}
		words = append(words, "--"+f.Name+"="+flagWord(f.Value))
	})
	return strings.Join(words, " ")
}

// flagWord is a flag's value as a shell takes it.
func flagWord(value pflag.Value) string {
	if list, ok := value.(pflag.SliceValue); ok { // its String has brackets
		return shell.List(list.GetSlice())
	}
	return shell.Word(value.String())
}
