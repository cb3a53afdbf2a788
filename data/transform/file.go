package transform

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"missingscore/internal/spelling"
	"missingscore/internal/strictjson"
)

// head is what every function has in a file.
type head struct {
	Kind string `json:"kind"`
}

// MarshalJSON writes a function that has no numbers of its own.
func (e elementary) MarshalJSON() ([]byte, error) { return json.Marshal(head{e.kind}) }

// Encode writes the functions by column, as {"zinc": {"kind": "log"}}; nil for none.
func (c Columns) Encode(names []string) (json.RawMessage, error) {
	if c == nil {
		return nil, nil
	}
	by := map[string]Function{}
	for j, f := range c {
		if f != nil {
			by[names[j]] = f
		}
	}
	return json.Marshal(by)
}

// Read reads what Encode wrote for these columns.
func Read(text []byte, names []string) (Columns, error) {
	var by map[string]json.RawMessage
	if err := strictjson.Unmarshal(text, &by); err != nil {
		return nil, err
	}
	c := make(Columns, len(names))
	for name, own := range by {
		j := slices.Index(names, name)
		if j < 0 {
			return nil, spelling.Unknown("column", name, names)
		}
		var h head
		if err := strictjson.Unmarshal(own, &h); err != nil {
			return nil, fmt.Errorf("column %q: %w", name, err)
		}
		kind, known := Kinds[h.Kind]
		if !known {
			return nil, fmt.Errorf("column %q: %w", name, spelling.Unknown("function", h.Kind, slices.Sorted(maps.Keys(Kinds))))
		}
		var err error
		if c[j], err = kind.Read(own); err != nil {
			return nil, fmt.Errorf("column %q: %s: %w", name, h.Kind, err)
		}
	}
	return c, nil
}
