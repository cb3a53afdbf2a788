package cmd

import (
	"bytes"
	"fmt"
	"os"

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
	var dirs []string
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil {
			return nil, fmt.Errorf("--merge: %w", err)
		}
		if info.IsDir() {
			dirs = append(dirs, arg)
		} else {
			files = append(files, arg)
		}
	}
	shards, err := findShards(momentsShard, dirs)
	if err != nil {
		return nil, err
	}
	if files = append(files, shards...); len(files) == 0 {
		return nil, noShards(momentsShard, args)
	}
	return files, nil
}
