package cmd

import (
	"maps"
	"slices"

	"github.com/spf13/cobra"

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
