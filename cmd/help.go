package cmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagGroups are the headings of a command's help with their flags by name: --help shows those in
// shown, --help-all those in expert too.
var flagGroups = []struct{ title, shown, expert string }{
	{"Table", "columns exclude id na nominal by groups like table", "kinds strict kinds-out numbers sep dec sheet prices weights hide"},
	{"Support, gaps and functions of columns", "lower upper domain missingness transform ordinal", "g-cap g-per-row no-tangent"},
	{"Truth", "d n graph edges strength missing missing-by truncate", "centres"},
	{"Model", "model model-options method objective penalty select covariates", "objective-options lambda gamma refit"},
	{"Draws", "sampler point pmm round clip", "components warm-up iterations steps corrections"},
	{"Uncertainty", "inference rows tables permutations sensitivity", "level stability"},
	{"Pictures", "layout minimum", "theme cut maximum node-size labels column-groups"},
	{"Output", "out json quiet resume seed workers config", "model-out history verbose memory truth shard merge pairs-only version"},
	{"Fitting", "", "epochs rate batch optimiser tolerance validation patience average keep-units stream dtype " +
		"draws imputer imputer-options imputer-steps imputer-rate imputer-loss mask-input diagonal-sd proposal-sd weighting " +
		"path lambdas lambda-max lambda-min threshold"},
}

// shownBy are the flags that one command alone shows, and those that it alone does not.
var shownBy = map[string]struct{ more, less string }{
	"impute":       {"draws", "id model-options objective penalty domain missingness ordinal config"},
	"network":      {"", "domain config"},
	"compare":      {"", "nominal domain layout"},
	"score":        {"draws", ""},
	"sample":       {"iterations", ""},
	"moments":      {"shard merge pairs-only", ""},
	"missingscore": {"version", ""},
}

// helpAll is the value of --help-all: it asks for help.
type helpAll struct{ flags *pflag.FlagSet }

func (helpAll) String() string          { return "false" }
func (helpAll) Type() string            { return "bool" }
func (h helpAll) Set(text string) error { return h.flags.Set("help", text) }

func addHelp(c *cobra.Command) {
	c.InitDefaultHelpFlag()
	c.Flags().Var(helpAll{c.Flags()}, "help-all", "help with every flag, an expert's too")
	c.Flags().Lookup("help-all").NoOptDefVal = "true"
	c.SetUsageFunc(func(c *cobra.Command) error {
		_, err := io.WriteString(c.OutOrStdout(), usage(c))
		return err
	})
}

// usage says how a command is used: its form, its commands or examples, and its flags.
func usage(c *cobra.Command) string {
	var out strings.Builder
	fmt.Fprintf(&out, "Usage:\n  %s\n", c.UseLine())
	if c.HasExample() {
		fmt.Fprintf(&out, "\nExamples:\n%s\n", c.Example)
	}
	if c.HasAvailableSubCommands() {
		out.WriteString("\nCommands:\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				fmt.Fprintf(&out, "  %-11s %s\n", sub.Name(), sub.Short)
			}
		}
	}
	all, hidden := c.Flags().Changed("help-all"), 0
	for _, group := range flagGroups {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.SortFlags = false
		shown, expert := strings.Fields(group.shown), strings.Fields(group.expert)
		for k, name := range slices.Concat(shown, expert) {
			f := c.LocalFlags().Lookup(name)
			switch {
			case f == nil || f.Hidden:
			case all || isShown(c.Name(), name, k < len(shown)):
				flags.AddFlag(f)
			default:
				hidden++
			}
		}
		if text := flags.FlagUsages(); text != "" {
			fmt.Fprintf(&out, "\n%s:\n%s", group.title, text)
		}
	}
	out.WriteString("\n  -h, --help   this help")
	if hidden > 0 {
		fmt.Fprintf(&out, "; --help-all lists %d flags more", hidden)
	}
	out.WriteString("\n")
	return out.String()
}

// isShown tells whether --help shows a flag; usual is what its group says.
func isShown(command, name string, usual bool) bool {
	own := shownBy[command]
	return slices.Contains(strings.Fields(own.more), name) || usual && !slices.Contains(strings.Fields(own.less), name)
}
