package compare

import (
	"encoding/csv"
	"io"

	"missingscore/data"
	"missingscore/internal/printable"
)

// WriteDifferences writes differences.csv: a line for each pair, in column order. What there
// is no number of is empty.
func (r *Result) WriteDifferences(w io.Writer) error {
	c := csv.NewWriter(w)
	header := []string{"from", "to", "partial_correlation_a", "partial_correlation_b", "difference", "low", "high", "p", "q"}
	inferred := len(r.Pairs) > 0 && r.Pairs[0].Estimates != nil
	if inferred {
		header = append(header, "estimate_a", "estimate_b", "estimate_difference", "estimate_low", "estimate_high", "estimate_p", "estimate_q")
	}
	if err := c.Write(header); err != nil {
		return err
	}
	for _, d := range r.Pairs {
		numbers := []float64{d.Weights[0], d.Weights[1], d.Value, d.Low, d.High, d.P, d.Q}
		if e := d.Estimates; inferred {
			numbers = append(numbers, e.Estimate[0], e.Estimate[1], e.Value, e.Low, e.High, e.P, e.Q)
		}
		line := []string{printable.Text(d.From), printable.Text(d.To)}
		for _, x := range numbers {
			line = append(line, data.FormatNumber(x))
		}
		if err := c.Write(line); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}
