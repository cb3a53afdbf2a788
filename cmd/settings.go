package cmd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"missingscore/internal/strictjson"
	"missingscore/trainers"
)

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
		why["model"], why["objective"], why["descent"] = "only fit takes it: leave it out", "only fit takes it: leave it out", "only fit takes it: leave it out"
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

// removed flags, and what takes their place.
var removed = map[string]string{
	"mask-input":  `give it by --imputer-options '{"mask_input":true}'`,
	"diagonal-sd": `give it by --imputer-options '{"diagonal_sd":true}'`,
	"hide":        "hide the cells in the file itself; missingscore simulate --missing hides cells of drawn tables",
	"history":     "the history of a fit is written beside its --out",
	"prices":      "give a table with a column of returns for each name",
	"corrections": "--steps makes the steps of a sampler finer",
}

// instead tells how to give a setting that has no flag of its own; "" if there is none of the name.
func instead(cmd *cobra.Command, flag string) string {
	if advice := removed[flag]; advice != "" || cmd.Flags().Lookup("config") == nil {
		return advice
	}
	field := strings.ReplaceAll(strings.TrimPrefix(flag, "g-"), "-", "_") // --g-cap was weight.cap
	field = cmp.Or(map[string]string{"per_row": "scalar", "path": "whole"}[field], field)
	without := []string{"Model", "Objective", "Descent", "Kind", "Options"}
	if !slices.Contains([]string{"network", "compare", "power"}, cmd.Name()) {
		without = []string{"Network", "Kind", "Options"}
	}
	if place := settingOf(reflect.TypeFor[trainers.Spec](), field, without...); place != "" {
		return "give it by --config '" + place + "'"
	}
	return ""
}

// settingOf is the JSON that sets a field of t or of its structs, such as {"steps":{"draws":VALUE}}.
func settingOf(t reflect.Type, field string, without ...string) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return ""
	}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || slices.Contains(without, f.Name) {
			continue
		}
		inner := settingOf(f.Type, field, without...)
		if name == field && inner == "" {
			inner = "VALUE"
		}
		if inner != "" {
			return fmt.Sprintf(`{"%s":%s}`, name, inner)
		}
	}
	return ""
}
