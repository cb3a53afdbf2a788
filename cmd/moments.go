package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"missingscore/data"
	"missingscore/internal/data/moments"
	"missingscore/internal/shell"
)

type momentsCommand struct {
	tableFlags tableFlags
	out, text  string
	i, shards  int // --shard
	merge      bool
	pairs      bool
	json       bool

	taken   *moments.Moments
	leftOut []data.Column // of the first table
}

func newMomentsCommand() *cobra.Command {
	var f momentsCommand
	cmd := &cobra.Command{
		Use:   "moments TABLE.csv...",
		Short: "Take the sums of tables that a network or a normal distribution needs",
		Long: `Compute what em-exact, exact, full and pairwise need from the rows: for each pattern of gaps
the number of rows, sums and sums of products. network and fit --model gaussian read the file
in place of the table. Rows are read in blocks, so tables may exceed the memory.

--shard I/N reads a part for job arrays; --merge joins the parts. The result changes by less
than 1e-12. Where nearly every row has its own pattern, the sums are as large as the table:
--pairs-only stores sums of pairs of columns, for --method pairwise.`,
		Example: `  missingscore moments readings-*.csv --out readings.bin
  missingscore network readings.bin --out readings`,
		Args: argsFrom(1, math.MaxInt, "at least one table"),
		RunE: f.run,
	}
	f.tableFlags.add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.out, "out", "", "`file` for the moments; with --shard a folder (required)")
	fl.BoolVar(&f.merge, "merge", false, "join files of moments, or folders of shards")
	fl.StringVar(&f.text, "shard", "", "`I/N`: read every N-th file, or block of one file, from the I-th")
	fl.BoolVar(&f.pairs, "pairs-only", false, "sums of pairs of columns only, for --method pairwise")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func (f *momentsCommand) run(cmd *cobra.Command, args []string) (err error) {
	start := time.Now()
	if f.out == "" {
		return usageError{errors.New("--out M.bin is missing: the file for the moments")}
	}
	if f.i, f.shards, err = parseShard(f.text); err != nil {
		return err
	}
	if err = unread(cmd, "--merge", !f.merge, "shard", "pairs-only", "columns", "exclude", "id", "na", "sep", "dec", "kinds", "nominal", "strict"); err != nil {
		return err
	}
	path := f.out
	if f.shards > 0 {
		path = filepath.Join(f.out, fmt.Sprintf(momentsShard, f.i, f.shards))
	}
	if err := distinctFiles(cmd, output{"out", path}); err != nil {
		return err
	}
	if err := abandonable(cmd.Context(), func() (err error) {
		if f.merge {
			f.taken, err = joinMoments(args)
		} else {
			f.taken, err = f.take(cmd, args)
		}
		return err
	}); err != nil {
		return asUsage(cmd, err)
	}
	if err := ensureDirOf(path); err != nil {
		return err
	}
	if err := f.taken.Write(path); err != nil {
		return err
	}
	return f.tell(cmd.OutOrStdout(), path, time.Since(start))
}

const momentsShard = "moments-%d-of-%d.bin"

type takenJSON struct {
	Out      string  `json:"out"`
	Rows     int     `json:"rows"`
	Columns  int     `json:"columns"`
	Dropped  int     `json:"dropped"`
	Patterns *int    `json:"patterns"` // null with --pairs-only
	Seconds  float64 `json:"seconds"`

	LeftOut []data.Column `json:"left_out"` // of the first table
}

func (f *momentsCommand) tell(w io.Writer, path string, took time.Duration) error {
	m := f.taken
	if f.json {
		out := takenJSON{Out: path, Rows: m.Rows, Columns: len(m.Names), Dropped: m.Dropped, Seconds: took.Seconds(), LeftOut: array(f.leftOut)}
		if !m.OfPairs() {
			out.Patterns = new(m.Patterns())
		}
		return printJSON(w, out)
	}
	what := fmt.Sprintf("%d patterns of gaps", m.Patterns())
	if m.OfPairs() {
		what = "pairs of columns alone"
	}
	if m.Dropped > 0 {
		what += fmt.Sprintf("; left out: rows without any value (%d)", m.Dropped)
	}
	next := "missingscore network " + shell.Word(path)
	if f.shards > 0 {
		next = fmt.Sprintf("after all shards: missingscore moments --merge %s --out moments.bin", shell.Word(f.out))
	}
	_, err := fmt.Fprintf(w, "moments of %d rows of %d columns, %s, in %s; %s\n", m.Rows, len(m.Names), what, path, next)
	return err
}

// The shards in folders must be complete.
func joinMoments(args []string) (*moments.Moments, error) {
	var files, dirs []string
	for _, arg := range args {
		switch info, err := os.Stat(arg); {
		case err != nil:
			return nil, fmt.Errorf("--merge: %w", err)
		case info.IsDir():
			dirs = append(dirs, arg)
		default:
			files = append(files, arg)
		}
	}
	shards, err := findShards(momentsShard, dirs)
	if err != nil {
		return nil, err
	}
	return merged(append(files, shards...), moments.Read)
}

func merged(files []string, read func(path string) (*moments.Moments, error)) (all *moments.Moments, err error) {
	known := map[string]string{} // files by what they hold
	for _, file := range files {
		m, err := read(file)
		if err != nil {
			return nil, err
		}
		sum := string(m.Checksum())
		if other, twice := known[sum]; twice && m.Rows > 0 {
			return nil, fmt.Errorf("%s and %s hold the same rows; leave one of them out", other, file)
		}
		known[sum] = file
		if all == nil {
			all = m
		} else if err := all.Merge(m); err != nil {
			return nil, unjoined(err, files[0], file)
		}
	}
	return all, nil
}

func (f *momentsCommand) take(cmd *cobra.Command, files []string) (*moments.Moments, error) {
	o, err := f.tableFlags.options()
	if err != nil {
		return nil, err
	}
	everyBlock := 0
	switch all := files; {
	case f.shards > 0 && len(files) == 1:
		everyBlock = f.shards
	case f.shards > len(files):
		return nil, usageError{fmt.Errorf("--shard %s: there are only %d files; use fewer shards, or one file", f.text, len(files))}
	case f.shards > 0:
		files = nil
		for at := f.i - 1; at < len(all); at += f.shards {
			files = append(files, all[at])
		}
	}
	return merged(files, func(file string) (*moments.Moments, error) { return f.takeFile(cmd.Context(), file, o, everyBlock) })
}

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
		if number++; number == 1 && f.leftOut == nil {
			f.leftOut = b.LeftOut
			tellLeftOut(f.tableFlags.stderr(), b.LeftOut)
			tellCodes(f.tableFlags.stderr(), b)
		}
		if everyBlock > 0 && number%everyBlock != f.i%everyBlock {
			continue
		}
		m.Dropped += b.Dropped
		if err := m.Add(b.Values, b.Observed); err != nil {
			if err = fmt.Errorf("%s: %w", file, err); errors.Is(err, moments.ErrPatterns) {
				err = unjoined(err, "", "")
			}
			return nil, err
		}
	}
	if m == nil {
		return nil, fmt.Errorf("%s: no row has a value", file)
	}
	return m, nil
}

// unjoined explains why the moments of a file cannot be joined with others.
func unjoined(err error, first, second string) error {
	if errors.Is(err, moments.ErrPatterns) {
		return fmt.Errorf("%w: the moments are as large as the table. Fit the table, or add --pairs-only for --method pairwise", err)
	}
	return fmt.Errorf("%s and %s cannot be joined: %w", first, second, err)
}
