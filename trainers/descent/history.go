package descent

import (
	"encoding/csv"
	"io"
	"strconv"

	"missingscore/data"
)

// WriteHistory writes history.csv: a line for each epoch. Numbers that there are none of are empty.
func WriteHistory(w io.Writer, history []Record) error {
	c := csv.NewWriter(w)
	header := []string{"iteration", "epoch", "loss", "effective_sample_size"}
	for _, e := range history[0].Errors {
		header = append(header, e.Name)
	}
	if err := c.Write(header); err != nil {
		return err
	}
	for _, r := range history {
		record := []string{strconv.Itoa(r.Iteration), strconv.Itoa(r.Epoch), data.FormatNumber(r.Loss), data.FormatNumber(r.EffectiveSize)}
		for _, e := range r.Errors {
			record = append(record, data.FormatNumber(e.Value))
		}
		if err := c.Write(record); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}
