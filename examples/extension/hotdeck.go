package extension

import (
	"errors"
	"math"

	"missingscore/data"
	"missingscore/losses"
	"missingscore/trainers/estimator"
	"missingscore/trainers/source"
)

const most, width = 100, 0.5 // numbers of a column that are used; the kernel's, of standardised columns

// hotDeck fills a gap with a number observed in its column, moved by a normal of deviation
// width: a draw from the column's kernel density estimate.
type hotDeck struct {
	draws    int
	observed [][]float64 // of each column
}

func init() {
	source.Kinds["hot-deck"] = source.Kind{Name: "hot-deck", Note: "numbers observed in the same column", New: newHotDeck, Random: true, LogDensity: true}
	estimator.Register(estimator.Estimator{
		Name: "iw-hot-deck", Title: "Marg-IW, hot deck", Note: "importance weights, numbers observed in the same column",
		Source: source.Kinds["hot-deck"], Weighting: losses.SelfNormalised, Loss: losses.Marginal,
	})
}

func newHotDeck(s source.Setting) (source.Source, error) {
	h, t := hotDeck{s.Draws, make([][]float64, s.Table.D)}, s.Table
	if s.Domain.Bounded() {
		return nil, errors.New("the hot deck does not know supports that end")
	}
	for i, seen := range t.Observed {
		if seen && len(h.observed[i%t.D]) < most {
			h.observed[i%t.D] = append(h.observed[i%t.D], t.Values[i])
		}
	}
	return h, nil
}

// Complete implements source.Source.
func (h hotDeck) Complete(b *data.Batch, x, logProposal []float64, rng *source.Stream) error {
	source.Repeat(b, h.draws, x) // zeros in the gaps
	clear(logProposal)
	for i := range len(b.Rows) * h.draws * b.D {
		k, deck, density := i/b.D, h.observed[i%b.D], 0.0
		if b.Mask[k/h.draws*b.D+i%b.D] == 0 {
			x[i] = deck[rng.IntN(len(deck))] + width*rng.NormFloat64()
			for _, v := range deck {
				density += math.Exp(-0.5*(x[i]-v)*(x[i]-v)/(width*width)) / float64(len(deck))
			}
			logProposal[k] += math.Log(density)
		}
	}
	return nil
}
