package cmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"missingscore/internal/strictjson"
	"missingscore/trainers"
)

// settingsFlag is --config: a file of settings, the JSON of a trainers.Spec.
type settingsFlag struct {
	path  string
	given map[string]any // what the file holds; nil without one
}

func (f *settingsFlag) add(cmd *cobra.Command) {
	cmd.Flags().Var(f, "config", "JSON `file` with settings, such as {\"steps\":{\"draws\":20}}; flags overrule it")
}

func (f *settingsFlag) String() string { return f.path }
func (f *settingsFlag) Type() string   { return "string" }

func (f *settingsFlag) Set(path string) error {
	f.path = path
	return nil
}

// read puts what the file says into s, whose fields flags are bound to, and the flags that were
// given over it.
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
	_, err := strictjson.File(f.path, func(text []byte) (struct{}, error) {
		if err := strictjson.Decode(text, s, `{"steps":{"draws":20},"network":{"lambdas":50}}`); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, json.Unmarshal(text, &f.given)
	})
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		err = fmt.Errorf("%s: %w", e.Path, e.Err)
	}
	if err != nil {
		return usageError{fmt.Errorf("--config %w", err)}
	}
	for _, wrong := range []struct {
		field, why string
		is         bool
	}{
		{"domain", "bounds are of columns by name: give --lower, --upper or --domain", true},
		{"network", "it is of the commands network, compare and power: leave it out", !network},
		{"model", "it is of the command fit: leave it out", network},
		{"objective", "it is of the command fit: leave it out", network},
		{"descent", "it is of the command fit: leave it out", network},
	} {
		if _, there := f.given[wrong.field]; there && wrong.is {
			return usageError{fmt.Errorf("--config %s: %s: %s", f.path, wrong.field, wrong.why)}
		}
	}
	for _, set := range given {
		if err := set(); err != nil {
			return err
		}
	}
	return nil
}

// says tells whether a flag's text counts: always without a file, else where it was given.
func (f *settingsFlag) says(cmd *cobra.Command, flag string) bool {
	return f.given == nil || cmd.Flags().Changed(flag)
}

// settingName is what a user calls a setting: its place in the file of --config, or its flag.
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

// placeOf is where an object has a field, as steps.draws; of an object named so its kind. "" is nowhere.
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
