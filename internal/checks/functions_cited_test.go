package checks

import (
	"go/ast"
	"go/token"
	"maps"
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

// packages maps package names to exported names, also Type.Method and Type.Field.
func packages(t *testing.T) map[string]map[string]bool {
	t.Helper()
	found, others := map[string]map[string]bool{}, map[string]map[string]bool{}
	eachSource(t, func(_, top string, _ *token.FileSet, source *ast.File) {
		into, name := others, source.Name.Name
		if slices.Contains(library, top) {
			into = found
		}
		if top == "examples" {
			return
		}
		if into[name] == nil {
			into[name] = map[string]bool{}
		}
		names, fields := exported(source)
		for _, n := range append(names, fields...) {
			into[name][strings.TrimSuffix(n, "()")] = true
		}
	})
	maps.Copy(others, found)
	return others
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
