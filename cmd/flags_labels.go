package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"missingscore/data"
)

// labelFlag says what columns are called in the results.
type labelFlag struct {
	file string
	of   map[string]string // by the column's name; nil for none
}

func (f *labelFlag) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "labels", "", "table of two columns, name and label: what columns are called in the report, its pictures, network.graphml and network.json")
}

// read reads the labels of the columns.
func (f *labelFlag) read(names []string) (err error) {
	if f.file == "" {
		return nil
	}
	if f.of, err = data.ReadLabels(f.file, names); err != nil {
		return fmt.Errorf("--labels: %w", err)
	}
	return nil
}
