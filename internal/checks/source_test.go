package checks

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

var library = []string{"data", "graph", "nets", "losses", "trainers"}

func each(t *testing.T, suffix string, f func(path string)) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && name != "." || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(name, suffix) {
			f(filepath.ToSlash(name))
		}
		return err
	}))
}

// eachSource visits the Go files that are no tests, with the first folder of their path.
func eachSource(t *testing.T, f func(path, top string, files *token.FileSet, file *ast.File)) {
	t.Helper()
	each(t, ".go", func(path string) {
		if top, _, _ := strings.Cut(path, "/"); !strings.HasSuffix(path, "_test.go") {
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, filepath.Join(root, path), nil, 0)
			require.NoError(t, err)
			f(path, top, files, file)
		}
	})
}

// exported are the exported names of a file, methods as Type.Method(), functions as Name(); fields
// and methods of interfaces as Type.Field.
func exported(file *ast.File) (names, fields []string) {
	ast.FileExports(file)
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name + "()"
			if d.Recv != nil {
				of := ""
				ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok && of == "" {
						of = id.Name
					}
					return of == ""
				})
				name = of + "." + name
			}
			names = append(names, name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					for _, id := range s.Names {
						names = append(names, id.Name)
					}
				case *ast.TypeSpec:
					names = append(names, s.Name.Name)
					ast.Inspect(s.Type, func(n ast.Node) bool {
						if f, ok := n.(*ast.Field); ok {
							for _, id := range f.Names {
								fields = append(fields, s.Name.Name+"."+id.Name)
							}
						}
						_, function := n.(*ast.FuncType)
						return !function
					})
				}
			}
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return !ast.IsExported(name) }), fields
}
