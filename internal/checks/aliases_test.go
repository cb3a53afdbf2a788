package checks

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// go doc does not show the fields behind an alias, so its comment names them.
func TestAliasesNameTheirFields(t *testing.T) {
	found := 0
	each(t, ".go", func(path string) {
		top, _, _ := strings.Cut(path, "/")
		if !slices.Contains(library, top) || strings.HasSuffix(path, "_test.go") {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, parser.ParseComments)
		require.NoError(t, err)
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			s := g.Specs[0].(*ast.TypeSpec)
			of, ok := s.Type.(*ast.SelectorExpr)
			if !ok || !s.Assign.IsValid() || !s.Name.IsExported() {
				continue
			}
			found++
			for _, field := range fieldsOf(t, file, of) {
				require.Regexp(t, `\b`+field+`\b`, g.Doc.Text(), "%s: the comment of %s lacks a field", path, s.Name)
			}
		}
	})
	require.Positive(t, found)
}

func fieldsOf(t *testing.T, file *ast.File, of *ast.SelectorExpr) (names []string) {
	for _, i := range file.Imports {
		folder, ours := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), module+"internal/")
		if !ours || filepath.Base(folder) != of.X.(*ast.Ident).Name {
			continue
		}
		paths, err := filepath.Glob(filepath.Join(root, "internal", folder, "*.go"))
		require.NoError(t, err)
		for _, path := range paths {
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			require.NoError(t, err)
			for _, name := range fields(f) {
				if field, ok := strings.CutPrefix(name, of.Sel.Name+"."); ok && regexp.MustCompile(`^[A-Z]`).MatchString(field) {
					names = append(names, field)
				}
			}
		}
	}
	return names
}
