package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// licence is how the files are called that a copy of a module has to come with.
var licence = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|authors)([-.].*)?$`)

// licenceFolder is how folders are called that hold more of them, of all names.
var licenceFolder = regexp.MustCompile(`(?i)^(third[-_]party[-_])?licen[cs]es?$`)

// licences are the files of every module that is linked into the program for a target, and
// those of Go itself, in folders named like the modules.
func (b *builder) licences(ctx context.Context, t target) (files []entry, err error) {
	listed, err := output(ctx, b.root, t.environment(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}\t{{.Dir}}{{end}}", "./cmd/missingscore")
	if err != nil {
		return nil, err
	}
	goRoot, err := output(ctx, b.root, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	modules := append(strings.Split(listed, "\n"), "go\t"+goRoot)
	slices.Sort(modules)
	for _, line := range slices.Compact(modules) {
		path, dir, ok := strings.Cut(line, "\t")
		if !ok || path == "missingscore" { // the standard library has no module, and ours is at the top
			continue
		}
		own, err := licencesIn(dir, "licences/"+path+"/")
		if err != nil {
			return nil, err
		}
		if own == nil {
			return nil, fmt.Errorf("module %s has no licence file: it cannot be given out", path)
		}
		files = append(files, own...)
	}
	return files, nil
}

// licencesIn are the licence files of one folder, and of its folders for them.
func licencesIn(dir, as string) (files []entry, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() && licenceFolder.MatchString(name) {
			more, err := allIn(filepath.Join(dir, name), as+name+"/")
			if err != nil {
				return nil, err
			}
			files = append(files, more...)
		}
		if e.IsDir() || !licence.MatchString(name) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		files = append(files, entry{name: as + name, content: text})
	}
	return files, nil
}

// allIn are all files of a folder and of those in it.
func allIn(dir, as string) (files []entry, err error) {
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		files = append(files, entry{name: as + name, content: text})
		return err
	})
	return files, err
}
