// Package strictjson reads JSON and refuses unknown fields, null, repeated keys and trailing text.
package strictjson

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"

	"missingscore/internal/memory"
)

// Decode reads text into v. Errors end with example, a valid text. An empty example marks text
// written by a program: null values then count as absent keys.
func Decode(text []byte, v any, example string) error {
	return decode(text, v, example, example != "")
}

func decode(text []byte, v any, example string, strict bool) error {
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	err := in.Decode(v)
	if err == nil && in.More() {
		err = errors.New("there is text after the first object")
	}
	if err == nil {
		err = check(json.NewDecoder(bytes.NewReader(text)), "", strict)
	}
	if err != nil && example != "" {
		return fmt.Errorf("%w; it should look like %s", Plainly(err), example)
	}
	return Plainly(err)
}

// Unmarshal does the work of Decode without an example and ignores unknown fields.
func Unmarshal(text []byte, v any) error {
	if err := json.Unmarshal(text, v); err != nil {
		return Plainly(err)
	}
	return Plainly(check(json.NewDecoder(bytes.NewReader(text)), "", false))
}

// check walks the next value; a null value is an error if strict.
func check(in *json.Decoder, path string, strict bool) error {
	token, err := in.Token()
	switch {
	case err != nil:
		return err
	case token == nil && path == "":
		return errors.New("it is null")
	case token == nil && strings.HasSuffix(path, "]"):
		return fmt.Errorf("%s is null: give a value", path)
	case token == nil && strict:
		return fmt.Errorf("%s is null: give a value, or leave the key out", path)
	case token != json.Delim('{') && token != json.Delim('['):
		return nil
	}
	seen := map[json.Token]bool{}
	for i := 0; in.More(); i++ {
		at := fmt.Sprintf("%s[%d]", path, i)
		if token == json.Delim('{') {
			key, err := in.Token()
			if err != nil {
				return err
			}
			at = strings.TrimPrefix(fmt.Sprintf("%s.%s", path, key), ".")
			if seen[key] {
				return fmt.Errorf("%s occurs twice: keep one", at)
			}
			seen[key] = true
		}
		if err := check(in, at, strict); err != nil {
			return err
		}
	}
	_, err = in.Token()
	return err
}

// textFactor is the maximum memory of a JSON object, relative to its text.
const textFactor = 20

// File parses a file, which may begin with a byte order mark; errors name it.
func File[T any](path string, parse func(text []byte) (T, error)) (v T, err error) {
	text, err := memory.ReadFile(path, textFactor)
	if err != nil {
		return v, err
	}
	if v, err = parse(bytes.TrimPrefix(text, []byte("\ufeff"))); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return v, err
}

// Options decodes into a pointer to a struct of settings. Empty text leaves v unchanged.
func Options(text []byte, v any) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	var fields []string
	for t, i := reflect.TypeOf(v).Elem(), 0; i < t.NumField(); i++ {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" && name != "-" {
			fields = append(fields, fmt.Sprintf("%q: …", name))
		}
	}
	if err := decode(text, v, "{"+strings.Join(fields, ", ")+"}", false); err != nil {
		return fmt.Errorf("options %s: %w", text, err)
	}
	return nil
}

// Number is null in JSON, or left out by omitzero, if it is not finite.
type Number float64

func (n Number) IsZero() bool { return math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) }

func (n Number) MarshalJSON() ([]byte, error) {
	if n.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// Plainly replaces Go's words in errors of encoding/json; other errors and nil are unchanged.
func Plainly(err error) error {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	var packed base64.CorruptInputError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Errorf("it takes no %s", kind.Value)
	case errors.As(err, &kind):
		return fmt.Errorf("%q takes no %s", kind.Field, kind.Value)
	case errors.Is(err, io.EOF):
		return errors.New("it is empty")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &syntax) && strings.HasPrefix(syntax.Error(), "unexpected end"):
		return errors.New("it ends too early")
	case errors.As(err, &syntax):
		return fmt.Errorf("it is not valid JSON at character %d", syntax.Offset)
	case errors.As(err, &packed):
		return errors.New("packed numbers must be in base64")
	}
	if text, ok := strings.CutPrefix(err.Error(), "json: "); ok {
		return errors.New(text)
	}
	return err
}
