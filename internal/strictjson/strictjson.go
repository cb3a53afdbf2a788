// Package strictjson reads one JSON object of settings, from a file or a flag: unknown
// fields and anything after it are errors, in plain words.
package strictjson

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"missingscore/internal/memory"
)

// Decode reads text into v. What is wrong is said without Go's words for it, with an
// example of how the text should look unless that is empty.
func Decode(text []byte, v any, example string) error {
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	err := in.Decode(v)
	if err == nil && in.More() {
		err = errors.New("something follows the first object")
	}
	if err == nil {
		err = Check(text, v)
	}
	if err != nil && example == "" {
		return Plainly(err)
	}
	if err != nil {
		return fmt.Errorf("%w; it should look like %s", Plainly(err), example)
	}
	return nil
}

// textFactor is how many times its text the use of a JSON object takes, at most.
const textFactor = 20

// File parses a file; errors name it.
func File[T any](path string, parse func(text []byte) (T, error)) (v T, err error) {
	text, err := memory.ReadFile(path, textFactor)
	if err != nil {
		return v, err
	}
	if v, err = parse(text); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return v, err
}

// Options is Decode into a pointer to a struct, for settings that are chosen along with
// a name: no text leaves v as it is, and what is wrong is said with v's fields.
func Options(text []byte, v any) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	if err := Decode(text, v, fields(v)); err != nil {
		return fmt.Errorf("options %s: %w", text, err)
	}
	return nil
}

// fields is an object with the fields of a struct.
func fields(v any) string {
	t := reflect.TypeOf(v).Elem()
	var names []string
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, fmt.Sprintf("%q: …", name))
		}
	}
	return "{" + strings.Join(names, ", ") + "}"
}

// Plainly is an error of encoding/json without Go's words for it; others stay.
func Plainly(err error) error {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	var packed base64.CorruptInputError
	switch {
	case errors.As(err, &kind):
		return misfit(kind)
	case errors.Is(err, io.EOF):
		return errors.New("it is empty")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &syntax) && strings.HasPrefix(syntax.Error(), "unexpected end"):
		return errors.New("it ends too early")
	case errors.As(err, &syntax):
		return fmt.Errorf("it is not JSON from its character %d on", syntax.Offset)
	case errors.As(err, &packed):
		return errors.New("packed numbers are not written in base64")
	}
	if text, ok := strings.CutPrefix(err.Error(), "json: "); ok {
		return errors.New(text)
	}
	return err
}

// misfit says which value is of the wrong kind, or beyond the numbers of float64.
func misfit(kind *json.UnmarshalTypeError) error {
	number, isNumber := strings.CutPrefix(kind.Value, "number ")
	if isNumber && kind.Type.Kind() == reflect.Float64 {
		return fmt.Errorf("the number %s is too large", number)
	}
	if kind.Field == "" {
		return fmt.Errorf("%s where %s is expected", kind.Value, expected(kind.Type))
	}
	article := "a"
	if strings.HasPrefix(kind.Value, "array") || strings.HasPrefix(kind.Value, "object") {
		article = "an"
	}
	return fmt.Errorf("%q: %s %s does not fit there", kind.Field, article, kind.Value)
}

func expected(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Float64, reflect.Int:
		return "a number"
	case reflect.String:
		return "a text"
	default:
		return "an object"
	}
}
