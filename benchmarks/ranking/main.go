// Command ranking compares ways to rank the edges of the tables of dense-missing or
// star-missing: see star.Rank.
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"strconv"
	"strings"

	"missingscore/benchmarks/star"
)

func main() {
	log.SetFlags(0)
	r := star.Ranking{Experiment: star.Dense}
	onStar := flag.Bool("star", false, "tables of star-missing")
	flag.StringVar(&r.Treatment, "treatment", "honoured", "of the support: paper, honoured or ignored")
	flag.IntVar(&r.Replicates, "replicates", 4, "tables of each missing probability")
	missing := flag.String("missing", "", "probabilities, separated by commas; all of the experiment")
	methods := flag.String("methods", "full,exact,var,zeroed", "whose paths are compared; none where empty")
	flag.Parse()
	if flag.NArg() > 0 || r.Replicates < 1 {
		log.Fatal("-replicates must be positive, and nothing follows the flags")
	}
	if *onStar {
		r.Experiment = star.Missing
	}
	if *methods != "" {
		r.Methods = strings.Split(*methods, ",")
	}
	if *missing != "" {
		for _, text := range strings.Split(*missing, ",") {
			p, err := strconv.ParseFloat(text, 64)
			if err != nil {
				log.Fatalf("-missing: %v", err)
			}
			r.Missing = append(r.Missing, p)
		}
	}
	if err := star.Rank(context.Background(), os.Stdout, r); err != nil {
		log.Fatal(err)
	}
}
