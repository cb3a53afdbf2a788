package strictjson

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Unmarshal is json.Unmarshal, but refuses what that passes over: null where a value or a map
// is expected, or in a list or map, and the first of two equal keys. A pointer, a list or an
// object may be null, which is as if it were not there.
func Unmarshal(text []byte, v any) error {
	if err := json.Unmarshal(text, v); err != nil {
		return Plainly(err)
	}
	return Check(text, v)
}

// Check is what Unmarshal refuses, in a text that v was read from.
func Check(text []byte, v any) error {
	w := walk{json.NewDecoder(bytes.NewReader(text))}
	if err := w.value(reflect.TypeOf(v).Elem(), "", "it is null"); err != nil {
		return Plainly(err)
	}
	return nil
}

type walk struct{ in *json.Decoder }

// value looks through one that goes into a t, nil if that may be anything; why says what is
// wrong with null, if so.
func (w walk) value(t reflect.Type, path, why string) error {
	for t != nil && t.Kind() == reflect.Pointer {
		t, why = t.Elem(), ""
	}
	if t != nil && reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		t = nil // which looks through it itself
	}
	token, err := w.in.Token()
	if err != nil {
		return err
	}
	switch token {
	case nil:
		if why == "" {
			return nil
		}
		return fmt.Errorf("%s%s", path, why)
	case json.Delim('{'):
		return w.object(t, path)
	case json.Delim('['):
		return w.list(t, path)
	}
	return nil
}

func (w walk) object(t reflect.Type, path string) error {
	seen := map[string]bool{}
	for w.in.More() {
		token, err := w.in.Token()
		if err != nil {
			return err
		}
		key := token.(string)
		at := strings.TrimPrefix(path+"."+key, ".")
		if seen[key] {
			return fmt.Errorf("%s is there twice: keep one", at)
		}
		seen[key] = true
		child, why := member(t, key)
		if err := w.value(child, at, why); err != nil {
			return err
		}
	}
	_, err := w.in.Token()
	return err
}

func (w walk) list(t reflect.Type, path string) error {
	var of reflect.Type
	why := ""
	if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
		of, why = t.Elem(), " is null: give "+noun(t.Elem())
	}
	for i := 0; w.in.More(); i++ {
		if err := w.value(of, fmt.Sprintf("%s[%d]", path, i), why); err != nil {
			return err
		}
	}
	_, err := w.in.Token()
	return err
}

// member is the type of a key's value, and why that cannot be null, if so.
func member(t reflect.Type, key string) (of reflect.Type, why string) {
	switch {
	case t == nil:
		return nil, ""
	case t.Kind() == reflect.Map:
		return t.Elem(), missing(t.Elem())
	case t.Kind() != reflect.Struct:
		return nil, ""
	}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		if f.IsExported() && strings.EqualFold(name, key) {
			switch f.Type.Kind() {
			case reflect.Slice, reflect.Struct, reflect.Interface:
				return f.Type, ""
			}
			return f.Type, missing(f.Type)
		}
	}
	return nil, ""
}

func missing(t reflect.Type) string {
	return " is null: give " + noun(t) + ", or leave the key out"
}

func noun(t reflect.Type) string {
	if spelled := reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()); !spelled && t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64 {
		return "a number"
	}
	return "a value"
}
