package cmd

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"missingscore/graph/model"
	"missingscore/internal/trainers/descent"
	"missingscore/internal/trainers/inference"
	"missingscore/internal/trainers/inference/sandwich"
	"missingscore/internal/trainers/regpath"
	"missingscore/losses"
	"missingscore/nets"
	"missingscore/trainers/estimator"
	"missingscore/trainers/fitted"
	"missingscore/trainers/penalty"
)

// --help lists the flags in shown, --help-all all of them.
var flagGroups = []struct{ title, flags string }{
	{"Table", "columns exclude by groups like table id na nominal weights covariates kinds strict kinds-out numbers sep dec sheet"},
	{"Support, missingness and transforms", "lower upper domain missingness transform ordinal"},
	{"Truth", "d n graph edges strength missing missing-by truncate centres"},
	{"Model and method", "model model-options method objective objective-options penalty lambda select gamma refit rows tables sensitivity"},
	{"Draws", "draws point pmm round clip sampler components warm-up iterations steps"},
	{"Uncertainty", "inference level permutations stability"},
	{"Pictures", "column-groups layout labels theme minimum cut maximum node-size"},
	{"Output", "out model-out truth json quiet resume shard merge pairs-only seed workers config memory verbose version"},
	{"Fitting", "epochs rate batch optimiser tolerance validation keep-units stream dtype imputer imputer-options " +
		"imputer-steps lambdas lambda-max lambda-min path"},
}

var shown = map[string]string{
	"missingscore": "columns exclude na nominal kinds kinds-out sep dec lower upper transform json quiet version",
	"network":      "columns exclude na nominal covariates groups lower upper missingness transform ordinal method penalty select inference out json quiet resume seed",
	"compare":      "columns exclude na by groups lower upper missingness transform ordinal method penalty select inference permutations out json quiet resume seed",
	"power":        "like table d graph edges strength missing method penalty select rows tables sensitivity out json quiet resume seed",
	"fit":          "columns exclude na lower upper missingness transform model model-options method objective penalty lambda inference out json quiet resume seed epochs",
	"impute":       "columns exclude na nominal lower upper transform draws point pmm round clip sampler out model-out json quiet resume seed workers",
	"sample":       "n sampler out json quiet seed",
	"score":        "na sep dec sampler out json quiet seed workers draws",
	"simulate":     "d n missing missing-by truncate centres lower upper domain out seed quiet",
	"moments":      "columns exclude na nominal kinds sep dec out json quiet shard merge pairs-only",
}

type helpAll struct{ flags *pflag.FlagSet }

func (helpAll) String() string          { return "false" }
func (helpAll) Type() string            { return "bool" }
func (h helpAll) Set(text string) error { return h.flags.Set("help", text) }

func addHelp(c *cobra.Command) {
	c.InitDefaultHelpFlag()
	c.Flags().Var(helpAll{c.Flags()}, "help-all", "all flags and details")
	c.Flags().Lookup("help-all").NoOptDefVal = "true"
	c.SetHelpFunc(func(c *cobra.Command, _ []string) { _, _ = io.WriteString(c.OutOrStdout(), helpText(c)) }) // used notes an error
}

const helpWidth = 100

func helpText(c *cobra.Command) string {
	var out strings.Builder
	all, hidden := c.Flags().Changed("help-all"), 0
	what := c.Short + "."
	if all {
		what = c.Long
	}
	fmt.Fprintf(&out, "%s\n\nUsage:\n  %s\n", what, c.UseLine())
	if c.HasExample() {
		fmt.Fprintf(&out, "\nExample:\n%s\n", c.Example)
	}
	if c.HasAvailableSubCommands() {
		out.WriteString("\nCommands:\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				fmt.Fprintf(&out, "  %-11s %s\n", sub.Name(), sub.Short)
			}
		}
	}
	few := strings.Fields(shown[c.Name()])
	for _, group := range flagGroups {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.SortFlags = false
		for name := range strings.FieldsSeq(group.flags) {
			f := c.LocalFlags().Lookup(name)
			switch {
			case f == nil || f.Hidden:
			case all || slices.Contains(few, name):
				flags.AddFlag(f)
			default:
				hidden++
			}
		}
		if text := flags.FlagUsagesWrapped(helpWidth); text != "" {
			fmt.Fprintf(&out, "\n%s:\n%s", group.title, text)
		}
	}
	out.WriteString("\n  -h, --help   this help")
	if hidden > 0 {
		fmt.Fprintf(&out, "; --help-all: details and %d more flags", hidden)
	}
	out.WriteString("\n")
	return out.String()
}

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
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	version, _, _ = strings.Cut(version, "\n")
	about, rest, _ := strings.Cut(helpText(c), "\nUsage:\n")
	sections := heading.ReplaceAllStringFunc(roff(rest), func(line string) string {
		return ".fi\n.SH " + strings.ToUpper(strings.TrimSuffix(line, ":")) + "\n.nf"
	})
	_, err := fmt.Fprintf(w, ".TH %q \"1\" \"\" %q \"User Commands\"\n.ad l\n.SH NAME\n%s \\- %s\n.SH DESCRIPTION\n.nf\n%s.fi\n.SH USAGE\n.nf\n%s.fi\n",
		strings.ToUpper(name), version, roff(name), roff(c.Short), roff(about), sections)
	return err
}

var (
	heading = regexp.MustCompile(`(?m)^[^ \n].*:$`)
	control = regexp.MustCompile(`(?m)^([.'])`) // begins a line of commands
)

func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	return control.ReplaceAllString(text, `\&$1`)
}

func completed(command string) map[string][]string {
	methods := []string{"auto"}
	for _, e := range estimator.All {
		methods = append(methods, e.Name+"\t"+e.Note)
	}
	values := map[string][]string{
		"method": methods, "model": slices.Sorted(maps.Keys(model.Models)), "objective": append([]string{"auto"}, slices.Sorted(maps.Keys(losses.Objectives))...),
		"penalty": regpath.Penalties(), "select": regpath.Selections(),
		"imputer": slices.Sorted(maps.Keys(nets.Imputers)), "optimiser": append([]string{"auto"}, descent.Names()...),
		"inference": inference.Beginnings(), "dtype": {"float64", "float32"}, "missingness": {"estimate"}, "round": {"none", "auto"}, "clip": {"observed"}, "sampler": fitted.Samplers,
	}
	switch command {
	case "fit":
		values["penalty"], values["inference"] = penalty.Names(), []string{inference.None, sandwich.Kind}
	case "sample":
		values["sampler"] = fitted.RowSamplers
	case "impute":
		values["sampler"] = append(slices.Clone(fitted.Samplers), fitted.FromPosterior)
	}
	return values
}

func addCompletions(c *cobra.Command) {
	for name, words := range completed(c.Name()) {
		directive := cobra.ShellCompDirectiveNoFileComp
		if name == "missingness" { // or a file
			directive = cobra.ShellCompDirectiveDefault
		}
		_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, directive)) // it fails without the flag
	}
}
