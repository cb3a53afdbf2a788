package cmd

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"missingscore/data"
	"missingscore/data/moments"
	"missingscore/data/survey"
	"missingscore/graph"
	"missingscore/internal/memory"
	"missingscore/trainers"
	"missingscore/trainers/rows"
)

// streamFlag has a fit go over the rows of a file without holding them.
type streamFlag struct {
	on   bool
	held bool          // the command needs the table itself, too
	file *data.RowFile // nil where the table is held
}

func (f *streamFlag) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.on, "stream", false, "take mini-batches straight from the file, whose rows are not held: blocks of it in random order, by adam (default: where the table does not fit into memory and the fit is by adam)")
}

// close lets go of the file.
func (f *streamFlag) close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

// instead tells whether a table that could not be held is to be streamed.
func (f *streamFlag) instead(cmd *cobra.Command, err error) bool {
	var full *memory.Error
	return errors.As(err, &full) && !f.held && !cmd.Flags().Changed("stream")
}

// loadFile opens the table's file and prepares the estimate from its rows. full is why it is not
// held, nil where it is asked for.
func (f *fitCommand) loadFile(cmd *cobra.Command, path string, full error) error {
	o, err := f.streamOptions(cmd, path)
	if err == nil {
		if f.stream.file, err = data.OpenRows(path, o, 0); err == nil {
			err = f.prepareFile(cmd, path)
		}
	}
	if full == nil {
		return err
	}
	var wrong *trainers.SettingError
	var sequential *data.SequentialError
	var usage usageError
	switch {
	case errors.As(err, &usage), errors.As(err, &sequential), errors.As(err, &wrong) && wrong.Field == "stream":
		return full
	case err != nil:
		return err
	case !f.prepared.ByBatches():
		return fmt.Errorf("%w; of a normal model missingscore moments takes what method %s needs, in one pass that holds no row, and --stream goes down its loss by adam", full, f.prepared.Estimator.Name)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%v\n%s: its rows are taken straight from the file instead (--stream)\n", full, path)
	return nil
}

// streamOptions are those of the table's file. Flags that need its rows are refused.
func (f *fitCommand) streamOptions(cmd *cobra.Command, path string) (data.ReadOptions, error) {
	for _, name := range []string{"hide", "prices", "weights"} {
		if flag := cmd.Flags().Lookup(name); flag != nil && flag.Changed {
			return data.ReadOptions{}, usageError{fmt.Errorf("--stream: --%s needs all rows of the table; leave one of the two out", name)}
		}
	}
	if f.known.file == estimateLaw {
		return data.ReadOptions{}, usageError{errors.New("--stream: --missingness estimate goes by all rows of the table: estimate the law from a part of them, and give its file (--missingness FILE)")}
	}
	if moments.Is(path) {
		return data.ReadOptions{}, usageError{fmt.Errorf("--stream: %s holds moments, which have no rows: leave it out", path)}
	}
	return f.tableFlags.options()
}

// prepareFile prepares the estimate from the rows of an open file.
func (f *fitCommand) prepareFile(cmd *cobra.Command, path string) (err error) {
	names := &data.Table{Names: f.stream.file.Names, D: len(f.stream.file.Names)}
	f.prepared, err = f.prepareBy(cmd, names, path, func(s trainers.Spec) (*trainers.Prepared, error) {
		return trainers.PrepareFile(cmd.Context(), f.stream.file, s, survey.Options{Workers: f.spec.Steps.Workers, Progress: newPasses(cmd.ErrOrStderr()).observe})
	})
	if err == nil {
		f.table = f.prepared.Table
		holds := held(len(f.table.Values)+2*rows.WindowBlocks*f.stream.file.BlockRows*f.table.D, f.table.D)
		if f.spec.Steps.DType == graph.Float32 {
			holds += rows.SingleBytes * float64(f.table.RowCount()*f.table.D)
		}
		memory.Held(holds)
	}
	return err
}

// passes shows the readings of a file, one after another.
type passes struct {
	w    io.Writer
	now  *reading
	last int64
}

func newPasses(w io.Writer) *passes { return &passes{w: w, now: newReading(w)} }

func (p *passes) observe(read, size int64) {
	if read < p.last {
		p.now = newReading(p.w)
	}
	p.last = read
	p.now.observe(read, size)
}
