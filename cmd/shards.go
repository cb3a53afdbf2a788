package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// parseShard reads I/N.
func parseShard(text string) (i, n int, err error) {
	if text == "" {
		return 0, 0, nil
	}
	first, last, ok := strings.Cut(text, "/")
	i, errI := strconv.Atoi(first)
	n, errN := strconv.Atoi(last)
	if !ok || errI != nil || errN != nil || i < 1 || i > n {
		return 0, 0, usageError{fmt.Errorf("--shard %s: I/N with I from 1 to N is expected, as 2/8", text)}
	}
	return i, n, nil
}

// findShards are the files of all shards in the folders of --merge, in order; none where there
// is no such file. Names are pattern with I and N.
func findShards(pattern string, dirs []string) (paths []string, err error) {
	n, of := 0, map[int]string{}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("--merge: %w", err)
		}
		for _, e := range entries {
			var i, shards int
			if _, err := fmt.Sscanf(e.Name(), pattern, &i, &shards); err != nil || e.Name() != fmt.Sprintf(pattern, i, shards) || i < 1 || i > shards {
				continue
			}
			if n != 0 && shards != n {
				return nil, fmt.Errorf("--merge: there are shards of %d and of %d: remove those that are not meant", n, shards)
			}
			n, of[i] = shards, filepath.Join(dir, e.Name())
		}
	}
	const named = 10 // at most, of those that are not there
	var missing []string
	for i := 1; i <= n && len(missing) < named; i++ {
		if paths = append(paths, of[i]); of[i] == "" {
			missing = append(missing, fmt.Sprintf("%d/%d", i, n))
		}
	}
	if missing == nil {
		return paths, nil
	}
	more := ""
	if left := n - len(of) - len(missing); left > 0 {
		more = fmt.Sprintf(" and %d more", left)
	}
	return nil, fmt.Errorf("--merge: the files of shards %s%s are missing: run them, or name their folders too", strings.Join(missing, ", "), more)
}

// noShards says that there is no file of a shard where --merge looks for one.
func noShards(pattern string, in []string) error {
	return fmt.Errorf("--merge: there is no file "+pattern+" in %s: run the shards first, as --shard 1/8", 1, 8, strings.Join(in, ", "))
}
