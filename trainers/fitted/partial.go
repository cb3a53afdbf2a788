package fitted

import (
	"errors"

	"missingscore/data"
	"missingscore/internal/checkedfile"
)

// Partial are the draws of a run that was cut, by block of rows: what it holds is not drawn again, and the result is
// that of a run that was never cut.
type Partial = checkedfile.Parts[SavedBlock]

// SavedBlock is a block's gaps, row by row and draw by draw, in the units of z.
type SavedBlock struct {
	Gaps       []float64
	RHat, Size []float64 // of mcmc
}

const partialMark = "missingscore draws 2\n"

// NewPartial holds nothing. of names the run: model, table and settings.
func NewPartial(of string) *Partial { return checkedfile.NewParts[SavedBlock](partialMark, of) }

// ErrOtherImputation says that saved draws are of another run.
var ErrOtherImputation = errors.New("the saved draws belong to another model, table or other settings: use the same, or start again without resuming")

// LoadPartial reads what Partial.Save wrote of the run that of names. Another's is ErrOtherImputation, a damaged file
// is refused by name, as is one that needs more memory than may be used (MISSINGSCORE_MEMORY).
func LoadPartial(path, of string) (*Partial, error) {
	return checkedfile.LoadParts[SavedBlock](path, partialMark, of, "draws", ErrOtherImputation)
}

// savedBlock is b of a table of d columns.
func savedBlock(b block, d int) SavedBlock {
	s := SavedBlock{RHat: b.rhat, Size: b.size}
	eachGap(b.mask, d, len(b.x)/len(b.mask), func(at int) { s.Gaps = append(s.Gaps, b.x[at]) })
	return s
}

// block is s of rows of a table in the units of z; chained says that it tells of chains. It is
// ErrOtherImputation if s is of other rows or settings.
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

// eachGap visits the places of missing cells in x (rows·draws, d).
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
