package checks

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite testdata/exported.txt")

// -update rewrites testdata/exported.txt.
func TestExported(t *testing.T) {
	var lines []string
	each(t, ".go", func(path string) {
		top, _, _ := strings.Cut(path, "/")
		ofTheProgram := top == "cmd" && strings.Count(path, "/") > 1 // report and picture are the command's own
		if ofTheProgram || strings.HasSuffix(path, "_test.go") || !slices.Contains([]string{"data", "graph", "nets", "losses", "trainers", "cmd"}, top) {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, 0)
		require.NoError(t, err)
		if file.Name.Name == "main" {
			return
		}
		for _, name := range exported(file) {
			lines = append(lines, filepath.ToSlash(filepath.Dir(path))+"."+name)
		}
	})
	slices.Sort(lines)
	got := strings.Join(slices.Compact(lines), "\n") + "\n"
	const golden = "testdata/exported.txt"
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	was := strings.Split(strings.TrimSpace(string(want)), "\n")
	var changes []string
	for _, name := range was {
		if !slices.Contains(lines, name) {
			changes = append(changes, "gone: "+name)
		}
	}
	for _, name := range slices.Compact(lines) {
		if !slices.Contains(was, name) {
			changes = append(changes, "new: "+name)
		}
	}
	require.Empty(t, changes, "exported names changed: if that is meant, go test ./internal/checks -run Exported -update, and a line in CHANGELOG.md")
}

func exported(file *ast.File) (names []string) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				of := d.Recv.List[0].Type
				if star, ok := of.(*ast.StarExpr); ok {
					of = star.X
				}
				if generic, ok := of.(*ast.IndexExpr); ok {
					of = generic.X
				}
				id, ok := of.(*ast.Ident)
				if !ok || !id.IsExported() {
					continue
				}
				name = id.Name + "." + name
			}
			if d.Name.IsExported() {
				names = append(names, name+"()")
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						names = append(names, s.Name.Name)
					}
				case *ast.ValueSpec:
					for _, id := range s.Names {
						if id.IsExported() {
							names = append(names, id.Name)
						}
					}
				}
			}
		}
	}
	return names
}
