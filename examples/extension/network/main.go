package main

import (
	"context"
	"fmt"
	"log"

	"missingscore/data"
	"missingscore/trainers"
)

func main() {
	table, err := data.ReadCSV("examples/airquality.csv", data.ReadOptions{Columns: []string{"Ozone", "Solar.R", "Wind", "Temp"}})
	if err != nil {
		log.Fatal(err)
	}
	result, err := trainers.Estimate(context.Background(), table, trainers.Spec{Network: &trainers.Network{}}, trainers.Run{})
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range result.Network.Edges() {
		fmt.Printf("%s – %s %+.2f\n", e.From, e.To, e.PartialCorrelation)
	}
}
