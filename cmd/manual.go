package cmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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

// writeManual writes a manual page in the language of man(7).
func writeManual(w io.Writer, c *cobra.Command, version string) error {
	var page strings.Builder
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	version, _, _ = strings.Cut(version, " (")
	version, _, _ = strings.Cut(version, "\n")
	fmt.Fprintf(&page, ".TH %q \"1\" \"\" %q \"User Commands\"\n.ad l\n", strings.ToUpper(name), version)
	fmt.Fprintf(&page, ".SH NAME\n%s \\- %s\n", roff(name), roff(c.Short))
	fmt.Fprintf(&page, ".SH SYNOPSIS\n.nf\n%s\n", roff(strings.TrimSuffix(c.UseLine(), " [flags]")+" [flags]"))
	if !c.HasParent() {
		fmt.Fprintf(&page, "%s\n", roff(c.Name()+" COMMAND [flags]"))
	}
	fmt.Fprintf(&page, ".fi\n.SH DESCRIPTION\n.nf\n%s\n.fi\n", roff(strings.TrimSpace(c.Long)))
	if c.HasAvailableSubCommands() {
		page.WriteString(".SH COMMANDS\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(&page, ".TP\n.B %s\n%s\n", roff(sub.Name()), roff(sub.Short))
			}
		}
	}
	page.WriteString(".SH OPTIONS\n")
	c.LocalFlags().VisitAll(func(f *pflag.Flag) { writeOption(&page, f) })
	if c.Example != "" {
		fmt.Fprintf(&page, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(c.Example))
	}
	page.WriteString(".SH EXIT STATUS\n0 done, 1 error, 2 wrong command line, 3 not converged (results are written and marked), 130 interrupted (state saved).\n")
	if c.HasParent() {
		fmt.Fprintf(&page, ".SH SEE ALSO\n.BR %s (1)\n", roff(c.Root().Name()))
	}
	_, err := io.WriteString(w, page.String())
	return err
}

func writeOption(page *strings.Builder, f *pflag.Flag) {
	if f.Hidden {
		return
	}
	form := "--" + f.Name
	if f.Shorthand != "" {
		form = "-" + f.Shorthand + ", " + form
	}
	placeholder, usage := pflag.UnquoteUsage(f)
	if f.Value.Type() != "bool" {
		form += "=" + placeholder
	}
	if d := f.DefValue; d != "" && d != "[]" && d != "false" && d != "0" && f.Name != "workers" {
		usage += " (default " + d + ")"
	}
	fmt.Fprintf(page, ".TP\n.B %s\n%s\n", roff(form), roff(usage))
}

// roff escapes text for man.
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
