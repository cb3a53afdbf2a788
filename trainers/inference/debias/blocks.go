package debias

import (
	"golang.org/x/sync/errgroup"

	"missingscore/graph"
	"missingscore/internal/panics"
)

// blockWidth is how many rows or columns a block has: a number of the order that matrix
// products are fast at.
const blockWidth = 96

// blocks does each block of so many rows, workers at a time. Which worker does which does not
// change what it comes to.
func blocks(workers, rows int, each func(multiply graph.Product[float64], at, count int)) error {
	workers = max(1, min(workers, (rows+blockWidth-1)/blockWidth))
	var pool errgroup.Group
	for worker := range workers {
		pool.Go(func() error {
			return panics.Caught(func() error {
				multiply, err := graph.NewProduct()
				for at := worker * blockWidth; err == nil && at < rows; at += workers * blockWidth {
					each(multiply, at, min(blockWidth, rows-at))
				}
				return err
			})
		})
	}
	return pool.Wait()
}
