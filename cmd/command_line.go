package cmd

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// incidental are flags that a result does not depend on: where it is written, what is shown
// meanwhile, in how many parts it is made, and what it may take.
var incidental = []string{"out", "json", "verbose", "quiet", "workers", "resume", "shard", "merge", memoryFlag}

// commandLine is the command that makes the result again, as a shell takes it.
func commandLine(cmd *cobra.Command) string {
	words := []string{cmd.CommandPath()}
	for _, arg := range cmd.Flags().Args() {
		words = append(words, quoted(arg))
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(incidental, f.Name) {
			return
		}
		value := f.Value.String()
		if list, ok := f.Value.(pflag.SliceValue); ok { // its String has brackets
			value = asCells(list.GetSlice())
		}
		if f.Value.Type() == "bool" && value == "true" {
			words = append(words, "--"+f.Name)
			return
		}
		words = append(words, quoted("--"+f.Name+"="+value))
	})
	return strings.Join(words, " ")
}

// asCells is a list as its flag takes it: CSV, as names may have commas.
func asCells(values []string) string {
	cells := make([]string, len(values))
	for i, v := range values {
		if cells[i] = v; strings.ContainsAny(v, ",\"\n\r") || v != strings.TrimSpace(v) {
			cells[i] = `"` + strings.ReplaceAll(v, `"`, `""`) + `"`
		}
	}
	return strings.Join(cells, ",")
}
