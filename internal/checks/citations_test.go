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
	citation = regexp.MustCompile(`docs/[\w/-]+\.md(?:#[\w-]+)?`)
	anchor   = regexp.MustCompile(`<a id="([\w-]+)">`)
	heading  = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notWord  = regexp.MustCompile(`[^\p{L}\p{N}\- _]`)
)

func anchors(t *testing.T, path string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	found := map[string]bool{}
	for _, m := range anchor.FindAllStringSubmatch(string(text), -1) {
		require.False(t, found[m[1]], "%s: two anchors are called %s", path, m[1])
		found[m[1]] = true
	}
	for _, m := range heading.FindAllStringSubmatch(string(text), -1) {
		words := strings.ToLower(notWord.ReplaceAllString(strings.ReplaceAll(m[1], "`", ""), ""))
		found[strings.ReplaceAll(words, " ", "-")] = true
	}
	return found
}

func resolves(t *testing.T, from, target string) {
	t.Helper()
	file, fragment, has := strings.Cut(target, "#")
	if _, err := os.Stat(file); err != nil {
		t.Errorf("%s cites %s, which is not there", from, target)
	} else if has && strings.HasSuffix(file, ".md") && !anchors(t, file)[fragment] {
		t.Errorf("%s cites %s, which has no such anchor", from, target)
	}
}

func TestCitationsResolve(t *testing.T) {
	cited := 0
	each(t, ".go", func(path string) {
		text, err := os.ReadFile(filepath.Join(root, path))
		require.NoError(t, err)
		require.NotContains(t, string(text), "maths"+".md", "%s cites a page that is not in the repository", path)
		for _, c := range citation.FindAllString(string(text), -1) {
			resolves(t, path, filepath.Join(root, c))
			cited++
		}
	})
	require.Greater(t, cited, 15)
}

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
