package model

import (
	"encoding/json"
	"fmt"
)

// Options are the JSON that a model is made again from, nil where it has no options.
func Options(m Model) (json.RawMessage, error) {
	o, ok := m.(Configured)
	if !ok {
		return nil, nil
	}
	text, err := json.Marshal(o.Options())
	if err != nil {
		return nil, fmt.Errorf("the options of a model must be JSON: %w", err)
	}
	return text, nil
}
