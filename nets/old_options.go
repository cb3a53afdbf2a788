package nets

import "encoding/json"

// renamed are options as older files call them, and their names now.
var renamed = map[string]string{"levelled": "noise_conditional"}

// current gives options with the names that they have now. What is no JSON object comes
// back as it is, for whoever reads it strictly.
func current(options []byte) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(options, &fields) != nil {
		return options
	}
	changed := false
	for old, now := range renamed {
		if v, ok := fields[old]; ok {
			delete(fields, old)
			fields[now], changed = v, true
		}
	}
	if !changed {
		return options
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return options
	}
	return text
}
