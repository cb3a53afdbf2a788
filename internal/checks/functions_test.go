package checks

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the module's folder.
const root = "../.."

// each calls f for every file below the root whose name ends in suffix, by its path from there.
func each(t *testing.T, suffix string, f func(path string)) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && name != "." || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(name, suffix) {
			f(filepath.ToSlash(name))
		}
		return nil
	}))
}

const longest = 60 // lines of a function

// long are functions that are longer, and why.
var long = map[string]string{
	"internal/simd/asm": "each writes one assembly kernel from top to bottom",
}

func TestFunctionsAreShort(t *testing.T) {
	used := map[string]bool{}
	each(t, ".go", func(path string) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, filepath.Join(root, path), nil, 0)
		require.NoError(t, err)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			lines := files.Position(f.End()).Line - files.Position(f.Pos()).Line + 1
			if lines <= longest {
				continue
			}
			name := path + ":" + f.Name.Name
			folder := filepath.ToSlash(filepath.Dir(path))
			if long[name] == "" && long[folder] == "" {
				t.Errorf("%s has %d lines, more than %d: divide it, or say in this test why not", name, lines, longest)
			}
			used[name], used[folder] = true, true
		}
	})
	for name := range long {
		require.True(t, used[name], fmt.Sprintf("%s is not long any more: take it from the list", name))
	}
}
