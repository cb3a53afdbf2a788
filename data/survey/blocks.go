package survey

import (
	"context"

	"missingscore/data"
	"missingscore/internal/panics"
)

// blocks has every block of a file looked at, o.Workers of them side by side, and what was learned of
// each taken over in their order.
func blocks[T any](ctx context.Context, f *data.RowFile, o Options, look func(*data.Table) (T, error), take func(*data.Table, T) error) error {
	workers := max(1, o.Workers)
	tables, learned := make([]*data.Table, workers), make([]T, workers)
	for from := 0; from < f.Blocks(); from += workers {
		some := min(workers, f.Blocks()-from)
		pool := panics.NewGroup()
		for k := range some {
			pool.Go(func() (err error) {
				if err = ctx.Err(); err != nil {
					return err
				}
				if tables[k], err = f.Block(from + k); err != nil {
					return err
				}
				learned[k], err = look(tables[k])
				return err
			})
		}
		if err := pool.Wait(); err != nil {
			return err
		}
		for k := range some {
			if err := take(tables[k], learned[k]); err != nil {
				return err
			}
		}
		if o.Progress != nil {
			done := float64(from+some) / float64(f.Blocks())
			o.Progress(int64(done*float64(f.Size())), f.Size())
		}
	}
	return nil
}
