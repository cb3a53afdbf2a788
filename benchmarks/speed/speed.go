// Package speed times parameter iterations: ten imputer steps where the method trains an imputer,
// and one parameter step. Bench times this program alone, Compare against the same algorithm in
// PyTorch, in turns, each side a process on one core.
package speed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"missingscore/graph"
	"missingscore/trainers/estimator"
)

// peerMethods are the methods that PyTorch's side has.
var peerMethods = []string{"var", "variw", "iw", "exact", "em", "zeroed", "full"}

// options are the flags of speed.
type options struct {
	serve, check                    bool
	experiments, methods, d, dtypes string
	rounds                          int
	block                           float64
	python, out                     string
}

// Command is speed: the comparison with PyTorch.
func Command() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "speed",
		Short: "Time parameter iterations against PyTorch",
		Long: `Time parameter iterations against the same algorithm in PyTorch. Both sides are
processes on one core, which take turns. A line of --out is a finished setting and is
not measured again. Without PyTorch, this program alone is timed.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	fl := cmd.Flags()
	fl.BoolVar(&o.serve, "serve", false, "answer questions on stdin")
	_ = fl.MarkHidden("serve")
	fl.BoolVar(&o.check, "check", false, "compare the gradients of the two sides")
	fl.StringVar(&o.experiments, "experiments", strings.Join(Experiments, ","), "experiments")
	fl.StringVar(&o.methods, "methods", strings.Join(peerMethods, ","), "methods")
	fl.StringVar(&o.d, "d", "10,50,100", "numbers of columns")
	fl.StringVar(&o.dtypes, "dtypes", "float64,float32", "number types")
	fl.IntVar(&o.rounds, "rounds", 10, "blocks of each side")
	fl.Float64Var(&o.block, "block", 0.3, "seconds of a block")
	fl.StringVar(&o.python, "python", "python3,/usr/bin/python3", "Pythons to try for PyTorch")
	fl.StringVar(&o.out, "out", "speed.csv", "file of the results")
	return cmd
}

func (o options) run(ctx context.Context, w io.Writer) error {
	if o.serve {
		return serve(ctx, os.Stdin, w)
	}
	ds, err := list(o.d)
	if err != nil {
		return fmt.Errorf("--d: %w", err)
	}
	types, err := dtypes(o.dtypes)
	if err != nil {
		return fmt.Errorf("--dtypes: %w", err)
	}
	methods, experiments := strings.Split(o.methods, ","), strings.Split(o.experiments, ",")
	for _, m := range methods {
		if _, err := estimator.ByName(m); err != nil {
			return fmt.Errorf("--methods: %w", err)
		}
	}
	for _, e := range experiments {
		if !slices.Contains(Experiments, e) {
			return fmt.Errorf("--experiments: there is no %q; they are %s", e, strings.Join(Experiments, ", "))
		}
	}
	failed := func(key []string, err error) { fmt.Fprintf(os.Stderr, "%v: %v\n", key, err) }
	runtime.GOMAXPROCS(1)
	peer, err := launchPeer(strings.Split(o.python, ","))
	if errors.Is(err, errNoPeer) && !o.check {
		fmt.Fprintf(os.Stderr, "%v; this program alone\n", err)
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
	return c.compare(ctx, w, o.out, settings(experiments, methods, ds, types), failed)
}

// checked are small settings of every experiment and method of the peer.
func checked() []Setting {
	all := settings(Experiments, peerMethods, []int{7}, []graph.DType{graph.Float64})
	for i := range all {
		all[i].N, all[i].Batch, all[i].Draws = 40, 20, 4
	}
	return all
}
