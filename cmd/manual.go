package cmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

func newManualCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "man [COMMAND]",
		Short: "Print the manual page of the program or of a command",
		Long: `Print the manual page of the program, or of one of its commands, as man reads it.
Releases have all of them in the folder man.`,
		Example: `  missingscore man network > missingscore-network.1
  man ./missingscore-network.1`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError{fmt.Errorf("one command is expected, got %d arguments", len(args))}
			}
			if len(args) == 1 {
				return knownCommand(root, args[0])
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) (names []string, _ cobra.ShellCompDirective) {
			return commandNames(root), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			page, _, err := root.Find(args)
			if err != nil {
				return err
			}
			return writeManual(cmd.OutOrStdout(), page, root.Version)
		},
	}
}

// writeManual writes the text of --help-all in the language of man(7).
func writeManual(w io.Writer, c *cobra.Command, version string) error {
	_ = c.Flags().Set("help-all", "true")
	if f := c.Flags().Lookup("workers"); f != nil {
		f.DefValue = "0" // not this machine's
	}
	var page strings.Builder
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	version, _, _ = strings.Cut(version, "\n")
	about, rest, _ := strings.Cut(helpText(c), "\nUsage:\n")
	fmt.Fprintf(&page, ".TH %q \"1\" \"\" %q \"User Commands\"\n.ad l\n.SH NAME\n%s \\- %s\n", strings.ToUpper(name), version, roff(name), roff(c.Short))
	fmt.Fprintf(&page, ".SH DESCRIPTION\n.nf\n%s.fi\n.SH USAGE\n.nf\n", roff(about))
	for line := range strings.Lines(rest) {
		if heading, ok := strings.CutSuffix(line, ":\n"); ok && line[0] != ' ' {
			line = ".fi\n.SH " + strings.ToUpper(heading) + "\n.nf\n"
		} else {
			line = roff(line)
		}
		page.WriteString(line)
	}
	page.WriteString(".fi\n")
	_, err := io.WriteString(w, page.String())
	return err
}

func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
