package fitted

import (
	"errors"

	"missingscore/data"
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

// It fails with ErrOtherImputation if s has other rows or settings; chained requires R-hats.
func (s SavedBlock) block(z *data.Table, rows []int, draws int, chained bool) (b block, err error) {
	b = block{rows: rows, rhat: s.RHat, size: s.Size}
	for _, of := range [][]float64{s.RHat, s.Size} {
		if len(of) != len(rows) && (chained || len(of) != 0) {
			return b, ErrOtherImputation
		}
	}
	for _, i := range rows {
		b.mask = append(b.mask, marks(z, i)...)
		for range draws {
			b.x = append(b.x, z.Values[i*z.D:(i+1)*z.D]...)
		}
	}
	var gaps []int
	eachGap(b.mask, z.D, draws, func(at int) { gaps = append(gaps, at) })
	if len(gaps) != len(s.Gaps) {
		return b, ErrOtherImputation
	}
	for a, at := range gaps {
		b.x[at] = s.Gaps[a]
	}
	return b, nil
}

// eachGap visits the index of each missing cell in x (rows·draws, d).
func eachGap(mask []float64, d, draws int, visit func(at int)) {
	for i := 0; i < len(mask); i += d {
		for k := range draws {
			for j := range d {
				if mask[i+j] == 0 {
					visit((i/d*draws+k)*d + j)
				}
			}
		}
	}
}
