package trainers_test

import (
	"context"
	"fmt"

	"missingscore/data"
	"missingscore/trainers"
)

// A network from a table with missing cells, in three calls.
func ExampleEstimateNetwork() {
	table, err := data.ReadCSV("../examples/airquality.csv", data.ReadOptions{Columns: []string{"Ozone", "Solar.R", "Wind", "Temp"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	config := trainers.NetworkConfig{}
	config.Method = "exact"
	result, err := trainers.EstimateNetwork(context.Background(), table, config, &trainers.State{}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("converged:", result.Converged)
	for _, e := range result.Network.Edges[:3] {
		fmt.Printf("%s – %s %+.2f\n", e.From, e.To, e.PartialCorrelation)
	}
	// Output:
	// converged: true
	// Ozone – Temp +0.54
	// Ozone – Wind -0.41
	// Ozone – Solar.R +0.24
}
