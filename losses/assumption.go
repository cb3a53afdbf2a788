package losses

// Assumption is what an estimate takes for granted of why cells are missing
// (docs/theory/index.md#assumptions). Its value is the name that files have it by.
type Assumption string

// The assumptions. The first two are those of losses; the others come from what a loss
// is used with.
const (
	// MCAR is of losses that compare the model's density of the observed cells with the
	// rows of that pattern, or use these rows' observed cells alone.
	MCAR Assumption = "MCAR"
	// MAR is of losses of the completed row, which need no more than that the missing
	// cells have the model's conditional distribution.
	MAR Assumption = "MAR"

	KnownLaw     Assumption = "known law"
	EstimatedLaw Assumption = "estimated law"
	NoGaps       Assumption = "no gaps"
	NoneHolds    Assumption = "none"
)

// String says it in words.
func (a Assumption) String() string {
	switch a {
	case MAR:
		return "missing at random (MAR): whether a cell is missing may depend on the row's observed cells"
	case KnownLaw:
		return "missing by the law that is given, in columns that it does not name completely at random"
	case EstimatedLaw:
		return "missing at random (MAR) by the logistic law that was estimated from the table, in columns that it does not name completely at random"
	case NoGaps:
		return "none"
	case NoneHolds:
		return "filled with numbers that do not depend on the row: the estimate is biased, for whatever reason they are missing"
	}
	return "missing completely at random (MCAR): whether a cell is missing depends on nothing in the row"
}
