package nets

import (
	"fmt"

	"missingscore/graph/model"
)

// MostUnits is the largest hidden layer: more is a mistake or a damaged file.
const MostUnits = 10000

// checkUnits refuses hidden layers of so many units; 0 asks for the usual number.
func checkUnits(units int) error {
	if units < 0 || units > MostUnits {
		return fmt.Errorf("%d units: 1 to %d are possible", units, MostUnits)
	}
	return nil
}

// numbersOf is how many weights and biases there are between layers of these widths.
func numbersOf(widths ...int) (sum float64) {
	for l, in := range widths[:len(widths)-1] {
		sum += float64(in+1) * float64(widths[l+1])
	}
	return sum
}

// checkImputer refuses, before they are made, more parameters than there is memory for.
func checkImputer(d, units int, parameters float64) error {
	return model.CheckSize(parameters, "an imputer of %d units for %d columns", units, d)
}
