package fitted

import (
	"fmt"

	"missingscore/trainers/engine"
)

// checkDraws refuses draws (rows, d) in the table's units that are not finite: no reader takes them.
func (f *Model) checkDraws(values []float64) error {
	for i, v := range values {
		if !engine.Finite(v) {
			return fmt.Errorf("the model draws %v for column %q: its parameters are damaged, or too large for float64", v, f.Names[i%len(f.Names)])
		}
	}
	return nil
}
