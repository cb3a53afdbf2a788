package graph

import (
	"math"
	"slices"
)

// GroupSoftmax is exp(x_k)/Σ_l exp(x_l) within each r consecutive rows of a column x (n·r, 1).
// Values below 10⁻²⁶ (float64: 10⁻²⁶⁰) of the largest become 0, to avoid slow subnormal products.
func GroupSoftmax(b *Builder, x Node, r int) Node {
	n, _ := shape(x)
	need(b, "group softmax", x, n/r*r, 1)
	if made := b.mapped[mapping{r, x}]; made != nil {
		return made
	}
	made := b.Apply(Op{Name: "groupsoftmax", Rows: n, Cols: 1,
		tangents: func(s *sweep, in []tangents) tangents {
			return s.through(b.Map(Exp, b.Sub(x, b.GroupRepeat(GroupLogSumExp(b, x, r), r))), []Node{x}, in)
		},
		Kernel: groupSoftmax[float64](r), Single: groupSoftmax[float32](r),
		Reverse: func(out, g Node) []Node {
			wg := b.Prod(out, g)
			mean := b.GroupRepeat(b.GroupSum(wg, r), r)
			return []Node{b.Sub(wg, b.Prod(out, mean))}
		}}, x)
	b.mapped[mapping{r, x}] = made
	return made
}

func groupSoftmax[T Float](r int) Kernel[T] {
	least := T(-600)
	if _, single := any(least).(float32); single {
		least = -60
	}
	return func(out []T, in [][]T) error {
		for i := 0; i < len(out); i += r {
			x, w := in[0][i:i+r], out[i:i+r]
			top := x[0]
			for _, v := range x[1:] {
				top = max(top, v)
			}
			var sum T
			for k, v := range x {
				if w[k] = 0; !(v-top < least) {
					w[k] = T(math.Exp(float64(v - top)))
				}
				sum += w[k]
			}
			for k := range w {
				w[k] /= sum
			}
		}
		return nil
	}
}

// GroupLogSumExp is log Σ_k exp(x_k) over each r consecutive rows of a column: (n·r, 1) to (n, 1).
func GroupLogSumExp(b *Builder, x Node, r int) Node {
	n, _ := shape(x)
	need(b, "group log-sum-exp", x, n/r*r, 1)
	return b.Apply(Op{Name: "grouplogsumexp", Rows: n / r, Cols: 1,
		tangents: func(s *sweep, in []tangents) tangents { return s.logSumExp(x, in[0], r) },
		Kernel:   groupLogSumExp[float64](r), Single: groupLogSumExp[float32](r),
		Reverse: func(_, g Node) []Node { return []Node{b.Prod(b.GroupRepeat(g, r), GroupSoftmax(b, x, r))} }}, x)
}

func groupLogSumExp[T Float](r int) Kernel[T] {
	return func(out []T, in [][]T) error {
		for i := range out {
			x := in[0][i*r : i*r+r]
			top := slices.Max(x)
			var sum float64
			for _, v := range x {
				sum += math.Exp(float64(v - top))
			}
			out[i] = top + T(math.Log(sum))
		}
		return nil
	}
}
