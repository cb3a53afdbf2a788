package checks

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	quoted     = regexp.MustCompile("`([^`\n]+)`")
	identifier = regexp.MustCompile(`\b([a-z][a-z0-9]*)\.([A-Z]\w*(?:\.[A-Z]\w*)?)\b`)
	source     = regexp.MustCompile(`\b[a-z]\w*\.go\b`)
	folder     = regexp.MustCompile(`^(?:data|graph|nets|losses|trainers|cmd|benchmarks|internal|examples)(?:/[\w.-]+)+$`)
)

var library = []string{"data", "graph", "nets", "losses", "trainers"}

// packages maps package names to exported names, also Type.Method and Type.Field.
func packages(t *testing.T) map[string]map[string]bool {
	t.Helper()
	found, others := map[string]map[string]bool{}, map[string]map[string]bool{}
	each(t, ".go", func(file string) {
		top, _, _ := strings.Cut(file, "/")
		if strings.HasSuffix(file, "_test.go") || top == "examples" {
			return
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, 0)
		require.NoError(t, err)
		into := others
		if slices.Contains(library, top) {
			into = found
		}
		name := parsed.Name.Name
		if into[name] == nil {
			into[name] = map[string]bool{}
		}
		for _, n := range append(exported(parsed), fields(parsed)...) {
			into[name][strings.TrimSuffix(n, "()")] = true
		}
	})
	for name, names := range others {
		if found[name] == nil {
			found[name] = names
		}
	}
	return found
}

func fields(file *ast.File) (names []string) {
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range g.Specs {
			s, ok := s.(*ast.TypeSpec)
			if !ok {
				continue
			}
			var list *ast.FieldList
			switch of := s.Type.(type) {
			case *ast.StructType:
				list = of.Fields
			case *ast.InterfaceType:
				list = of.Methods
			default:
				continue
			}
			for _, f := range list.List {
				for _, id := range f.Names {
					names = append(names, s.Name.Name+"."+id.Name)
				}
			}
		}
	}
	return names
}

func TestCitedFunctionsExist(t *testing.T) {
	exports := packages(t)
	sources := map[string]bool{}
	each(t, ".go", func(file string) { sources[path.Base(file)] = true })
	cited := 0
	each(t, ".md", func(file string) {
		if !strings.HasPrefix(file, "docs/") && file != "README.md" && file != "CONTRIBUTING.md" {
			return
		}
		text, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		for i, line := range strings.Split(string(text), "\n") {
			for _, s := range source.FindAllString(line, -1) {
				if !sources[s] {
					t.Errorf("%s:%d names the file %s, which is not there", file, i+1, s)
				}
			}
			for _, q := range quoted.FindAllStringSubmatch(line, -1) {
				for _, m := range identifier.FindAllStringSubmatch(q[1], -1) {
					if exports[m[1]] == nil {
						continue
					}
					cited++
					if !exports[m[1]][m[2]] {
						t.Errorf("%s:%d names %s, which package %s does not export", file, i+1, m[0], m[1])
					}
				}
				if !folder.MatchString(q[1]) {
					continue
				}
				named := identifier.ReplaceAllString(q[1], "$1")
				if _, err := os.Stat(filepath.Join(root, path.Clean(named))); err != nil {
					t.Errorf("%s:%d names %s, which is not there", file, i+1, q[1])
				}
			}
		}
	})
	require.Greater(t, cited, 100)
}
