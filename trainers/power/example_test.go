package power_test

import (
	"context"
	"fmt"

	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers"
	"missingscore/trainers/power"
	"missingscore/trainers/replicate"
)

func ExampleRun() {
	g, err := simulate.Graph("chain", 4, 0, 0.4, stream.New(1))
	if err != nil {
		panic(err)
	}
	truth, err := power.NewTruth([]string{"a", "b", "c", "d"}, g, nil, 0)
	if err != nil {
		panic(err)
	}
	p := power.Problem{Truth: truth, Gaps: power.Gaps{Share: 0.2}, Spec: trainers.Spec{Network: &regpath.Config{Lambdas: 10}}}
	c := power.Config{Rows: []int{30, 60, 120}, Tables: 10, Sensitivity: 0.7, Seed: 1}
	r, err := power.Run(context.Background(), p, c, replicate.Config{Workers: 2}, replicate.NewDone[power.Found](""))
	if err != nil {
		panic(err)
	}
	for _, point := range r.Points {
		fmt.Printf("%3d rows: sensitivity %.2f\n", point.Rows, point.Means[power.Sensitivity].Value)
	}
	fmt.Printf("about %.0f rows\n", r.Needed.Rows)
	// Output:
	//  30 rows: sensitivity 0.33
	//  60 rows: sensitivity 0.80
	// 120 rows: sensitivity 1.00
	// about 52 rows
}
