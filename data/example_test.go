package data_test

import (
	"fmt"
	"log"

	"missingscore/data"
)

// The columns asked for, in the order asked; an empty cell is missing.
func ExampleReadCSV() {
	table, err := data.ReadCSV("../examples/airquality.csv", data.ReadOptions{Columns: []string{"Ozone", "Solar.R", "Wind", "Temp"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(table.Names, table.N, "rows,", table.Missing(), "cells missing")
	// Output:
	// [Ozone Solar.R Wind Temp] 153 rows, 44 cells missing
}
