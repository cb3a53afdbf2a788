package cmd

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"missingscore/cmd/report"
	"missingscore/internal/memory"
	"missingscore/internal/shell"
	"missingscore/internal/spelling"
)

// rule is a state of the flags that a command refuses, and what it says.
type rule struct {
	broken bool
	why    string
}

func obey(rules ...rule) error {
	for _, r := range rules {
		if r.broken {
			return usageError{errors.New(r.why)}
		}
	}
	return nil
}

// nonZero refuses given flags that are not positive: 0 is the default.
func nonZero(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			text := cmd.Flags().Lookup(name).Value.String()
			if v, err := strconv.ParseFloat(text, 64); err != nil || !(v > 0) {
				return usageError{fmt.Errorf("--%s %s: it must be positive", name, text)}
			}
		}
	}
	return nil
}

func checkNumbers(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(flag *pflag.Flag) {
		text := flag.Value.String()
		if flag.Name == "out" && text == "" {
			err = usageError{errors.New("--out is empty: the name of a file or folder is expected")}
		}
		if v, _ := strconv.ParseFloat(text, 64); flag.Value.Type() == "float64" && (math.IsInf(v, 0) || math.IsNaN(v)) {
			err = usageError{fmt.Errorf("--%s %s: a finite number is needed", flag.Name, text)}
		}
	})
	return err
}

// checkSize refuses products of sizes that exceed the memory.
func checkSize(sizes ...size) error {
	product, words := 1.0, []string{}
	for _, s := range sizes {
		product *= float64(s.n)
		words = append(words, fmt.Sprintf("%d %s", s.n, s.what))
	}
	if err := memory.Check(8*product, "take less", "%s make %.2g numbers, which", strings.Join(words, " × "), product); err != nil {
		return usageError{err}
	}
	return nil
}

type size struct {
	n    int
	what string
}

var expectedOf = map[string]string{
	"int": "a whole number", "uint64": "a whole number that is not negative", "float64": "a number", "bool": "true or false",
	"stringSlice": "names as a,b,c (quote names with commas)",
}

func flagError(cmd *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &unknown):
		if advice := instead(cmd, unknown.GetSpecifiedName()); advice != "" {
			return fmt.Errorf("%w; %s", err, advice)
		}
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		if name, ok := spelling.Nearest(unknown.GetSpecifiedName(), names); ok {
			return fmt.Errorf("%w (did you mean --%s?)", err, name)
		}
		return err
	case !errors.As(err, &value):
		return err
	}
	flag := value.GetFlag()
	if what, ok := expectedOf[flag.Value.Type()]; ok {
		return fmt.Errorf("--%s %s: %s is expected", flag.Name, value.GetValue(), what)
	}
	return fmt.Errorf("--%s %s: %s", flag.Name, value.GetValue(), strings.TrimSuffix(fmt.Sprint(errors.Unwrap(value)), "\n"))
}

var incidental = []string{"out", "json", "verbose", "quiet", "workers", "resume", "shard", "merge", memoryFlag}

func commandLine(cmd *cobra.Command) string {
	words := []string{cmd.CommandPath()}
	for _, arg := range cmd.Flags().Args() {
		words = append(words, shell.Word(arg))
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(incidental, f.Name) {
			return
		}
		if f.Value.Type() == "bool" && f.Value.String() == "true" {
			words = append(words, "--"+f.Name)
			return
		}
		words = append(words, "--"+f.Name+"="+flagWord(f.Value))
	})
	return strings.Join(words, " ")
}

func made(cmd *cobra.Command, seed uint64) report.Made {
	version, _, _ := strings.Cut(strings.TrimPrefix(versionText(buildInfo()), "missingscore "), "\n")
	return report.Made{Command: commandLine(cmd), Version: version, Seed: seed}
}

func flagWord(value pflag.Value) string {
	if list, ok := value.(pflag.SliceValue); ok { // its String has brackets
		return shell.List(list.GetSlice())
	}
	return shell.Word(value.String())
}
