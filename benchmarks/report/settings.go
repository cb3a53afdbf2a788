package report

import (
	"encoding/json"
	"fmt"
	"strings"
)

// written are the settings as the file has them, one line each, and those that the
// paper does not state.
func written(settings json.RawMessage) (lines []setting, ours []string, err error) {
	d := json.NewDecoder(strings.NewReader(string(settings)))
	if _, err := d.Token(); err != nil { // {
		return nil, nil, err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, nil, err
		}
		if name == "ours" {
			if err := json.Unmarshal(value, &ours); err != nil {
				return nil, nil, err
			}
			continue
		}
		lines = append(lines, setting{fmt.Sprint(name), strings.ReplaceAll(string(value), `,"`, `, "`)})
	}
	return lines, ours, nil
}
