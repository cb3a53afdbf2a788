// Package strictjson reads one JSON object from a settings file: unknown fields and
// anything after it are errors, in plain words.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Decode reads text into v. What is wrong is said without Go's words for it, with an
// example of how the text should look.
func Decode(text []byte, v any, example string) error {
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	err := in.Decode(v)
	if err == nil && in.More() {
		err = errors.New("something follows the first object")
	}
	if err != nil {
		return fmt.Errorf("%w; it should look like %s", plainly(err), example)
	}
	return nil
}

func plainly(err error) error {
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Errorf("%s where an object is expected", kind.Value)
	case errors.As(err, &kind):
		return fmt.Errorf("%q: %s where a number or an object is expected", kind.Field, kind.Value)
	case errors.Is(err, io.EOF):
		return errors.New("the file is empty")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the file ends too early")
	}
	return err
}
