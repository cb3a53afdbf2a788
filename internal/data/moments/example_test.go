package moments_test

import (
	"fmt"
	"log"

	"missingscore/data"
	"missingscore/internal/data/moments"
)

// The moments of two halves of a table merge into the moments of the table; a few weighted rows
// have the same moments.
func Example() {
	table, err := data.ReadCSV("../../../examples/airquality.csv", data.ReadOptions{Columns: []string{"Ozone", "Solar.R", "Wind", "Temp"}})
	if err != nil {
		log.Fatal(err)
	}
	of := func(from, to int) *moments.Moments {
		m, err := moments.New(table.Names, moments.Options{NA: data.DefaultNA})
		if err != nil {
			log.Fatal(err)
		}
		if err := m.Add(table.Values[from*table.D:to*table.D], table.Observed[from*table.D:to*table.D]); err != nil {
			log.Fatal(err)
		}
		return m
	}
	joined := of(70, table.N)
	if err := joined.Merge(of(0, 70)); err != nil {
		log.Fatal(err)
	}
	few, err := joined.Table()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d rows, %d patterns of gaps, %d rows that stand for them; Ozone %.1f ± %.1f\n",
		few.RowCount(), joined.Patterns(), few.N, few.Counted.Scale.Mean[0], few.Counted.Scale.Deviation[0])
	// Output:
	// 153 rows, 4 patterns of gaps, 15 rows that stand for them; Ozone 42.1 ± 32.8
}
