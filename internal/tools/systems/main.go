// Systems checks the types of the program and its imports for other systems:
//
//	systems darwin windows
//
// The bodies of the standard library's functions are left out.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

const program = "./cmd/missingscore"

func main() {
	found := make([]error, len(os.Args))
	var all sync.WaitGroup
	for i, system := range os.Args[1:] {
		all.Go(func() { found[i] = check(system) })
	}
	all.Wait()
	if err := errors.Join(found...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type pkg struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Standard        bool
}

func check(system string) error {
	list := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Standard", program)
	list.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("%s: go list: %w", system, err)
	}
	checked := map[string]*types.Package{"unsafe": types.Unsafe}
	var wrong []error
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return errors.Join(wrong...)
		} else if err != nil {
			return err
		}
		if p.ImportPath == "unsafe" {
			continue
		}
		of, err := p.types(checked)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", system, err))
		}
		checked[p.ImportPath] = of
	}
}

func (p pkg) types(known map[string]*types.Package) (*types.Package, error) {
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	var wrong []error
	config := types.Config{
		Importer:         importer{known, p.ImportMap},
		Sizes:            types.SizesFor("gc", runtime.GOARCH),
		IgnoreFuncBodies: p.Standard,
		Error:            func(err error) { wrong = append(wrong, err) },
	}
	of, err := config.Check(p.ImportPath, set, files, nil)
	if len(wrong) > 0 {
		err = errors.Join(wrong...)
	}
	return of, err
}

type importer struct {
	known map[string]*types.Package
	as    map[string]string
}

func (i importer) Import(path string) (*types.Package, error) {
	if full, ok := i.as[path]; ok {
		path = full
	}
	if of := i.known[path]; of != nil {
		return of, nil
	}
	return nil, fmt.Errorf("package %s is not among what go list tells", path)
}
