package imputation

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"

	"missingscore/benchmarks/outside"
)

//go:embed mice.R
var miceScript []byte

//go:embed sklearn_impute.py
var sklearnScript []byte

var (
	mice    = outside.R("mice.R", miceScript, "mice")
	sklearn = outside.Python("sklearn_impute.py", sklearnScript, "sklearn", "numpy")
)

func byMice(ctx context.Context, m method, t task) (filled, error) {
	return byProgram(ctx, mice, m, t)
}

func bySklearn(ctx context.Context, m method, t task) (filled, error) {
	return byProgram(ctx, sklearn, m, t)
}

// byProgram has a script fill in the cells: a line for each, with its draws, or one number.
func byProgram(ctx context.Context, p *outside.Program, m method, t task) (filled, error) {
	values, _, err := p.Run(ctx, t.table, m.Option, strconv.Itoa(t.draws), strconv.FormatUint(t.seed, 10))
	if err != nil {
		return filled{}, err
	}
	for _, v := range values {
		if slices.ContainsFunc(v, math.IsNaN) {
			return filled{}, fmt.Errorf("%w: %s left cells empty", errNone, m.Name)
		}
	}
	return filled{values: values}, nil
}
