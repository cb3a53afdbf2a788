package regpath

import (
	"math"
	"slices"

	"missingscore/internal/stream"
)

// rowPart has the fitted and the held-out rows of a path, ascending.
type rowPart struct {
	fit     []int // nil: all except the held-out rows
	heldOut []int
}

// fitted returns the fitted rows of all, which is ascending.
func (p rowPart) fitted(all []int) []int {
	if p.fit != nil {
		return p.fit
	}
	rows, heldOut := make([]int, 0, len(all)-len(p.heldOut)), p.heldOut
	for _, row := range all {
		if len(heldOut) > 0 && row == heldOut[0] {
			heldOut = heldOut[1:]
			continue
		}
		rows = append(rows, row)
	}
	return rows
}

const starsSamples = 20 // as in the R packages huge and pulsar

// parts returns the parts of a selection: folds for "cv"; for "stars" subsamples of size 10√n, or
// 0.8 n for n ≤ 144 (its authors' advice); for "stability" both halves of each halving, which omit
// one row of an odd number. A part depends only on the seed and its index.
func (s Selection) parts(rows int, seed uint64) (parts []rowPart) {
	permuted := func(k int) []int { return stream.New(seed, stream.Replicate, uint64(k)).Perm(rows) }
	switch s.Kind {
	case byCV:
		return folds(s.Folds, rows, seed)
	case byStars:
		size := int(10 * math.Sqrt(float64(rows)))
		if rows <= 144 {
			size = int(0.8 * float64(rows))
		}
		for k := range starsSamples {
			parts = append(parts, rowPart{fit: permuted(k)[:size]})
		}
	case byStability:
		for k := range halvings {
			order, half := permuted(k), rows/2
			parts = append(parts, rowPart{fit: order[:half]}, rowPart{fit: order[half : 2*half]})
		}
	}
	for _, p := range parts {
		slices.Sort(p.fit)
	}
	return parts
}

// folds returns disjoint parts of about equal size as held-out rows.
func folds(number, rows int, seed uint64) []rowPart {
	parts := make([]rowPart, number)
	for k := range parts {
		parts[k].heldOut = make([]int, 0, (rows+number-1)/number)
	}
	for i, row := range stream.New(seed, stream.Replicate).Perm(rows) {
		p := &parts[i%number]
		p.heldOut = append(p.heldOut, row)
	}
	for _, p := range parts {
		slices.Sort(p.heldOut)
	}
	return parts
}
