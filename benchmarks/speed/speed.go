// Package speed times parameter iterations: one parameter step, after ten imputer steps if the method has
// an imputer. bench times this program; speed compares it with the same algorithm in PyTorch, each side
// a process on one core.
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

// peerMethods lists the methods of peer_torch.py.
var peerMethods = []string{"var", "variw", "iw", "exact", "em", "zeroed", "full"}

// options holds the flags of speed.
type options struct {
	serve, check                          bool
	experiments, methods, dtypes, pythons []string
	d                                     []int
	rounds                                int
	block                                 float64
	out                                   string
}

// Command returns speed, the comparison with PyTorch.
func Command() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "speed",
		Short: "Time parameter iterations against PyTorch",
		Long: `Time parameter iterations against the same algorithm in PyTorch. The two processes
take turns, each on one core. Settings with a line in --out are not measured again.
Without PyTorch only this program is timed.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	fl := cmd.Flags()
	fl.BoolVar(&o.serve, "serve", false, "answer questions on stdin")
	_ = fl.MarkHidden("serve")
	fl.BoolVar(&o.check, "check", false, "compare the gradients of the two sides")
	fl.StringSliceVar(&o.experiments, "experiments", Experiments, "experiments")
	fl.StringSliceVar(&o.methods, "methods", peerMethods, "methods")
	fl.IntSliceVar(&o.d, "d", []int{10, 50, 100}, "numbers of columns")
	fl.StringSliceVar(&o.dtypes, "dtypes", []string{"float64", "float32"}, "number types")
	fl.IntVar(&o.rounds, "rounds", 10, "timed blocks of each side")
	fl.Float64Var(&o.block, "block", 0.3, "seconds of a block")
	fl.StringSliceVar(&o.pythons, "python", []string{"python3", "/usr/bin/python3"}, "Pythons to try for PyTorch")
	fl.StringVar(&o.out, "out", "speed.csv", "file of the results")
	return cmd
}

func (o options) run(ctx context.Context, w io.Writer) error {
	if o.serve {
		return serve(ctx, os.Stdin, w)
	}
	types, err := dtypes(o.dtypes)
	if err != nil {
		return fmt.Errorf("--dtypes: %w", err)
	}
	for _, m := range o.methods {
		if _, err := estimator.ByName(m); err != nil {
			return fmt.Errorf("--methods: %w", err)
		}
	}
	for _, e := range o.experiments {
		if !slices.Contains(Experiments, e) {
			return fmt.Errorf("--experiments: there is no %q; choose from %s", e, strings.Join(Experiments, ", "))
		}
	}
	failed := func(key []string, err error) { fmt.Fprintf(os.Stderr, "%v: %v\n", key, err) }
	runtime.GOMAXPROCS(1)
	peer, err := launchPeer(o.pythons)
	if errors.Is(err, errNoPeer) && !o.check {
		fmt.Fprintf(os.Stderr, "%v; timing this program only\n", err)
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
	return c.compare(ctx, w, o.out, settings(o.experiments, o.methods, o.d, types), failed)
}

// checked returns small settings of each experiment and method of the peer.
func checked() []Setting {
	all := settings(Experiments, peerMethods, []int{7}, []graph.DType{graph.Float64})
	for i := range all {
		all[i].N, all[i].Batch, all[i].Draws = 40, 20, 4
	}
	return all
}
