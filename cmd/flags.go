package cmd

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"missingscore/cmd/report"
	"missingscore/internal/memory"
	"missingscore/internal/setting"
	"missingscore/internal/shell"
	"missingscore/internal/spelling"
	"missingscore/internal/strictjson"
	"missingscore/trainers"
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

// unread refuses given flags unless the reader uses them.
func unread(cmd *cobra.Command, reader string, reads bool, flags ...string) error {
	for _, name := range flags {
		if err := setting.Unread(reader, reads, map[string]bool{name: cmd.Flags().Changed(name)}); err != nil {
			return asUsage(cmd, err)
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

// checkSize refuses products of sizes that exceed the memory; what names each, such as "%d rows × %d columns".
func checkSize(what string, sizes ...int) error {
	product, args := 1.0, []any{}
	for _, n := range sizes {
		product, args = product*float64(n), append(args, n)
	}
	if err := memory.Check(8*product, "take less", what+" make %.2g numbers, which", append(args, product)...); err != nil {
		return usageError{err}
	}
	return nil
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

// settingsFlag is --config, a trainers.Spec as JSON or a file of it.
type settingsFlag struct {
	path  string         // or the JSON itself
	given map[string]any // nil without --config
}

func (f *settingsFlag) add(cmd *cobra.Command) {
	cmd.Flags().Var(f, "config", "settings as `JSON`, such as {\"steps\":{\"draws\":20}}, or a file with them; flags overrule it")
}

func (f *settingsFlag) String() string { return f.path }
func (f *settingsFlag) Type() string   { return "string" }

func (f *settingsFlag) Set(path string) error {
	f.path = path
	return nil
}

// read decodes the file into s, then applies the given flags again.
func (f *settingsFlag) read(cmd *cobra.Command, s *trainers.Spec) error {
	if f.path == "" {
		return nil
	}
	var given []func() error
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Changed {
			return
		}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			words := list.GetSlice()
			given = append(given, func() error { return list.Replace(words) })
			return
		}
		text := flag.Value.String()
		given = append(given, func() error { return flag.Value.Set(text) })
	})
	network := s.Network != nil
	decode := func(text []byte) (struct{}, error) {
		err := strictjson.Decode(text, s, `{"steps":{"draws":20},"network":{"lambdas":50}}`)
		return struct{}{}, cmp.Or(err, json.Unmarshal(text, &f.given))
	}
	var err error
	if strings.HasPrefix(f.path, "{") {
		_, err = decode([]byte(f.path))
	} else {
		_, err = strictjson.File(f.path, decode)
	}
	if err != nil {
		return usageError{fmt.Errorf("--config %w", err)}
	}
	why := map[string]string{"domain": "bounds need names of columns: use --lower, --upper or --domain"}
	if network {
		for _, field := range []string{"model", "objective", "descent"} {
			why[field] = "only fit takes it: leave it out"
		}
	} else {
		why["network"] = "only network, compare and power take it: leave it out"
	}
	for _, field := range slices.Sorted(maps.Keys(f.given)) {
		if why[field] != "" {
			return usageError{fmt.Errorf("--config %s: %s: %s", f.path, field, why[field])}
		}
	}
	for _, set := range given {
		if err := set(); err != nil {
			return err
		}
	}
	return nil
}

func (f *settingsFlag) says(cmd *cobra.Command, flag string) bool {
	return f.given == nil || cmd.Flags().Changed(flag)
}

// settingName is the name of a setting for messages: its place in --config, or its flag.
func settingName(cmd *cobra.Command, field string) string {
	flag := cmd.Flags().Lookup(strings.ReplaceAll(field, "_", "-"))
	if config := cmd.Flags().Lookup("config"); config != nil && (flag == nil || !flag.Changed) {
		file, _ := config.Value.(*settingsFlag)
		if place := placeOf(file.given, field); place != "" {
			return fmt.Sprintf("--config %s: %s", file.path, place)
		}
	}
	if flag == nil {
		return field
	}
	return "--" + flag.Name
}

// placeOf is the path of a field in an object, such as steps.draws; "" if absent.
func placeOf(object map[string]any, field string) string {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		inner, nested := object[name].(map[string]any)
		switch within := placeOf(inner, field); {
		case name == field && nested && inner["kind"] != nil:
			return name + ".kind"
		case name == field:
			return name
		case within != "":
			return name + "." + within
		}
	}
	return ""
}
