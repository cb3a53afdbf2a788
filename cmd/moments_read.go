package cmd

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"missingscore/data"
	"missingscore/data/moments"
)

// readRows reads a table, or the rows that stand for one where the file holds moments.
func (f *trainingFlags) readRows(cmd *cobra.Command, file string) (*data.Table, error) {
	if !moments.Is(file) {
		return f.tableFlags.read(file, f.spec.Steps.Seed)
	}
	for _, name := range []string{"na", "sep", "dec", "prices", "hide", "weights"} {
		if flag := cmd.Flags().Lookup(name); flag != nil && flag.Changed {
			return nil, usageError{fmt.Errorf("--%s: %s holds moments, and how their tables are read was said when they were taken (missingscore moments): leave it out", name, file)}
		}
	}
	if cmd.Flags().Changed("missingness") {
		return nil, usageError{fmt.Errorf("--missingness: a law of missing cells is of rows, and %s holds moments: leave it out, or take the table itself", file)}
	}
	m, err := moments.Read(file)
	if err != nil {
		return nil, err
	}
	if m, err = f.tableFlags.selected(m); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	t, err := m.Table()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return t, nil
}

// selected are the moments of the columns that --columns, --exclude and --id leave.
func (f *tableFlags) selected(m *moments.Moments) (*moments.Moments, error) {
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	names := slices.Clone(o.Columns)
	if names == nil {
		names = slices.Clone(m.Names)
	}
	for _, name := range o.Exclude {
		at := slices.Index(names, name)
		if at < 0 {
			return nil, usageError{fmt.Errorf("--exclude: there is no column %q among those of the moments", name)}
		}
		names = slices.Delete(names, at, at+1)
	}
	if slices.Equal(names, m.Names) {
		return m, nil
	}
	return m.Select(names)
}
