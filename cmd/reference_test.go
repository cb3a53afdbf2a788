package cmd

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// docs/reference/command-line.md is made from the commands themselves; -update writes it.
func TestCommandLineReference(t *testing.T) {
	var page strings.Builder
	page.WriteString("<!-- Made by go test ./cmd -run CommandLineReference -update; do not edit. -->\n# Command line\n\n")
	page.WriteString("What `missingscore COMMAND --help-all` says; `--help` shows fewer flags. [Files](files.md), [settings](settings.md), [exit codes](exit-codes.md) and [messages](messages.md) have pages of their own.\n")
	root := newRoot()
	for _, c := range append([]*cobra.Command{root}, root.Commands()...) {
		if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		describeCommand(&page, c)
	}
	const path = "../docs/reference/command-line.md"
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(page.String()), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), page.String(), "go test ./cmd -run CommandLineReference -update writes it again")
}

func describeCommand(page *strings.Builder, c *cobra.Command) {
	fmt.Fprintf(page, "\n## %s\n\n%s.\n\n", c.Name(), strings.TrimSuffix(c.Short, "."))
	fmt.Fprintf(page, "```\n%s\n\n%s\n```\n", strings.TrimSuffix(c.UseLine(), " [flags]")+" [flags]", c.Long)
	if c.Example != "" {
		fmt.Fprintf(page, "\nExample:\n\n```\n%s\n```\n", strings.TrimRight(c.Example, "\n"))
	}
	page.WriteString("\n| flag | default | meaning |\n| --- | --- | --- |\n")
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || f.Name == "help-all" {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		value := f.DefValue
		if f.Name == "workers" {
			value = "the machine's cores"
		}
		if value != "" && value != "[]" {
			value = "`" + value + "`"
		} else {
			value = ""
		}
		fmt.Fprintf(page, "| `%s` | %s | %s |\n", name, value, strings.ReplaceAll(f.Usage, "|", "\\|"))
	})
}
