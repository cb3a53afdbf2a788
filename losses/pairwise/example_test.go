package pairwise_test

import (
	"context"
	"fmt"
	"log"

	"missingscore/data"
	"missingscore/losses/pairwise"
)

// Moments of a table with gaps, before and after they are made positive semidefinite.
func ExampleOf() {
	table, err := data.ReadCSV("../../examples/airquality.csv", data.ReadOptions{Columns: []string{"Ozone", "Solar.R", "Wind", "Temp"}})
	if err != nil {
		log.Fatal(err)
	}
	z, _ := data.Standardise(table)
	var rows []int
	for i := range z.N {
		rows = append(rows, i)
	}
	m, err := pairwise.Of(context.Background(), z, rows, nil, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f rows of a pair, %.0f at least; Ozone and Temp %.3f\n", m.Pairs, m.Least, m.S[3])
	if err := m.Shrink(context.Background(), 1); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("shrunk by %.4f to %.3f\n", m.Shrunk, m.S[3])
	// Output:
	// 131.33 rows of a pair, 111 at least; Ozone and Temp 0.699
	// shrunk by 0.0030 to 0.697
}
