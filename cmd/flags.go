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

// nonZero refuses flags, of those that the command has, that were set to zero or less: zero
// would be taken for "the default" further down.
func nonZero(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if flag := cmd.Flags().Lookup(name); flag != nil && flag.Changed {
			if v, err := strconv.ParseFloat(flag.Value.String(), 64); err != nil || !(v > 0) {
				return usageError{fmt.Errorf("--%s %s: it must be positive", name, flag.Value)}
			}
		}
	}
	return nil
}

// largest are the largest values of whole-number flags that make tables, models and
// workers; the others stay below largestOther.
var largest = map[string]int{"d": 1 << 16, "centres": 1 << 16, "draws": 1 << 24, "lambdas": 1 << 16, "workers": 1 << 12}

const largestOther = 1<<31 - 1

// checkNumbers refuses values that no command can use: numbers that are not finite or too
// large to count with, and an empty --out. Sizes that are one by one possible are for fits.
func checkNumbers(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(flag *pflag.Flag) {
		text := flag.Value.String()
		if flag.Name == "out" && text == "" {
			err = usageError{errors.New("--out is empty: the name of a file or folder is expected")}
		}
		switch flag.Value.Type() {
		case "float64":
			if v, _ := strconv.ParseFloat(text, 64); math.IsInf(v, 0) || math.IsNaN(v) {
				err = usageError{fmt.Errorf("--%s %s: a finite number is needed", flag.Name, text)}
			}
		case "int":
			limit, ok := largest[flag.Name]
			if !ok {
				limit = largestOther
			}
			if v, _ := strconv.Atoi(text); v > limit {
				err = usageError{fmt.Errorf("--%s %s: at most %d is possible", flag.Name, text, limit)}
			}
		}
	})
	return err
}

// checkSize refuses sizes whose product is more numbers than there is memory for.
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

// size is one for checkSize, with its words, as "rows (--n)".
type size struct {
	n    int
	what string
}

// expectedOf are the kinds of flags, as pflag names them, in plain words.
var expectedOf = map[string]string{
	"int": "a whole number", "uint64": "a whole number that is not negative", "float64": "a number", "bool": "true or false",
	"stringSlice": "names as a,b,c (one with a comma or a quotation mark in quotation marks)",
}

// flagError is an error of reading a command's flags without Go's words for it.
func flagError(cmd *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &unknown):
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

// incidental are flags that a result does not depend on: where it is written, what is shown
// meanwhile, in how many parts it is made, and what it may take.
var incidental = []string{"out", "json", "verbose", "quiet", "workers", "resume", "shard", "merge", memoryFlag}

// commandLine is the command that makes the result again, as a shell takes it.
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

// made says how the results of a command can be made again.
func made(cmd *cobra.Command, seed uint64) report.Made {
	version, _, _ := strings.Cut(strings.TrimPrefix(versionText(buildInfo()), "missingscore "), "\n")
	return report.Made{Command: commandLine(cmd), Version: version, Seed: seed}
}

// flagWord is a flag's value as a shell takes it.
func flagWord(value pflag.Value) string {
	if list, ok := value.(pflag.SliceValue); ok { // its String has brackets
		return shell.List(list.GetSlice())
	}
	return shell.Word(value.String())
}
