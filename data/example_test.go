package data_test

import (
	"fmt"
	"log"
	"math/rand/v2"
	"strings"

	"missingscore/data"
	"missingscore/internal/data/simulate"
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

// Errors name line, column and cell, and the remedy.
func ExampleParseCSV() {
	text := "height,weight\n1.80,75\n1.75,unknown\n1.62,58\n"
	_, err := data.ParseCSV(strings.NewReader(text), "people.csv", data.ReadOptions{})
	fmt.Println(err)
	table, err := data.ParseCSV(strings.NewReader(text), "people.csv", data.ReadOptions{NA: []string{"unknown"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(table.Observed)
	// Output:
	// people.csv:3: column "weight": "unknown" is not a number; if it marks a missing cell: ReadOptions.NA 'NA,N/A,na,n/a,#N/A,<NA>,NaN,nan,NULL,null,None,.,?,unknown'
	// [true true true false true true]
}

// Values of missing cells are never read; Restore returns to the table's units.
func ExampleStandardise() {
	table, err := data.NewTable([]string{"a", "b"}, []float64{1, 10, 3, 0, 5, 40}, []bool{true, true, true, false, true, true})
	if err != nil {
		log.Fatal(err)
	}
	z, scale := data.Standardise(table)
	fmt.Printf("%.1f\n", z.Values)
	fmt.Printf("mean %.1f, deviation %.1f\n", scale.Mean, scale.Deviation)
	fmt.Printf("%.1f\n", scale.Restore(z).Values)
	// Output:
	// [-1.2 -1.0 0.0 0.0 1.2 1.0]
	// mean [3.0 25.0], deviation [1.6 15.0]
	// [1.0 10.0 3.0 0.0 5.0 40.0]
}

// Gaps completely at random in a simulated table.
func ExampleHideMCAR() {
	rng := rand.New(rand.NewPCG(1, 2))
	complete, err := simulate.Moons().Sample(1000, rng)
	if err != nil {
		log.Fatal(err)
	}
	table, err := data.HideMCAR(complete, 0.3, rng)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d cells, %.1f of them missing\n", table.N*table.D, float64(table.Missing())/2000)
	// Output:
	// 2000 cells, 0.3 of them missing
}

// The data do not identify the dependence of columns that are never observed together.
func ExampleTable_NeverTogether() {
	text := "age,test A,test B\n31,5,\n45,7,\n28,,12\n50,,17\n"
	table, err := data.ParseCSV(strings.NewReader(text), "tests.csv", data.ReadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range table.NeverTogether() {
		fmt.Println(table.Names[p[0]], "and", table.Names[p[1]])
	}
	// Output:
	// test A and test B
}
