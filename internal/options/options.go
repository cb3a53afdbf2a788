// Package options reads the settings of models and objectives that are chosen by name.
package options

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Decode fills into, a pointer to a struct, from a JSON object; nothing leaves it as it
// is. It refuses fields that into does not have, and names those it has.
func Decode(text []byte, into any) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("more than one JSON object")
		}
	}
	if err != nil {
		return fmt.Errorf("options %s: %w; they are a JSON object with %s", text, err, fields(into))
	}
	return nil
}

func fields(v any) string {
	t := reflect.TypeOf(v).Elem()
	var names []string
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "no field: there are none to set"
	}
	return strings.Join(names, ", ")
}
