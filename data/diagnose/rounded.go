package diagnose

import (
	"fmt"

	"missingscore/internal/printable"
)

// rounded warns of columns of whole numbers that float64 cannot hold.
func rounded(e *examined) []Finding {
	var found []int
	var shown []string
	for j, name := range e.Names {
		if cell := e.Rounded[name]; cell != "" {
			found = append(found, j)
			shown = append(shown, fmt.Sprintf("%s (%s)", name, printable.Cell(cell)))
			e.explained[j] = true
		}
	}
	if found == nil {
		return nil
	}
	names := e.names(found)
	return []Finding{{Severity: Warning, Columns: names, LeaveOut: names, Message: fmt.Sprintf("whole numbers of more digits than a computation holds (15) are rounded, so that different ones become equal: %s; leave %s out (%s)",
		list(shown), plural(len(names), "it", "them"), flag("exclude", names))}}
}
