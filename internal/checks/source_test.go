package checks

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/cmd/words"
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
				of, _, _ := strings.Cut(strings.TrimPrefix(types.ExprString(d.Recv.List[0].Type), "*"), "[")
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

var update = flag.Bool("update", false, "rewrite testdata/exported.txt")

// -update rewrites testdata/exported.txt.
func TestExported(t *testing.T) {
	var now []string
	eachSource(t, func(file, top string, _ *token.FileSet, source *ast.File) {
		ofTheProgram := top == "cmd" && strings.Count(file, "/") > 1 // report and picture are the command's own
		if !ofTheProgram && (top == "cmd" || slices.Contains(library, top)) && source.Name.Name != "main" {
			names, _ := exported(source)
			for _, name := range names {
				now = append(now, path.Dir(file)+"."+name)
			}
		}
	})
	slices.Sort(now)
	now = slices.Compact(now)
	const golden = "testdata/exported.txt"
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(strings.Join(now, "\n")+"\n"), 0o644))
	}
	text, err := os.ReadFile(golden)
	require.NoError(t, err)
	was := strings.Fields(string(text))
	without := func(these, those []string) []string {
		return slices.DeleteFunc(slices.Clone(these), func(name string) bool { return slices.Contains(those, name) })
	}
	const meant = "if that is meant, go test ./internal/checks -run Exported -update, and a line in CHANGELOG.md"
	require.Empty(t, without(was, now), "exported names are gone: "+meant)
	require.Empty(t, without(now, was), "exported names are new: "+meant)
}

// Flags in messages exist; packages below cmd name settings, which the command translates.
func TestFlagsOfMessagesExist(t *testing.T) {
	reference, err := os.ReadFile(filepath.Join(root, "docs/reference/command-line.md"))
	require.NoError(t, err)
	known := map[string]bool{"--help": true, "--help-all": true, "--ultra": true, "--long": true} // the latter two are zstd's
	for _, line := range regexp.MustCompile("(?m)^- `(?:-[a-z], )?(--[a-z-]+)").FindAllStringSubmatch(string(reference), -1) {
		known[line[1]] = true
	}
	require.NotEmpty(t, known)
	for name, flag := range words.Flags {
		require.True(t, known[regexp.MustCompile("^--[a-z-]+").FindString(flag)], name)
	}
	flag := regexp.MustCompile(`--[a-z][a-z-]*`)
	flags, settings := 0, 0
	eachSource(t, func(path, top string, files *token.FileSet, file *ast.File) {
		ofLibrary := slices.Contains(library, top) || strings.HasPrefix(path, "internal/memory/")
		if top != "cmd" && !ofLibrary {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			text, ok := n.(*ast.BasicLit)
			if !ok || text.Kind != token.STRING {
				return true
			}
			at := fmt.Sprintf("%s:%d", path, files.Position(text.Pos()).Line)
			for _, name := range flag.FindAllString(text.Value, -1) {
				switch flags++; {
				case name == "--long" || name == "--ultra": // zstd's
				case ofLibrary:
					t.Errorf("%s names the flag %s: name the setting, as Spec.Steps.Method, with a line in cmd/words", at, name)
				case !known[name]:
					t.Errorf("%s advises %s, which no command has", at, name)
				}
			}
			for _, name := range words.Name.FindAllString(text.Value, -1) {
				if settings++; ofLibrary && words.Flags[name] == "" {
					t.Errorf("%s names %s, which has no flag in cmd/words", at, name)
				}
			}
			return true
		})
	})
	require.Greater(t, flags, 50)
	require.Greater(t, settings, 80)
}

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

func TestCitationsResolve(t *testing.T) {
	cited := 0
	each(t, ".go", func(path string) {
		text, err := os.ReadFile(filepath.Join(root, path))
		require.NoError(t, err)
		require.NotContains(t, string(text), "maths"+".md", "%s cites a page that is not in the repository", path)
		for _, c := range citation.FindAllString(string(text), -1) {
			file, fragment, has := strings.Cut(filepath.Join(root, c), "#")
			require.FileExists(t, file, path)
			require.True(t, !has || anchors(t, file)[fragment], "%s cites %s, which has no such anchor", path, c)
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
