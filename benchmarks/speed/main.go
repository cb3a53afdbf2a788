// Command speed times parameter iterations (ten imputer steps where the method trains
// one, and one parameter step) against the same algorithm in PyTorch, in turns, each
// side a process on one core, and prints a Markdown table. Without PyTorch it times ours
// alone. Flags choose something else:
//
//	-check    compare the two sides' gradients
//	-curves   time and peak memory against columns, batch, imputations and rows
//	-path     time of whole L1 paths
//	-workers  independent fits on one worker and on two
//
// A finished setting is a line of a results file and is not measured again.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"missingscore/benchmarks/timing"
	"missingscore/graph"
	"missingscore/trainers/estimator"
)

// allMethods are those that the peer has too.
var allMethods = []string{"var", "variw", "iw", "exact", "em", "zeroed", "full"}

// options are the flags.
type options struct {
	serve, check, curves, path, workers, accuracy bool

	experiments, methods, d, dtypes string
	rounds, replicates              int
	block                           float64
	python, folder                  string
}

func main() {
	log.SetFlags(0)
	var o options
	flag.BoolVar(&o.serve, "serve", false, "be our side: answer questions on stdin")
	flag.BoolVar(&o.check, "check", false, "compare the two sides' gradients")
	flag.BoolVar(&o.curves, "curves", false, "time and peak memory against columns, batch, imputations and rows")
	flag.BoolVar(&o.path, "path", false, "time of whole L1 paths")
	flag.BoolVar(&o.accuracy, "accuracy", false, "what float32 changes in whole L1 paths")
	flag.BoolVar(&o.workers, "workers", false, "independent fits on one worker and on two")
	flag.StringVar(&o.experiments, "experiments", "normal,quartic,star", "experiments")
	flag.StringVar(&o.methods, "methods", strings.Join(allMethods, ","), "methods")
	flag.StringVar(&o.d, "d", "10,20,50", "numbers of columns")
	flag.StringVar(&o.dtypes, "dtypes", "float64,float32", "number types")
	flag.IntVar(&o.rounds, "rounds", 10, "blocks of each side")
	flag.Float64Var(&o.block, "block", 0.3, "seconds of a block")
	flag.IntVar(&o.replicates, "replicates", 8, "fits of -workers, tables of -accuracy")
	flag.StringVar(&o.python, "python", "python3,/usr/bin/python3", "Pythons to try for PyTorch")
	flag.StringVar(&o.folder, "out", "benchmarks/speed", "folder of results and pictures")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := o.run(ctx, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func (o options) run(ctx context.Context, w io.Writer) error {
	if o.serve {
		return serve(ctx, os.Stdin, w)
	}
	ds, err := list(o.d)
	if err != nil {
		return fmt.Errorf("-d: %w", err)
	}
	types, err := dtypes(o.dtypes)
	if err != nil {
		return fmt.Errorf("-dtypes: %w", err)
	}
	methods, experiments := strings.Split(o.methods, ","), strings.Split(o.experiments, ",")
	if err := known(methods, experiments); err != nil {
		return err
	}
	failed := func(key []string, err error) { log.Printf("%v: %v", key, err) }
	if o.accuracy {
		return accuracy(ctx, w, settings([]string{"star"}, methods, ds, types[:1]), o.replicates)
	}
	if o.workers {
		for _, s := range settings([]string{"star"}, methods, ds, types) {
			if err := scaling(ctx, w, s, o.replicates); err != nil {
				return err
			}
		}
		return nil
	}
	runtime.GOMAXPROCS(1)
	if o.curves {
		return drawCurves(ctx, w, o.folder, methods, types, o.rounds, o.block, failed)
	}
	peer, err := launchPeer(strings.Split(o.python, ","))
	if errors.Is(err, errNoPeer) && !o.check {
		log.Printf("%v; ours alone", err)
	} else if err != nil {
		return err
	} else {
		defer peer.close()
	}
	if o.check {
		return check(w, peer, checked())
	}
	ours, err := launchOurs()
	if err != nil {
		return err
	}
	defer ours.close()
	c := contest{ours, peer, o.rounds, o.block}
	if o.path {
		return c.compare(ctx, w, filepath.Join(o.folder, "paths.csv"), settings([]string{"star"}, methods, ds, types), c.paths, 1, "s", failed)
	}
	return c.compare(ctx, w, filepath.Join(o.folder, "results.csv"), settings(experiments, methods, ds, types), c.iterations, 1e-3, "ms", failed)
}

// known refuses names that nothing has.
func known(methods, experiments []string) error {
	for _, m := range methods {
		if _, err := estimator.ByName(m); err != nil {
			return fmt.Errorf("-methods: %w", err)
		}
	}
	for _, e := range experiments {
		if !slices.Contains(timing.Experiments, e) {
			return fmt.Errorf("-experiments: there is no %q; they are %s", e, strings.Join(timing.Experiments, ", "))
		}
	}
	return nil
}

// checked are small settings of every experiment and method of the peer.
func checked() []timing.Setting {
	all := settings(timing.Experiments, allMethods, []int{7}, []graph.DType{graph.Float64})
	for i := range all {
		all[i].N, all[i].Batch, all[i].Draws = 40, 20, 4
	}
	return all
}
