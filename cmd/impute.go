package cmd

import (
	"fmt"

	"missingscore/trainers/fitted"

	"github.com/spf13/cobra"
)

func newImputeCommand() *cobra.Command {
	var f completingFlags
	cmd := &cobra.Command{
		Use:   "impute MODEL.json TABLE.csv",
		Short: "Draw a table's missing cells from a fitted model",
		Long: samplersText + `The table must have the model's columns, by name and in any order; others are
carried along. With one draw (--draws 1) the same table comes out, every observed
cell as it was read; with more, all of them below each other, with .imp for the
draw and .id for the row in front, the long format of the R package mice.
Draws, not best guesses: their spread is what is not known of the missing cells.`,
		Example: `  missingscore simulate normal --d 5 --n 200 --missing 0.3 --out n
  missingscore fit n/data.csv --out n/model.json
  missingscore impute n/model.json n/data.csv --draws 5 --out n/completed.csv`,
		Args: exactArgs(2, "a model and a table"),
		RunE: func(cmd *cobra.Command, args []string) error { return impute(cmd, &f, args[0], args[1]) },
	}
	f.add(cmd, 1, "completed.csv", "file for the completed table")
	return cmd
}

func impute(cmd *cobra.Command, f *completingFlags, model, path string) error {
	m, ready, cells, err := f.read(cmd, model, path)
	if err != nil {
		return err
	}
	if f.config.Draws > 1 {
		if err := cells.CheckLong(); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	release, err := hold(f.out)
	if err != nil {
		return err
	}
	defer release()
	bar := f.watch(cmd, "impute")
	r, err := fitted.Impute(cmd.Context(), ready, cells.Table, f.config)
	bar.finish()
	if err != nil {
		return refused(err, path)
	}
	if err := cells.WriteCompleted(f.out, r.Values, r.Draws); err != nil {
		return err
	}
	known := map[string]any{"model": m.Kind, "sampler": r.Sampler, "draws": r.Draws, "rows": cells.Table.N, "cells": cells.Table.Missing()}
	converged, mixing := mixed(known, r.Mixing)
	return f.finish(cmd, known, converged, fmt.Sprintf("%d cells of %d rows drawn %d times by %s%s", cells.Table.Missing(), cells.Table.N, r.Draws, r.Sampler, mixing))
}
