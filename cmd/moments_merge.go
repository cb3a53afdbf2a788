package cmd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"missingscore/data/moments"
)

// joinMoments joins files of moments, and of folders the files of their shards.
func joinMoments(args []string) (*moments.Moments, error) {
	files, err := momentsFiles(args)
	if err != nil {
		return nil, err
	}
	var all *moments.Moments
	var before [][]byte
	for i, file := range files {
		m, err := moments.Read(file)
		if err != nil {
			return nil, err
		}
		text := m.Checksum()
		for k, other := range before {
			if bytes.Equal(text, other) && m.Rows > 0 {
				return nil, fmt.Errorf("%s and %s hold the same rows, which would count twice: leave one of them out", files[k], file)
			}
		}
		before = append(before, text)
		if i == 0 {
			all = m
		} else if err := all.Merge(m); err != nil {
			return nil, unmerged(err, files[0], file)
		}
	}
	return all, nil
}

// momentsFiles are files as they are named, and of folders those of their shards, which must
// all be there.
func momentsFiles(args []string) (files []string, err error) {
	n, of := 0, map[int]string{}
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil {
			return nil, fmt.Errorf("--merge: %w", err)
		}
		if !info.IsDir() {
			files = append(files, arg)
			continue
		}
		entries, err := os.ReadDir(arg)
		if err != nil {
			return nil, fmt.Errorf("--merge: %w", err)
		}
		for _, e := range entries {
			var i, shards int
			if _, err := fmt.Sscanf(e.Name(), momentsShard, &i, &shards); err != nil || e.Name() != fmt.Sprintf(momentsShard, i, shards) {
				continue
			}
			if n != 0 && shards != n {
				return nil, fmt.Errorf("--merge: there are shards of %d and of %d: remove those that are not meant", n, shards)
			}
			n, of[i] = shards, filepath.Join(arg, e.Name())
		}
	}
	var missing []string
	for i := range n {
		if of[i+1] == "" {
			missing = append(missing, fmt.Sprintf("%d/%d", i+1, n))
			continue
		}
		files = append(files, of[i+1])
	}
	switch {
	case missing != nil:
		return nil, fmt.Errorf("--merge: nothing is there of the shards %s: run them, or name their folders too", strings.Join(missing, ", "))
	case len(files) == 0:
		return nil, fmt.Errorf("--merge: there is no file "+momentsShard+" in %s: run the shards first, as --shard 1/8", 1, 8, strings.Join(args, ", "))
	}
	return files, nil
}
