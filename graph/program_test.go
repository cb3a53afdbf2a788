package graph_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
)

type (
	builder = *graph.Builder
	node    = graph.Node
)

func parameter(name string, rows, cols int, seed uint64) *graph.Param {
	p := graph.NewParam(name, rows, cols)
	rng := stream.New(seed, 9)
	for i := range p.Value {
		p.Value[i] = rng.NormFloat64()
	}
	return p
}

func TestOperations(t *testing.T) {
	x, y := parameter("x", 6, 4, 1), parameter("y", 6, 4, 2)
	w, v := parameter("w", 4, 3, 3), parameter("v", 1, 3, 4)
	col, row := parameter("col", 6, 1, 5), parameter("row", 1, 4, 6)
	type of = func(*graph.Param) node
	bent := func(b *graph.Builder, x graph.Node) graph.Node {
		return b.Add(x, b.Scale(0.1, b.Map(graph.Square, x)))
	}
	for name, f := range map[string]func(b builder, n of) node{
		"add":               func(b builder, n of) node { return b.Add(n(x), n(y)) },
		"sub":               func(b builder, n of) node { return b.Sub(n(x), n(y)) },
		"prod":              func(b builder, n of) node { return b.Prod(n(x), n(y)) },
		"square":            func(b builder, n of) node { return b.Map(graph.Square, n(x)) },
		"scale":             func(b builder, n of) node { return b.Scale(-1.7, n(x)) },
		"one operand twice": func(b builder, n of) node { return b.Sub(b.Prod(n(x), n(y)), b.Scale(3, n(x))) },
		"exp":               func(b builder, n of) node { return b.Map(graph.Exp, n(x)) },
		"complement":        func(b builder, n of) node { return b.Map(graph.Complement, n(x)) },
		"logistic":          func(b builder, n of) node { return b.Map(graph.Logistic, n(x)) },
		"log and power": func(b builder, n of) node {
			return b.Map(graph.Power(-0.5), b.Map(graph.Log, b.Map(graph.Complement, b.Scale(-1, b.Map(graph.Exp, n(x))))))
		},
		"log logistic":  func(b builder, n of) node { return b.Map(graph.LogLogistic, n(x)) },
		"row sum":       func(b builder, n of) node { return b.RowSum(n(x)) },
		"column sum":    func(b builder, n of) node { return b.ColSum(n(x)) },
		"columns":       func(b builder, n of) node { return b.Prod(b.Columns(n(col), 4), n(x)) },
		"rows":          func(b builder, n of) node { return b.Prod(b.Rows(n(row), 6), n(x)) },
		"group sum":     func(b builder, n of) node { return b.GroupSum(n(x), 3) },
		"group repeat":  func(b builder, n of) node { return b.Prod(b.GroupRepeat(b.GroupSum(n(x), 3), 3), n(y)) },
		"group softmax": func(b builder, n of) node { return graph.GroupSoftmax(b, n(col), 3) },
		"affine":        func(b builder, n of) node { return b.Affine(n(x), n(w), n(v)) },
		"affine relu":   func(b builder, n of) node { return b.Map(graph.Rectifier, b.Affine(n(x), n(w), n(v))) },
		"group mean":    func(b builder, n of) node { return graph.GroupMean(b, n(col), n(x), 3) },
		"group dot":     func(b builder, n of) node { return b.GroupDot(b.GroupSum(n(y), 3), n(x), 3) },
		"group dot of a repeated row": func(b builder, n of) node {
			return b.GroupDot(b.GroupSum(n(y), 3), b.Rows(n(row), 6), 3)
		},
		"group squares":     func(b builder, n of) node { return graph.GroupSquares(b, b.GroupSum(n(y), 3), n(x), 3) },
		"add row":           func(b builder, n of) node { return b.AddRow(n(x), n(row)) },
		"group outer":       func(b builder, n of) node { return graph.GroupOuter(b, b.GroupSum(n(y), 3), n(col), 3) },
		"group log-sum-exp": func(b builder, n of) node { return graph.GroupLogSumExp(b, n(col), 3) },
		"tile":              func(b builder, n of) node { return graph.Tile(b, n(w), 3) },
		"join rows":         func(b builder, n of) node { return graph.JoinRows(b, n(col), 3) },
		"softplus":          func(b builder, n of) node { return b.Map(graph.Softplus, n(x)) },
		"tanh":              func(b builder, n of) node { return b.Map(graph.Tanh, n(x)) },
		"silu":              func(b builder, n of) node { return b.Map(graph.SiLU, n(x)) },
		"split rows":        func(b builder, n of) node { return b.Map(graph.Square, graph.SplitRows(b, n(x), 2)) },
		"concat columns":    func(b builder, n of) node { return graph.ConcatColumns(b, n(x), n(col)) },
		"matmul":            func(b builder, n of) node { return b.MatMul(false, false, n(x), n(w)) },
		"matmul tn":         func(b builder, n of) node { return b.MatMul(true, false, n(x), n(y)) },
		"matmul nt":         func(b builder, n of) node { return b.MatMul(false, true, n(x), n(y)) },
		"matmul tt":         func(b builder, n of) node { return b.MatMul(true, true, n(w), n(x)) },
	} {
		t.Run(name, func(t *testing.T) {
			var params []*graph.Param
			build := func(b builder) {
				params = nil
				out := f(b, func(q *graph.Param) graph.Node {
					if !slices.Contains(params, q) {
						params = append(params, q)
					}
					return b.Param(q)
				})
				r, c := graph.Shape(out)
				weighted := b.Prod(bent(b, out), b.Input("weights", r, c))
				b.Output("value", out)
				b.Minimise(b.Sum(weighted), params...)
			}
			p, err := graph.Build(build)
			require.NoError(t, err)
			rng := stream.New(7, 7)
			for i := range p.Input("weights") {
				p.Input("weights")[i] = rng.NormFloat64()
			}
			testtables.Gradient(t, p, params, 1e-8, nil)
			second, err := graph.Build(func(b builder) {
				out := f(b, b.Param)
				r, c := graph.Shape(out)
				weighted := b.Prod(bent(b, out), b.Constant(r, c, p.Input("weights")))
				loss := b.Sum(b.Constant(1, 1, []float64{0}))
				for i, q := range params {
					weights := b.Constant(q.Rows, q.Cols, parameter("", q.Rows, q.Cols, uint64(i)).Value)
					along := b.Prod(weights, graph.Gradient(b, weighted, b.Param(q)))
					loss = b.Add(loss, b.Sum(b.Add(b.Map(graph.Square, b.Param(q)), along)))
				}
				b.Minimise(loss, params...)
			})
			require.NoError(t, err)
			testtables.Gradient(t, second, params, 1e-7, nil)

			// In float32 the same, to a hundred roundings (2⁻²⁴ each) of numbers up to a hundred.
			single, err := graph.BuildAs(graph.Float32, build)
			require.NoError(t, err)
			copy(single.Input("weights"), p.Input("weights"))
			require.NoError(t, p.Run())
			require.NoError(t, single.Run())
			require.InDeltaSlice(t, p.Output("value"), single.Output("value"), 6e-4)
			for _, q := range params {
				require.InDeltaSlice(t, p.Grad(q), single.Grad(q), 6e-4)
			}
		})
	}
}

// Values by hand: a wrong value with a consistent gradient fails.
func TestValues(t *testing.T) {
	p, err := graph.Build(func(b builder) {
		x := b.Input("x", 2, 3)
		w := b.Input("w", 3, 2)
		col := b.Input("col", 4, 1)
		b.Output("row sum", b.RowSum(x))
		b.Output("column sum", b.ColSum(x))
		b.Output("product", b.MatMul(false, false, x, w))
		b.Output("gram", b.MatMul(true, true, w, x))
		b.Output("relu", b.Map(graph.Rectifier, b.Affine(x, w, b.Input("bias", 1, 2))))
		b.Output("softmax", graph.GroupSoftmax(b, col, 2))
		b.Output("group sum", b.GroupSum(col, 2))
		b.Output("group repeat", b.GroupRepeat(x, 2))
		b.Output("columns", b.Columns(b.RowSum(x), 2))
		b.Output("sum", b.Sum(x))
		b.Output("group mean", graph.GroupMean(b, b.Input("two", 2, 1), x, 2))
		b.Output("group dot", b.GroupDot(b.RowSum(col), col, 1))
		b.Output("row dot", b.RowDot(x, x))
		b.Output("group squares", graph.GroupSquares(b, b.Input("coefficients", 1, 3), x, 2))
		b.Output("add row", b.AddRow(x, b.ColSum(x)))
	})
	require.NoError(t, err)
	copy(p.Input("x"), []float64{1, 2, 3, 4, 5, 6})
	copy(p.Input("w"), []float64{1, 0, 0, -1, 1, 1})
	copy(p.Input("two"), []float64{10, 1})
	copy(p.Input("coefficients"), []float64{2, 0, 1})
	copy(p.Input("bias"), []float64{-5, 0})
	copy(p.Input("col"), []float64{-1000, -1000, 2000, 2000 + 0.6931471805599453})
	require.NoError(t, p.Run())
	require.Equal(t, []float64{6, 15}, p.Output("row sum"))
	require.Equal(t, []float64{5, 7, 9}, p.Output("column sum"))
	require.Equal(t, []float64{4, 1, 10, 1}, p.Output("product"))
	require.Equal(t, []float64{4, 10, 1, 1}, p.Output("gram"))
	require.Equal(t, []float64{0, 1, 5, 1}, p.Output("relu"))
	require.InDeltaSlice(t, []float64{0.5, 0.5, 1. / 3, 2. / 3}, p.Output("softmax"), 1e-12)
	require.Equal(t, []float64{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}, p.Output("group repeat"))
	require.Equal(t, []float64{6, 6, 15, 15}, p.Output("columns"))
	require.Equal(t, []float64{21}, p.Output("sum"))
	require.Equal(t, []float64{14, 25, 36}, p.Output("group mean"))
	require.Equal(t, []float64{14, 77}, p.Output("row dot"))
	require.Equal(t, []float64{11, 68}, p.Output("group squares")) // 2·1 + 9, 2·16 + 36
	require.Equal(t, []float64{6, 9, 12, 9, 12, 15}, p.Output("add row"))
	require.Equal(t, []float64{1e6, 1e6}, p.Output("group dot")[:2])
}

func TestPartsWithoutAGradient(t *testing.T) {
	x, fixed := parameter("x", 2, 2, 1), parameter("fixed", 2, 2, 2)
	fixed.Fixed = true
	p, err := graph.Build(func(b builder) {
		n := b.Param(x)
		b.Minimise(b.Sum(b.Prod(b.Add(graph.Detach(b, n), b.Param(fixed)), n)), x, fixed)
	})
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, p.Run())
		for i, v := range x.Value {
			require.InDelta(t, v+fixed.Value[i], p.Grad(x)[i], 1e-15) // not 2x
		}
		require.Nil(t, p.Grad(fixed))
		x.Value[0]-- // programs read parameters at each run
	}
}

func TestMistakesAreErrors(t *testing.T) {
	x := parameter("x", 2, 3, 1)
	where := regexp.MustCompile(`graph/program_test\.go:\d+\)$`)
	for want, build := range map[string]func(b builder){
		"add: shape (3, 2), expected (2, 3)": func(b builder) { b.Add(b.Param(x), b.Input("y", 3, 2)) },
		"inner sizes 3 and 2 differ":         func(b builder) { b.MatMul(false, false, b.Param(x), b.Param(x)) },
		"one loss": func(b builder) {
			l := b.Sum(b.Param(x))
			b.Minimise(l, x)
			b.Minimise(l, x)
		},
		`input "y" has shape (1, 2)`:       func(b builder) { b.Input("y", 1, 2); b.Input("y", 2, 1) },
		`does not depend on parameter "x"`: func(b builder) { b.Minimise(b.Sum(graph.Detach(b, b.Param(x))), x) },
		"no output and no loss":            func(b builder) { b.Param(x) },
		"f: input 0 is nil":                func(b builder) { b.Apply(graph.Op{Name: "f"}, nil) },
		"needs d ≥ 2":                      func(b builder) { b.Fail(errors.New("needs d ≥ 2")) },

		"building the expression graph: of the author": func(builder) { panic("of the author") },
		"nil pointer": func(b builder) { b.Sum(nil) },
		"mat: ": func(builder) {
			mat.NewDense(1, 2, nil).Mul(mat.NewDense(1, 2, nil), mat.NewDense(1, 2, nil))
		},
	} {
		p, err := graph.Build(build)
		require.ErrorContains(t, err, want)
		require.Nil(t, p)
		if strings.HasPrefix(err.Error(), "building") {
			require.Regexp(t, where, err.Error(), "a panic says where")
		}
	}
}

func TestKernelFailuresAreErrors(t *testing.T) {
	for _, kernel := range []func([]float64, [][]float64) error{
		func([]float64, [][]float64) error { return errors.New("kernel failed") },
		func(out []float64, _ [][]float64) error { _ = out[7]; return nil },
	} {
		p, err := graph.Build(func(b builder) {
			b.Output("y", b.Apply(graph.Op{Name: "bad", Rows: 1, Cols: 1, Kernel: kernel}, b.Input("x", 1, 1)))
		})
		require.NoError(t, err)
		require.ErrorContains(t, p.Run(), "bad")
		require.Error(t, p.Run(), "and again")
	}
}

// Constants that differ in one number are two.
func TestConstants(t *testing.T) {
	x, y := make([]float64, 400), make([]float64, 400)
	y[200] = 1
	p, err := graph.Build(func(b builder) {
		b.Output("gap", b.Sum(b.Sub(b.Constant(20, 20, y), b.Constant(20, 20, x))))
		b.Output("none", b.Sum(b.Sub(b.Constant(20, 20, y), b.Constant(20, 20, y))))
	})
	require.NoError(t, err)
	require.NoError(t, p.Run())
	require.Equal(t, []float64{1}, p.Output("gap"))
	require.Equal(t, []float64{0}, p.Output("none"))
}
