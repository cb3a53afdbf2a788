package trainers_test

import (
	"context"
	"fmt"

	"missingscore/data"
	"missingscore/trainers"
	"missingscore/trainers/path"
)

// A network from a table with missing cells, in two calls.
func ExampleEstimate() {
	table, err := data.ReadCSV("../examples/airquality.csv", data.ReadOptions{Columns: []string{"Ozone", "Solar.R", "Wind", "Temp"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := trainers.Estimate(context.Background(), table, trainers.Spec{Network: &path.Config{}}, trainers.Run{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("converged:", result.Converged)
	for _, e := range result.Network.Network.Edges[:3] {
		fmt.Printf("%s – %s %+.2f\n", e.From, e.To, e.PartialCorrelation)
	}
	// Output:
	// converged: true
	// Ozone – Temp +0.54
	// Ozone – Wind -0.41
	// Ozone – Solar.R +0.24
}
