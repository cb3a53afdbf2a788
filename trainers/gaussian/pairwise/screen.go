package pairwise

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"missingscore/internal/panics"
	"missingscore/losses/pairmoments"
)

const tile = pairmoments.HalfTile // columns of a tile: each pair of tiles is one worker's

// breaking are the pairs that are not active whose derivative V_jk + V_kj is w times least, and
// slack, or more in size, in the order of tiles. V is made tile by tile, for each pair of them
// anew.
func (l *Lasso) breaking(ctx context.Context, least, slack float64) ([][2]int32, error) {
	var tiles [][2]int
	for j := 0; j < l.D; j += tile {
		for k := j; k < l.D; k += tile {
			tiles = append(tiles, [2]int{j, k})
		}
	}
	found := make([][][2]int32, len(tiles))
	pool, ctx := panics.WithContext(ctx)
	workers := max(1, min(l.Workers, len(tiles)))
	if side := min(tile, l.D); len(l.spaces) < workers || len(l.spaces[0].jk) < side*side {
		l.spaces = make([]space, workers)
		for w := range l.spaces {
			l.spaces[w] = space{make([]float64, side*side), make([]float64, side*side), make([]float64, side)}
		}
	}
	for w := range workers {
		pool.Go(func() error {
			s := screen{l, l.spaces[w]}
			for i := w; i < len(tiles); i += workers {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				found[i] = s.look(tiles[i][0], tiles[i][1], least, slack)
			}
			return nil
		})
	}
	if err := pool.Wait(); err != nil {
		return nil, err
	}
	var all [][2]int32
	for _, f := range found {
		all = append(all, f...)
	}
	return all, nil
}

// screen is a worker's look at V of two tiles, both ways.
type screen struct {
	*Lasso
	space
}

// space is what a screen works in: V both ways, and a part of a row of S.
type space struct{ jk, kj, part []float64 }

// look goes through the pairs of the tiles that begin at columns j0 and k0.
func (s *screen) look(j0, k0 int, least, slack float64) (found [][2]int32) {
	high, wide := min(tile, s.D-j0), min(tile, s.D-k0)
	s.products(s.jk, j0, high, k0, wide)
	s.products(s.kj, k0, wide, j0, high)
	for a := range high {
		first := 0
		if j0 == k0 {
			first = a + 1
		}
		for b := first; b < wide; b++ {
			if math.Abs(s.jk[a*wide+b]+s.kj[b*high+a]) >= s.weight(j0+a, k0+b)*least+slack && !s.has(j0+a, k0+b) {
				found = append(found, [2]int32{int32(j0 + a), int32(k0 + b)})
			}
		}
	}
	return found
}

// products sets v to V_jk for some j and some k.
func (s *screen) products(v []float64, j0, high, k0, wide int) {
	for a := range high {
		row, n := v[a*wide:(a+1)*wide], &s.rows[j0+a]
		floats.ScaleTo(row, s.diagonal[j0+a], s.Lasso.part(j0+a, k0, s.space.part[:wide]))
		for i, l := range n.at {
			if n.value[i] != 0 {
				floats.AddScaled(row, n.value[i], s.Lasso.part(int(l), k0, s.space.part[:wide]))
			}
		}
	}
}

// has tells whether a pair is active.
func (s *screen) has(j, k int) bool {
	if len(s.rows[k].at) < len(s.rows[j].at) {
		j, k = k, j
	}
	for _, other := range s.rows[j].at {
		if int(other) == k {
			return true
		}
	}
	return false
}
