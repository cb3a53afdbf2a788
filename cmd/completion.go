package cmd

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"missingscore/data/transform"
	"missingscore/graph/model"
	"missingscore/losses"
	"missingscore/nets"
	"missingscore/trainers/descent"
	"missingscore/trainers/estimator"
	"missingscore/trainers/fitted"
	"missingscore/trainers/inference"
	"missingscore/trainers/inference/sandwich"
	"missingscore/trainers/penalty"
	"missingscore/trainers/regpath"
)

// completed are the values that a shell completes, by flag; of those with a space only the
// first word is the value, the others say what it is.
func completed() map[string][]string {
	methods := []string{"auto"}
	for _, e := range estimator.All {
		methods = append(methods, e.Name+"\t"+e.Note)
	}
	return map[string][]string{
		"method":       methods,
		"model":        slices.Sorted(maps.Keys(model.Models)),
		"objective":    append([]string{"auto"}, slices.Sorted(maps.Keys(losses.Objectives))...),
		"penalty":      regpath.Penalties(),
		"select":       regpath.Selections(),
		"weighting":    slices.Sorted(maps.Keys(losses.Weightings)),
		"imputer":      slices.Sorted(maps.Keys(nets.Imputers)),
		"imputer-loss": losses.ImputerLosses(),
		"optimiser":    append([]string{"auto"}, descent.Names()...),
		"inference":    inference.Beginnings(),
		"dtype":        {"float64", "float32"},
		"missingness":  {"estimate"},
		"round":        {"none", "auto"},
		"clip":         {"observed"},
		"sampler":      fitted.Samplers,
	}
}

// completedFor are those of one command.
func completedFor(command string) map[string][]string {
	values := completed()
	switch command {
	case "fit":
		values["penalty"] = penalty.Names()
		values["inference"] = []string{inference.None, sandwich.Kind}
	case "sample":
		values["sampler"] = fitted.RowSamplers
	case "impute":
		values["sampler"] = append(slices.Clone(fitted.Samplers), fitted.FromPosterior)
	}
	return values
}

// addCompletions lets shells complete the values of flags.
func addCompletions(commands ...*cobra.Command) {
	for _, c := range commands {
		for name, words := range completedFor(c.Name()) {
			complete(c, name, func(string) []string { return words })
		}
		complete(c, "transform", func(begun string) []string {
			column, _, chosen := strings.Cut(begun, "=")
			if !chosen {
				return nil
			}
			var words []string
			for _, kind := range slices.Sorted(maps.Keys(transform.Kinds)) {
				words = append(words, column+"="+kind)
			}
			return words
		})
	}
}

// complete says what a flag's value may be, if the command has the flag. Files are offered
// where nothing else is known.
func complete(cmd *cobra.Command, name string, words func(begun string) []string) {
	if cmd.Flags().Lookup(name) == nil {
		return
	}
	_ = cmd.RegisterFlagCompletionFunc(name, func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		var fitting []string
		for _, w := range words(begun) {
			if strings.HasPrefix(w, begun) {
				fitting = append(fitting, w)
			}
		}
		if fitting == nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		directive := cobra.ShellCompDirectiveNoFileComp
		if slices.ContainsFunc(fitting, func(w string) bool { return strings.HasSuffix(w, "=") }) {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		return fitting, directive
	}) // it fails for a flag that is completed already only
}
