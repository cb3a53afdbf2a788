package memory

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ReadFile is os.ReadFile for a file whose use takes factor times its size: it refuses one
// for which that is too much, also a device or a pipe that never ends.
func ReadFile(path string, factor float64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	limit, err := Limit()
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	most := int64(limit / factor)
	n, err := text.ReadFrom(io.LimitReader(f, most+1))
	var system *fs.PathError
	if errors.As(err, &system) {
		err = system.Err
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", path, err)
	}
	if n > most {
		return nil, &Error{What: fmt.Sprintf("%s, of more than %s,", path, Size(float64(most))), Need: limit, Limit: limit}
	}
	return text.Bytes(), nil
}
