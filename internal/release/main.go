// Command release builds what is given out: for each system an archive with the program, its
// manual pages, completions and licences, and SHA256SUMS of all. From one revision it makes
// the same bytes, wherever and whenever it is run: docs/how-to/release.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

// target is a system to build for.
type target struct{ system, processor string }

// targets are those of a release.
var targets = []target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	out := flag.String("out", "dist", "folder for the archives")
	only := flag.String("targets", "", "systems to build for, as linux/amd64,windows/arm64 (default: all of a release)")
	draft := flag.Bool("draft", false, "build changes that are not committed, too")
	flag.Parse()
	chosen, err := chosenTargets(*only)
	if err == nil {
		err = release(ctx, *out, chosen, *draft, os.Stdout)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}

// chosenTargets reads --targets.
func chosenTargets(text string) ([]target, error) {
	if text == "" {
		return targets, nil
	}
	var chosen []target
	for word := range strings.SplitSeq(text, ",") {
		system, processor, ok := strings.Cut(word, "/")
		if !ok {
			return nil, fmt.Errorf("--targets %s: a system and a processor are expected, as linux/amd64", word)
		}
		chosen = append(chosen, target{system, processor})
	}
	return chosen, nil
}

// release makes all archives and their sums in the folder out; without draft it refuses a tree
// that is no revision.
func release(ctx context.Context, out string, chosen []target, draft bool, log io.Writer) error {
	root, err := output(ctx, ".", nil, "go", "list", "-m", "-f", "{{.Dir}}", "missingscore")
	if err != nil {
		return err
	}
	b := builder{root: root, log: log}
	if b.scratch, err = os.MkdirTemp("", "release"); err != nil {
		return err
	}
	defer os.RemoveAll(b.scratch)
	common, err := b.describe(ctx)
	if err != nil {
		return err
	}
	if !draft && (strings.Contains(b.version, "devel") || b.dirty) {
		return errors.New("the tree has changes that are not committed, or is no repository, so nobody could build the same again: commit them, or ask for a --draft")
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var archives []string
	for _, t := range chosen {
		start := time.Now()
		name, err := b.archive(ctx, out, t, common)
		if err != nil {
			return fmt.Errorf("%s/%s: %w", t.system, t.processor, err)
		}
		archives = append(archives, name)
		info, err := os.Stat(filepath.Join(out, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(log, "%s: %.1f MB, program %.1f MB, %.0f s\n", name, float64(info.Size())/1e6, float64(b.size)/1e6, time.Since(start).Seconds())
	}
	return writeSums(out, archives)
}
