package regpath

import (
	"math"
	"slices"

	"missingscore/internal/stream"
)

// rowPart is the rows that a path is fitted on, and those held out, each in ascending order.
type rowPart struct {
	fit     []int // nil: all others
	heldOut []int
}

// fitted are the rows, of all in ascending order, that the path is fitted on.
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

const starsSamples = 20 // as huge and pulsar

// parts are those of a selection: the folds of "cv"; for "stars" subsamples of size 10√n, or 0.8 n
// for n ≤ 144, as its authors recommend; for "stability" the two halves of each halving, where of
// an odd number of rows one is in neither. A part depends on the seed and its number only.
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

// folds are so many parts of about equal size that are held out.
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
