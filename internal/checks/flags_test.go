package checks

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// messages are the folders whose strings name flags to the user of the program; those of tools
// for ourselves name the flags of other programs.
var messages = []string{"cmd/", "data/", "graph/", "losses/", "nets/", "trainers/"}

// A flag that a message advises is one of the program's.
func TestFlagsOfMessagesExist(t *testing.T) {
	reference, err := os.ReadFile(filepath.Join(root, "docs/reference/command-line.md"))
	require.NoError(t, err)
	known := map[string]bool{"--help": true, "--help-all": true, "--ultra": true, "--long": true} // the latter two are zstd's
	for _, line := range regexp.MustCompile("(?m)^- `(?:-[a-z], )?(--[a-z-]+)").FindAllStringSubmatch(string(reference), -1) {
		known[line[1]] = true
	}
	require.NotEmpty(t, known)
	flag := regexp.MustCompile(`--[a-z][a-z-]*`)
	named := 0
	each(t, ".go", func(path string) {
		if strings.HasSuffix(path, "_test.go") || !slices.ContainsFunc(messages, func(of string) bool { return strings.HasPrefix(path, of) }) {
			return
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, filepath.Join(root, path), nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
				for _, name := range flag.FindAllString(text.Value, -1) {
					if named++; !known[name] {
						t.Errorf("%s:%d advises %s, which no command has", path, files.Position(text.Pos()).Line, name)
					}
				}
			}
			return true
		})
	})
	require.Greater(t, named, 100)
}
