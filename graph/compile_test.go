package graph

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"missingscore/internal/stream"
)

func testGraph(b *Builder, x, w, v *Param) Node {
	h := b.Map(Rectifier, b.Affine(b.Param(x), b.Param(w), b.Param(v)))
	y := b.MatMul(false, true, h, b.Param(w))
	z := b.Sub(b.Prod(y, b.Param(x)), b.Map(Exp, b.Scale(-0.1, b.Param(x))))
	soft := GroupSoftmax(b, b.RowSum(z), 3)
	mean := GroupMean(b, soft, b.Prod(z, Detach(b, y)), 3)
	return b.Sum(b.Prod(mean, b.Add(b.GroupSum(z, 3), mean)))
}

func testParams() (params []*Param) {
	rng := stream.New(3, 1)
	for _, s := range [][2]int{{6, 4}, {4, 5}, {1, 5}} {
		p := NewParam("p", s[0], s[1])
		for i := range p.Value {
			p.Value[i] = rng.NormFloat64()
		}
		params = append(params, p)
	}
	return params
}

func TestWalkEqualsGorgoniasMachine(t *testing.T) {
	params := testParams()
	b := newBuilder(Float64)
	loss := testGraph(b, params[0], params[1], params[2])
	var wrt gorgonia.Nodes
	for _, p := range params {
		wrt = append(wrt, b.params[p])
	}
	grads, err := gorgonia.Grad(loss, wrt...)
	require.NoError(t, err)
	roots := append(gorgonia.Nodes{loss}, grads...)
	for n, memory := range b.sources {
		rows, cols := shape(n)
		require.NoError(t, gorgonia.Let(n, tensor.New(tensor.WithShape(rows, cols), tensor.WithBacking(memory))))
	}
	machine := gorgonia.NewTapeMachine(b.g.SubgraphRoots(roots...))
	defer machine.Close()
	require.NoError(t, machine.RunAll())

	tape, results, err := compile[float64](b, roots, nil)
	require.NoError(t, err)
	for range 2 { // twice: no state is left
		require.NoError(t, tape.run(false))
		for i, n := range roots {
			require.Equal(t, numbers[float64](n.Value()), results[i])
		}
	}
}

func TestSingleParameters(t *testing.T) {
	params := testParams()
	build := func(dtype DType) *Program {
		p, err := BuildAs(dtype, func(b *Builder) {
			b.Minimise(testGraph(b, params[0], params[1], params[2]), params...)
		})
		require.NoError(t, err)
		require.NoError(t, p.Run())
		return p
	}
	copied := build(Float32)
	params[1].KeepSingle()
	kept := build(Float32)
	require.Equal(t, copied.Loss(), kept.Loss())
	require.Equal(t, copied.Grad(params[0]), kept.Grad(params[0]))
	for i, v := range kept.SingleGrad(params[1]) {
		require.Equal(t, copied.Grad(params[1])[i], float64(v))
	}
	require.Panics(t, func() { kept.Grad(params[1]) })
	require.Panics(t, func() { kept.SingleGrad(params[0]) })

	params[1].Single[0] = 3
	require.NoError(t, kept.Run())
	params[1].Widen()
	require.Equal(t, 3.0, params[1].Value[0])
	require.NoError(t, copied.Run())
	require.Equal(t, copied.Loss(), kept.Loss())
	require.InEpsilon(t, build(Float64).Loss(), kept.Loss(), 1e-5, "float64 programs read Value")
}

func TestForeignOperationsAreRefused(t *testing.T) {
	_, err := Build(func(b *Builder) {
		n, err := gorgonia.Tanh(b.Input("x", 2, 2))
		require.NoError(t, err)
		b.Output("y", n)
	})
	require.ErrorContains(t, err, "tanh")
	require.ErrorContains(t, err, "of another package")
}

// RunAgain keeps parts that depend on constants and on other parameters.
func TestRunAgain(t *testing.T) {
	for _, dtype := range []DType{Float64, Float32} {
		runs := 0
		w, v := NewParam("w", 1, 1), NewParam("v", 1, 1)
		p, err := BuildAs(dtype, func(b *Builder) {
			two := b.Apply(Op{Name: "counted", Rows: 1, Cols: 1, Kernel: func(out []float64, in [][]float64) error {
				runs++
				copy(out, in[0])
				return nil
			}}, b.Constant(1, 1, []float64{2}))
			constant := b.Prod(two, b.Map(Square, b.Param(v)))
			b.Minimise(b.Sum(b.Prod(b.Prod(constant, b.Map(Square, b.Param(w))), b.Input("x", 1, 1))), w)
		})
		require.NoError(t, err)
		v.Value[0], w.Value[0], p.Input("x")[0] = 2, 3, 1
		require.NoError(t, p.Run())
		require.Equal(t, 72.0, p.Loss())
		w.Value[0], p.Input("x")[0] = 1, 5
		v.Value[0] = 3 // no effect until the next Run
		for range 2 {
			require.NoError(t, p.RunAgain())
			require.Equal(t, 40.0, p.Loss())
			require.Equal(t, []float64{80}, p.Grad(w))
		}
		require.NoError(t, p.Run())
		require.Equal(t, 90.0, p.Loss())
		require.Equal(t, 2, runs)
	}
}

func TestSingleInput(t *testing.T) {
	build := func(dtype DType) *Program {
		p, err := BuildAs(dtype, func(b *Builder) {
			b.Input("unused", 1, 3)
			b.Output("double", b.Scale(2, b.Input("x", 1, 2)))
		})
		require.NoError(t, err)
		return p
	}
	p := build(Float32)
	copy(p.Input("x"), []float64{1, 2})
	require.NoError(t, p.Run())
	require.Equal(t, []float64{2, 4}, p.Output("double"))
	copy(p.SingleInput("x"), []float32{3, 5})
	require.Len(t, p.SingleInput("unused"), 3)
	require.NoError(t, p.Run())
	require.Equal(t, []float64{6, 10}, p.Output("double"), "float64 is not looked at any more")
	require.Equal(t, []float32{3, 5}, p.SingleInput("x"))
	require.Panics(t, func() { p.SingleInput("y") })
	require.Panics(t, func() { build(Float64).SingleInput("x") })
}
