package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"missingscore/data"
	"missingscore/data/moments"
)

// take takes the moments of tables, or of the shard's part of them.
func (f *momentsCommand) take(cmd *cobra.Command, files []string) (*moments.Moments, error) {
	o, err := f.tableFlags.options()
	if err != nil {
		return nil, err
	}
	everyBlock := 0
	switch {
	case f.shards > 0 && len(files) == 1:
		everyBlock = f.shards
	case f.shards > len(files):
		return nil, usageError{fmt.Errorf("--shard %s: there are only %d files to divide: take fewer shards, or shards of one file at a time", f.text, len(files))}
	case f.shards > 0:
		var own []string
		for at := f.i - 1; at < len(files); at += f.shards {
			own = append(own, files[at])
		}
		files = own
	}
	var all *moments.Moments
	bar := newProgress(cmd.ErrOrStderr(), false)
	defer bar.finish()
	for i, file := range files {
		o.Progress = readingProgress(bar, file)
		one, err := f.takeFile(cmd.Context(), file, o, everyBlock)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			all = one
		} else if err := all.Merge(one); err != nil {
			return nil, unmerged(err, files[0], file)
		}
	}
	return all, nil
}

// largeFile is of how many bytes the reading of a file is shown.
const largeFile = 50e6

// readingProgress shows how far the reading of a large file is.
func readingProgress(bar *progress, file string) func(read, size int64) {
	return func(read, size int64) {
		if size > largeFile {
			bar.count("reading "+filepath.Base(file), "MB", int(read/1e6), int(size/1e6))
		}
	}
}

// takeFile takes those of one table, of which everyBlock-th block the shard has; 0: all.
func (f *momentsCommand) takeFile(ctx context.Context, file string, o data.ReadOptions, everyBlock int) (m *moments.Moments, err error) {
	if moments.Is(file) {
		return nil, usageError{fmt.Errorf("%s holds moments already: add --merge to join files of moments", file)}
	}
	number := 0
	for b, err := range data.Blocks(file, o) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if m == nil {
			if m, err = moments.New(b.Names, moments.Options{NA: f.tableFlags.na, Pairs: f.pairs}); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
		}
		if number++; everyBlock > 0 && number%everyBlock != f.i%everyBlock {
			continue
		}
		m.Dropped += b.Dropped
		if err := m.Add(b.Values, b.Observed); err != nil {
			return nil, tooManyPatterns(fmt.Errorf("%s: %w", file, err))
		}
	}
	if m == nil {
		return nil, fmt.Errorf("%s: no row has a value", file)
	}
	return m, nil
}

// tooManyPatterns says what to do where there are.
func tooManyPatterns(err error) error {
	if errors.Is(err, moments.ErrPatterns) {
		return fmt.Errorf("%w: their moments would be no smaller than the rows. Fit the table itself, or take --pairs-only, for --method pairwise", err)
	}
	return err
}

// unmerged says why two files do not go together.
func unmerged(err error, first, second string) error {
	if errors.Is(err, moments.ErrPatterns) {
		return tooManyPatterns(err)
	}
	return fmt.Errorf("%s and %s cannot be joined: %w", first, second, err)
}
