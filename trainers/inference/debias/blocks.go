package debias

import (
	"missingscore/graph"
	"missingscore/internal/panics"
)

// each does so many tasks, workers at a time, each worker with a product of its own. Which
// worker does which does not change what it comes to.
func each(workers, tasks int, do func(multiply graph.Product[float64], task int) error) error {
	workers = max(1, min(workers, tasks))
	pool := panics.NewGroup()
	for worker := range workers {
		pool.Go(func() error {
			multiply, err := graph.NewProduct()
			for task := worker; err == nil && task < tasks; task += workers {
				err = do(multiply, task)
			}
			return err
		})
	}
	return pool.Wait()
}

// blockWidth is how many rows or columns a block has: a number of the order that matrix
// products are fast at.
const blockWidth = 96

// blocks does each block of so many rows, workers at a time.
func blocks(workers, rows int, do func(multiply graph.Product[float64], at, count int)) error {
	return each(workers, (rows+blockWidth-1)/blockWidth, func(multiply graph.Product[float64], task int) error {
		at := task * blockWidth
		do(multiply, at, min(blockWidth, rows-at))
		return nil
	})
}
