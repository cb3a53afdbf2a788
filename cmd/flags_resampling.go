package cmd

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"missingscore/internal/shell"
	"missingscore/trainers"
	"missingscore/trainers/inference"
)

// resamplingFlags spread a network's resamples over processes: each makes a shard of them
// and leaves it in a file, from which another joins them.
type resamplingFlags struct {
	text  string
	shard inference.Shard
	merge []string // folders of the shards
}

// shardFile is the name of what a shard has made: its state.
const shardFile = "shard-%d-of-%d.bin"

func (f *resamplingFlags) add(cmd *cobra.Command, c *inference.Config) {
	fl := cmd.Flags()
	fl.IntVar(&c.Stability, "stability", 0, "correlation stability by so many networks of parts of the rows, as 1000; writes stability.csv (default: none)")
	fl.StringVar(&f.text, "shard", "", "I/N: make every N-th resample of --inference bootstrap=… and --stability, from the I-th, and leave them in --out for --merge")
	fl.StringSliceVar(&f.merge, "merge", nil, "folders of all shards: join their resamples and write the results")
}

// parse reads --shard and refuses what does not go together.
func (f *resamplingFlags) parse(cmd *cobra.Command, c inference.Config, resume bool) (err error) {
	if f.shard.I, f.shard.N, err = parseShard(f.text); err != nil {
		return err
	}
	if f.text == "" && f.merge == nil {
		return nil
	}
	name := "shard"
	if f.merge != nil {
		name = "merge"
	}
	switch {
	case c.Resamples == 0 && c.Stability == 0:
		return usageError{fmt.Errorf("--%s is of resamples, and there are none: add --inference bootstrap=500 or --stability 1000, or leave it out", name)}
	case f.text != "" && f.merge != nil:
		return usageError{errors.New("--shard makes resamples and --merge joins them: leave one of them out")}
	case f.merge != nil && resume:
		return usageError{errors.New("--merge goes on from the shards, --resume from the state of a run that was cut: leave one of them out")}
	case f.text != "" && cmd.Flags().Changed("truth"):
		return usageError{errors.New("--truth is of the results, which a shard does not write: give it with --merge")}
	}
	return nil
}

// file is the name of the state.
func (f *resamplingFlags) file() string {
	if f.shard.N > 0 {
		return fmt.Sprintf(shardFile, f.shard.I, f.shard.N)
	}
	return stateFile
}

// locked is what a run keeps for itself: the folder, or of a shard only its file.
func (f *resamplingFlags) locked(out string) string {
	if f.shard.N > 0 {
		return filepath.Join(out, f.file())
	}
	return out
}

// joined is the state of a run that has made what all shards have.
func (f *resamplingFlags) joined(c inference.Config) (*trainers.State, error) {
	paths, err := findShards(shardFile, f.merge)
	if err != nil {
		return nil, err
	}
	n := len(paths)
	if n == 0 {
		return nil, noShards(shardFile, f.merge)
	}
	var all *trainers.State
	for _, path := range paths {
		s, err := trainers.LoadState(path)
		if err != nil {
			return nil, fmt.Errorf("--merge: %w", err)
		}
		if all == nil {
			all = s
			continue
		}
		if err := all.Join(s); err != nil {
			return nil, fmt.Errorf("--merge: %s and %s are not of the same table and settings", paths[0], path)
		}
	}
	if left := all.Inference.Left(c); len(left) > 0 {
		var unfinished []string
		for _, i := range left {
			if s := fmt.Sprintf("%d/%d", i%n+1, n); !slices.Contains(unfinished, s) {
				unfinished = append(unfinished, s)
			}
		}
		return nil, fmt.Errorf("--merge: %d resamples are not made yet, of the shards %s: run these again with --resume", len(left), strings.Join(unfinished, ", "))
	}
	return all, nil
}

// tellShard says on stdout what comes after a shard.
func (f *networkCommand) tellShard(cmd *cobra.Command) error {
	s := f.resampling.shard
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "shard %d of %d is done: %s; after all the same command with --merge %s in place of --shard\n",
		s.I, s.N, filepath.Join(f.out, f.resampling.file()), shell.Word(f.out))
	return err
}
