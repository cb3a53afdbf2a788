package regpath_test

import (
	"fmt"
	"log"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/internal/trainers/regpath"
)

func ExampleParseSelection() {
	for _, text := range []string{"ebic", "cv=10", "density=0.2", "aic"} {
		s, err := regpath.ParseSelection(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		if s, err = s.Resolve(500); err != nil {
			log.Fatal(err)
		}
		fmt.Println(s.Kind, s.Density, s.Folds, s.Judges())
	}
	// Output:
	// ebic 0 0 true
	// cv 0 10 true
	// density 0.2 0 false
	// select aic: it is ebic, cv[=FOLDS] (held-out loss), stars[=BETA] (stability under subsampling), stability[=FALSE][@SHARE] (stability selection, FALSE expected errors), fdr[=RATE] (false discovery rate), density=F (share of edges) or none (the smallest)
}

func ExampleLambdaMax() {
	table, err := data.ReadCSV("../../../examples/airquality.csv", data.ReadOptions{Columns: []string{"Ozone", "Solar.R", "Wind", "Temp"}})
	if err != nil {
		log.Fatal(err)
	}
	z, _ := data.Standardise(table)
	fmt.Printf("%.1f\n", regpath.LambdaMax(z, nil, domain.Weight{}))
	// Output:
	// 0.6
}
