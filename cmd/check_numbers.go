package cmd

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"missingscore/internal/memory"
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
