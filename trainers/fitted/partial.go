package fitted

import (
	"errors"

	"missingscore/internal/checkedfile"
)

// Partial holds the finished blocks of an interrupted run, which resumes with the same result.
type Partial = checkedfile.Parts[SavedBlock]

// SavedBlock holds the missing cells of a block, row by row and draw by draw, in the units of z.
type SavedBlock struct {
	Gaps       []float64
	RHat, Size []float64 // of mcmc
}

const partialMark = "missingscore draws 2\n"

// NewPartial returns an empty Partial; of identifies model, table and settings.
func NewPartial(of string) *Partial { return checkedfile.NewParts[SavedBlock](partialMark, of) }

// ErrOtherImputation means that saved draws belong to another run.
var ErrOtherImputation = errors.New("the saved draws belong to another model, table or settings: use the same, or start again without resuming")

// LoadPartial fails with ErrOtherImputation for another run, and with an error naming the file if
// it is damaged or exceeds the memory limit.
func LoadPartial(path, of string) (*Partial, error) {
	return checkedfile.LoadParts[SavedBlock](path, partialMark, of, "draws", ErrOtherImputation)
}
