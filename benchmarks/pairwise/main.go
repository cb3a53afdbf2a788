// Command pairwise ranks the edges of the tables of dense-missing and star-missing without
// a path: see star.Pairwise.
package main

import (
	"flag"
	"log"
	"os"

	"missingscore/benchmarks/star"
)

func main() {
	log.SetFlags(0)
	replicates := flag.Int("replicates", 4, "tables of each missing probability")
	flag.Parse()
	if flag.NArg() > 0 || *replicates < 1 {
		log.Fatal("-replicates must be positive, and nothing follows")
	}
	if err := star.Pairwise(os.Stdout, *replicates); err != nil {
		log.Fatal(err)
	}
}
