package cmd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"missingscore/internal/spelling"
)

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
