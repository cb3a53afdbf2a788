package compare_test

import (
	"context"
	"fmt"

	"missingscore/data"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers"
	"missingscore/trainers/compare"
	"missingscore/trainers/replicate"
)

func ExampleCompare() {
	ctx := context.Background()
	groups, _, err := data.ReadGroups("../../examples/airquality.csv", "Month", []string{"5", "8"}, data.ReadOptions{Columns: []string{"Ozone", "Solar.R", "Wind", "Temp"}})
	if err != nil {
		panic(err)
	}
	p := compare.Problem{Spec: func(*data.Table) trainers.Spec { return trainers.Spec{Network: &regpath.Config{Lambdas: 10}} }}
	for i, g := range groups {
		p.Tables[i] = g.Table
		if p.Networks[i], err = trainers.Estimate(ctx, g.Table, p.Spec(g.Table), trainers.Run{}); err != nil {
			panic(err)
		}
	}
	done := replicate.NewDone[compare.Permutation]("")
	r, err := compare.Compare(ctx, p, compare.Config{Permutations: 39, Seed: 1}, replicate.Config{Workers: 2}, done)
	if err != nil {
		panic(err)
	}
	fmt.Printf("M = %.2f, S = %.2f\n", r.Structure.Observed, r.Strength.Observed)
	for _, d := range r.Pairs {
		if d.P < 0.1 {
			fmt.Printf("%s — %s: %+.2f in May, %+.2f in August\n", d.From, d.To, d.Weights[0], d.Weights[1])
		}
	}
	// Output:
	// M = 0.54, S = 0.48
	// Ozone — Solar.R: +0.00 in May, +0.33 in August
	// Solar.R — Temp: +0.39 in May, +0.00 in August
}
