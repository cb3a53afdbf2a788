package cmd

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"missingscore/graph/model"
	"missingscore/internal/data/transform"
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

// completed are the completions of a command by flag; text after a tab describes the value.
func completed(command string) map[string][]string {
	methods := []string{"auto"}
	for _, e := range estimator.All {
		methods = append(methods, e.Name+"\t"+e.Note)
	}
	values := map[string][]string{
		"method": methods, "model": slices.Sorted(maps.Keys(model.Models)), "objective": append([]string{"auto"}, slices.Sorted(maps.Keys(losses.Objectives))...),
		"penalty": regpath.Penalties(), "select": regpath.Selections(), "weighting": slices.Sorted(maps.Keys(losses.Weightings)),
		"imputer": slices.Sorted(maps.Keys(nets.Imputers)), "imputer-loss": losses.ImputerLosses(), "optimiser": append([]string{"auto"}, descent.Names()...),
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

func addCompletions(commands ...*cobra.Command) {
	for _, c := range commands {
		for name, words := range completed(c.Name()) {
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

// complete registers completions for a flag, if the command has it; the fallback is files.
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
