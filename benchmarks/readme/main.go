// Command readme writes the tables of the README files below benchmarks that come from
// results: between the lines
//
//	<!-- generated: NAME -->
//	<!-- end -->
//
// stands the table NAME: "claims", the verdicts on all of benchmarks/results; "paper", those
// on the paper's sentences alone, and "paper quartic", the readings of those on the quartic model,
// which docs/explanation/paper.md has; "frontier", "which" and
// their "parts", package frontier's, whose picture it draws too; "core hours", what the
// committed cells have cost; "EXPERIMENT
// TABLE", one of an experiment's on its folder there; or one of the earlier runs and of
// speed, from the files of these. A test of this package fails where a README has
// something else.
package main

import (
	"flag"
	"log"
	"os"
)

func main() {
	log.SetFlags(0)
	folder := flag.String("benchmarks", "benchmarks", "the folder of the README files and results")
	flag.Parse()
	changed, err := update(*folder, func(path string, text []byte) error { return os.WriteFile(path, text, 0o644) })
	for _, path := range changed {
		log.Printf("%s is written again", path)
	}
	if err != nil {
		log.Fatal(err)
	}
}
