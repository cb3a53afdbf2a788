package cmd

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"missingscore/internal/trainers/mcmc"
)

func TestConfig(t *testing.T) {
	dir := t.TempDir()
	for command, c := range map[string]struct {
		settings string
		with, by []string // flags beside the file, and in place of it
	}{
		"network": {`{"steps":{"seed":5,"draws":4,"method":"iw"},"network":{"lambdas":8,"tolerance":0.05,"select":{"kind":"density","density":0.4},"penalty":{"kind":"l1"}},"inference":{"level":0.9}}`,
			[]string{"--draws=6", "--columns=Ozone,Wind,Temp"},
			[]string{"--seed=5", "--draws=6", "--method=iw", "--lambdas=8", "--tolerance=0.05", "--select=density=0.4", "--penalty=l1", "--columns=Ozone,Wind,Temp"}},
		"fit": {`{"model":{"kind":"mixture","options":{"components":2}},"steps":{"method":"iw","draws":3,"dtype":"float32"},"descent":{"epochs":3,"validation":0.2},"transform":{"columns":{"Ozone":"log"}}}`,
			[]string{"--epochs=2", "--columns=Ozone,Wind"},
			[]string{"--model=mixture", `--model-options={"components":2}`, "--method=iw", "--draws=3", "--dtype=float32", "--epochs=2", "--validation=0.2", "--transform=Ozone=log", "--columns=Ozone,Wind"}},
	} {
		file := filepath.Join(dir, command+".json")
		require.NoError(t, os.WriteFile(file, []byte(c.settings), 0o600))
		var models [2]string
		for i, flags := range [][]string{append(c.with, "--config="+file), c.by} {
			out := filepath.Join(dir, command, string(rune('a'+i))) + "/"
			ran(t, written, append([]string{command, "../examples/airquality.csv", "--out", out}, flags...)...)
			model, err := os.ReadFile(out + "model.json")
			require.NoError(t, err)
			models[i] = strings.ReplaceAll(string(model), `"level": 0.9`, `"level": 0.95`) // network has no intervals here
		}
		require.Equal(t, models[1], models[0], command)
	}
}

func TestConfigErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.json")
	for _, c := range []struct{ command, settings, flag, want string }{
		{"network", `{"network":{"lamda":3}}`, "", `--config FILE: unknown field "lamda"; it should look like`},
		{"network", `{"network":{"lambdas":"x"}}`, "", `--config FILE: "network.lambdas" takes no string`},
		{"network", `{"network":{"lambdas":null}}`, "", `--config FILE: network.lambdas is null`},
		{"network", `{"network":{"floor":-1}}`, "", "--config FILE: network.floor -1: it must not be negative"},
		{"network", `{"network":{"select":{"kind":"bic"}}}`, "", "--config FILE: network.select.kind bic: it is one of ebic"},
		{"network", `{"steps":{"method":"vae"}}`, "", `--config FILE: steps.method: there is no method "vae"`},
		{"network", `{"network":{"tolerance":0.1}}`, "--tolerance=-1", "--tolerance -1: it must be positive"},
		{"network", `{"domain":{}}`, "", "--config FILE: domain: bounds need names of columns"},
		{"network", `{"model":{"kind":"energy"}}`, "", "--config FILE: model: only fit takes it"},
		{"fit", `{"network":{}}`, "", "--config FILE: network: only network, compare and power take it"},
		{"fit", `{"descent":{"epochs":-3}}`, "", "--config FILE: descent.epochs -3: it must be positive"},
		{"fit", `{`, "", "--config FILE: it ends too early"},
		{"fit", `{}`, "--config=none.json", "--config none.json: no such file"},
	} {
		require.NoError(t, os.WriteFile(file, []byte(c.settings), 0o600))
		args := []string{c.command, "../examples/airquality.csv", "--columns=Ozone,Wind", "--out", filepath.Join(t.TempDir(), "o"), "--config", file}
		if c.flag != "" {
			args = append(args, c.flag)
		}
		_, said := ran(t, []int{exitUsage}, args...)
		require.Contains(t, strings.ReplaceAll(said, file, "FILE"), c.want)
	}
}

// --help shows few flags on one screen; --help-all shows all, in lines that fit, at most two a flag.
func TestHelp(t *testing.T) {
	names := func(text string) (shown []string) {
		for _, found := range regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)`).FindAllStringSubmatch(text, -1) {
			shown = append(shown, found[1])
		}
		return shown
	}
	root := newRoot()
	for _, c := range append(root.Commands(), root) {
		if c.Flags().Lookup("help-all") == nil || c.Name() == "man" {
			continue
		}
		few := names(helpText(c))
		require.LessOrEqual(t, strings.Count(helpText(c), "\n"), 45, c.Name())
		require.LessOrEqual(t, len(few), 20+1, c.Name()) // and --help
		require.Subset(t, few, append(strings.Fields(shown[c.Name()]), "quiet"), c.Name())
		require.NoError(t, c.ParseFlags([]string{"--help-all"}))
		text := helpText(c)
		all := names(text)
		all = append(all, "help", "help-all")
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { require.Contains(t, all, f.Name, c.Name()) })
		for line := range strings.Lines(text) {
			require.LessOrEqual(t, utf8.RuneCountInString(line), helpWidth+1, "%s: %s", c.Name(), line)
		}
		_, flags, _ := strings.Cut(text, "\nUsage:")
		lines := 0
		for line := range strings.Lines(flags) {
			if lines++; !strings.HasPrefix(line, strings.Repeat(" ", 14)) || strings.HasPrefix(strings.TrimSpace(line), "--") {
				lines = 1
			}
			require.LessOrEqual(t, lines, 2, "%s: %s", c.Name(), line)
		}
	}
}

// docs/reference/command-line.md is made from the commands; -update writes it. A flag of several
// commands is in it once.
func TestCommandLineReference(t *testing.T) {
	var page strings.Builder
	page.WriteString("<!-- Made by go test ./cmd -run CommandLineReference -update; do not edit. -->\n# Command line\n\n")
	page.WriteString("What `missingscore COMMAND --help-all` says; `--help` shows fewer flags. [Files](files.md), [settings](settings.md), [exit codes](exit-codes.md) and [verdicts and warnings](messages.md) have pages of their own.\n")
	root := newRoot()
	commands := slices.DeleteFunc(append([]*cobra.Command{root}, root.Commands()...), func(c *cobra.Command) bool {
		return c.Hidden || c.Name() == "help" || c.Name() == "completion"
	})
	in := map[string][]string{} // commands by rows of the table of flags
	for _, c := range commands {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { in[flagRow(f)] = append(in[flagRow(f)], c.Name()) })
	}
	for _, c := range commands {
		long := c.Long
		if c.Name() == "score" {
			long = strings.TrimSpace(strings.ReplaceAll(long, samplersText, "--sampler as in impute."))
		}
		fmt.Fprintf(&page, "\n## %s\n\n%s.\n\n```\n%s [flags]\n\n%s\n```\n", c.Name(), strings.TrimSuffix(c.Short, "."), strings.TrimSuffix(c.UseLine(), " [flags]"), long)
		if c.Example != "" {
			fmt.Fprintf(&page, "\nExample:\n\n```\n%s\n```\n", strings.TrimRight(c.Example, "\n"))
		}
		own := ""
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if row := flagRow(f); len(in[row]) == 1 && f.Name != "help" {
				own += row + "\n"
			}
		})
		if own != "" {
			page.WriteString("\n[Shared flags](#flags-of-several-commands), and:\n\n" + own)
		}
	}
	page.WriteString("\n## Flags of several commands\n")
	shared := map[string]string{} // rows by commands
	for _, row := range slices.Sorted(maps.Keys(in)) {
		if of := in[row]; len(of) > 1 && !strings.Contains(row, "`--help") {
			shared[strings.Join(of, ", ")] += row + "\n"
		}
	}
	for _, of := range slices.Sorted(maps.Keys(shared)) {
		fmt.Fprintf(&page, "\nOf %s:\n\n%s", of, shared[of])
	}
	const path = "../docs/reference/command-line.md"
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(page.String()), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), page.String(), "go test ./cmd -run CommandLineReference -update writes it again")
}

func flagRow(f *pflag.Flag) string {
	placeholder, usage := pflag.UnquoteUsage(f)
	name, value := "--"+f.Name, f.DefValue
	if strings.Contains(f.Usage, "`") {
		name += " " + placeholder
	}
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	switch {
	case f.Name == "workers":
		value = " (default: the number of cores)"
	case slices.Contains([]string{"", "[]", "false", "0"}, value):
		value = ""
	default:
		value = " (default `" + value + "`)"
	}
	return fmt.Sprintf("- `%s` %s%s", name, usage, value)
}

func TestManualPages(t *testing.T) {
	requests := regexp.MustCompile(`^\.(TH|SH|nf|fi|ad)\b`)
	root := newRoot()
	for _, c := range append(root.Commands(), root) {
		var page bytes.Buffer
		require.NoError(t, writeManual(&page, c, "missingscore v1"))
		for line := range strings.Lines(page.String()) {
			if strings.HasPrefix(line, ".") {
				require.Regexp(t, requests, line, c.Name())
			}
			require.False(t, strings.HasPrefix(line, "'"), "%s: %s", c.Name(), line)
		}
		if c.Flags().Lookup("seed") != nil {
			require.Contains(t, page.String(), "\\-\\-seed uint ")
		}
		if _, err := exec.LookPath("groff"); err == nil {
			format := exec.CommandContext(t.Context(), "groff", "-man", "-Tutf8", "-ww", "-K", "utf8")
			format.Stdin = &page
			var warnings bytes.Buffer
			format.Stderr = &warnings
			require.NoError(t, format.Run(), warnings.String())
			require.NotRegexp(t, `warning|error`, warnings.String(), c.Name())
		}
	}
	require.Equal(t, "a\\-b\n\\&.x\n\\&'y\n\\e", roff("a-b\n.x\n'y\n\\"))
}

func TestSimulationsAreExplained(t *testing.T) {
	long := newSimulateCommand().Long
	for _, name := range simulationNames {
		require.Regexp(t, regexp.MustCompile(`(?m)^  (\w+, )*`+name+`\b`), long)
	}
}

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

// The message names the column and the flags that help.
func TestTellUnmet(t *testing.T) {
	var f imputeCommand
	f.out, f.components = "out.csv", 5
	m := &mcmc.Mixing{RHat: 1.3, Worst: 2.5, Row: 1}
	said := f.tellUnmet(m, []string{"a", "b, c"})
	require.Contains(t, said, "(R-hat of a column above 1.4, or of its missing cells above 1.2; of b, c it is 2.5), so the result in out.csv is not")
	require.Contains(t, said, "missing cells of b, c, as")
	require.Contains(t, said, `leave it out (--exclude '"b, c"'), take one normal distribution (--components 1), or try more --iterations`)
	for _, f.components = range []int{0, 1} {
		require.NotContains(t, f.tellUnmet(m, []string{"a", "b"}), "--components")
	}
}
