package cmd

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// testdata/messages.golden lists every text that a person may read, by file: string literals of at
// least two words, … for inserted values. Texts of flags and commands are in
// docs/reference/command-line.md. -update writes it.
func TestMessages(t *testing.T) {
	var list strings.Builder
	for _, dir := range []string{"cmd", "data", "graph", "losses", "nets", "trainers", "internal"} {
		require.NoError(t, filepath.WalkDir(filepath.Join("..", dir), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || filepath.Base(path) == "help.go" {
				return err
			}
			if texts := textsOf(t, path); texts != nil {
				list.WriteString(filepath.ToSlash(strings.TrimPrefix(path, "../")) + "\n  " + strings.Join(texts, "\n  ") + "\n")
			}
			return nil
		}))
	}
	const golden = "testdata/messages.golden"
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(list.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), list.String(), "go test ./cmd -run TestMessages -update writes it again")
}

var (
	verbs  = regexp.MustCompile(`%(\[\d\])?[-+.*0-9]*[a-zA-Z]`)
	phrase = regexp.MustCompile(`\pL{2,}[^ ]* +[^ ]*\pL{2,}`)
)

func textsOf(t *testing.T, path string) (texts []string) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	require.NoError(t, err)
	add := func(text string) {
		if text = strings.ReplaceAll(text, "\n", "\\n"); phrase.MatchString(verbs.ReplaceAllString(text, "")) && strings.Count(text, "\\n") < 3 && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec, *ast.Field: // struct tags
			return false
		case *ast.KeyValueExpr:
			key, ok := n.Key.(*ast.Ident)
			return !ok || !slices.Contains([]string{"Use", "Short", "Long", "Example"}, key.Name)
		case *ast.CallExpr:
			if name := calledName(n); name == "panic" || name == "Usage" || strings.HasPrefix(path, "../cmd/") && strings.Contains(name, "Var") {
				return false
			}
		case *ast.BinaryExpr:
			if text, ok := joined(n); ok {
				add(text)
				return false
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				text, _ := strconv.Unquote(n.Value)
				add(text)
			}
		}
		return true
	})
	return texts
}

func calledName(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// joined is a sum of strings with … for values; it is not ok without a literal.
func joined(e ast.Expr) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, _ = strconv.Unquote(e.Value)
			return text, true
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			left, isLeft := joined(e.X)
			right, isRight := joined(e.Y)
			return left + right, isLeft || isRight
		}
	}
	return "…", false
}
