package bound

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot/vg"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/simulate"
	"missingscore/graph/model"
	"missingscore/internal/picture"
	"missingscore/internal/stream"
)

func configured(t *testing.T, size string, changes map[string]any) json.RawMessage {
	t.Helper()
	var sizes map[string]map[string]any
	require.NoError(t, json.Unmarshal(config, &sizes))
	for name, value := range changes {
		sizes[size][name] = value
	}
	raw, err := json.Marshal(sizes[size])
	require.NoError(t, err)
	return raw
}

func TestGrid(t *testing.T) {
	for size, cells := range map[string]int{"full": 40 * 5 * 6, "smoke": 3 * 3 * 3} {
		g, err := grid(configured(t, size, nil), 0)
		require.NoError(t, err)
		require.Len(t, g.Cells, cells, size)
		seen := map[string]bool{}
		for _, c := range g.Cells {
			require.Len(t, c.Key, len(g.Key))
			seen[strings.Join(c.Key, ",")] = true
		}
		require.Len(t, seen, cells)
	}
	g, err := grid(configured(t, "smoke", map[string]any{"rows": []int{5, 20}}), 2)
	require.NoError(t, err)
	require.Len(t, g.Cells, 2*(2+3), "r = n stands among the draws already")
	for name, value := range map[string]any{"half_width": 2, "neighbour": 9, "delta": 0, "unknown": 1} {
		_, err := grid(configured(t, "smoke", map[string]any{name: value}), 1)
		require.Error(t, err, name)
	}
}

func TestCellsAreReproducible(t *testing.T) {
	raw := configured(t, "smoke", map[string]any{"rows": []int{30}, "draws": []int{2}})
	var lines [2][][]string
	for k := range lines {
		g, err := grid(raw, 2)
		require.NoError(t, err)
		for _, c := range g.Cells {
			values, err := c.Run(context.Background())
			require.NoError(t, err)
			require.Len(t, values, len(g.Value))
			lines[k] = append(lines[k], values)
		}
	}
	require.Equal(t, lines[0], lines[1])
	require.NotEqual(t, lines[0][0], lines[0][1], "replicates differ")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	g, err := grid(raw, 1)
	require.NoError(t, err)
	_, err = g.Cells[0].Run(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

// The theorem's rate by hand: d = 2, so 5 parameters.
func TestRate(t *testing.T) {
	s := settings{Columns: 2, Diameter: 10, Delta: 0.1}
	require.InDelta(t, math.Sqrt(5*math.Log(2*100*40*10/0.1)/40), s.rate(100, 40), 1e-12)
	require.InDelta(t, math.Sqrt(5*math.Log(2*40*100*10/0.1)/40), s.rate(40, 100), 1e-12)
}

// small is a truth of two columns and another model, on a box that is not the same for
// both columns.
func small(t *testing.T) (truth simulate.Gaussian, other *model.Gaussian, box *domain.Domain) {
	t.Helper()
	truth = simulate.Gaussian{Mean: []float64{0.4, -0.2}, Precision: mat.NewSymDense(2, []float64{2, 1.1, 1.1, 1.5})}
	other = natural(simulate.Gaussian{Mean: []float64{-0.1, 0.3}, Precision: mat.NewSymDense(2, []float64{1, -0.4, -0.4, 3})})
	return truth, other, &domain.Domain{Lower: []float64{-1, -0.5}, Upper: []float64{0.6, 0.9}}
}

// Against adaptive integrals of the definition: marginal scores as differences of the
// log of a marginal density, g as the distance to the bounds.
func TestDivergenceByDefinition(t *testing.T) {
	truth, other, box := small(t)
	const missing = 0.3
	got := newDivergence(natural(truth), box, missing, 8)
	require.InDelta(t, 0, got.of(natural(truth)), 1e-20)

	log := func(m *model.Gaussian, x, y float64) float64 {
		p, h := m.Precision(), m.Location.Value
		return -0.5*(p.At(0, 0)*x*x+2*p.At(0, 1)*x*y+p.At(1, 1)*y*y) + h[0]*x + h[1]*y
	}
	integral := func(f func(float64) float64, j int) float64 {
		low, high := box.Lower[j], box.Upper[j]
		middle := (low + high) / 2
		return quad.Fixed(f, low, middle, 40, nil, 0) + quad.Fixed(f, middle, high, 40, nil, 0)
	}
	at := func(j int, own, other float64) (x, y float64) {
		if j == 0 {
			return own, other
		}
		return other, own
	}
	g := func(j int, own float64) float64 { return min(own-box.Lower[j], box.Upper[j]-own, 1) }
	star, total, want := natural(truth), 0.0, 0.0
	total = integral(func(x float64) float64 {
		return integral(func(y float64) float64 { return math.Exp(log(star, x, y)) }, 1)
	}, 0)
	for j := range 2 {
		// Column j alone.
		marginal := func(m *model.Gaussian, own float64) float64 {
			return math.Log(integral(func(unseen float64) float64 {
				return math.Exp(log(m, first(at(j, own, unseen)), second(at(j, own, unseen))))
			}, 1-j))
		}
		score := func(m *model.Gaussian, own float64) float64 {
			return fd.Derivative(func(own float64) float64 { return marginal(m, own) }, own, &fd.Settings{Formula: fd.Central, Step: 1e-4})
		}
		want += (1 - missing) * missing * integral(func(own float64) float64 {
			gap := score(star, own) - score(other, own)
			return math.Exp(marginal(star, own)) / total * g(j, own) * gap * gap
		}, j)
		// Both columns.
		want += (1 - missing) * (1 - missing) * integral(func(own float64) float64 {
			return integral(func(seen float64) float64 {
				x, y := at(j, own, seen)
				slope := func(m *model.Gaussian) float64 {
					return m.Location.Value[j] - m.Precision().At(j, 0)*x - m.Precision().At(j, 1)*y
				}
				gap := slope(star) - slope(other)
				return math.Exp(log(star, x, y)) / total * g(j, own) * gap * gap
			}, 1-j)
		}, j)
	}
	require.InEpsilon(t, want, got.of(other), 1e-6)
}

func first(x, _ float64) float64  { return x }
func second(_, y float64) float64 { return y }

// Nothing missing: draws of the truth give the divergence within four standard errors.
func TestDivergenceByDraws(t *testing.T) {
	truth, other, box := small(t)
	sample, err := truth.SampleInside(box, 20000, stream.New(1, stream.Simulate))
	require.NoError(t, err)
	p, q := truth.Precision, other.Precision()
	values := make([]float64, sample.N)
	for i := range values {
		x := sample.Values[2*i : 2*i+2]
		for j := range 2 {
			gap := natural(truth).Location.Value[j] - other.Location.Value[j]
			for k := range 2 {
				gap -= (p.At(j, k) - q.At(j, k)) * x[k]
			}
			values[i] += min(x[j]-box.Lower[j], box.Upper[j]-x[j], 1) * gap * gap
		}
	}
	mean, sd := stat.MeanStdDev(values, nil)
	require.InDelta(t, mean, newDivergence(natural(truth), box, 0, 8).of(other), 4*stat.StdErr(sd, float64(len(values))))
}

// More nodes do not move the divergence by what is printed.
func TestQuadratureIsExactEnough(t *testing.T) {
	for _, size := range []string{"full", "smoke"} {
		s, err := read(configured(t, size, nil))
		require.NoError(t, err)
		truth, err := s.truth()
		require.NoError(t, err)
		off := natural(simulate.Gaussian{Mean: slices.Repeat([]float64{-0.2}, s.Columns), Precision: scaled(truth.Precision, 1.5)})
		require.InEpsilon(t, newDivergence(natural(truth), s.box(), s.Missing, s.Nodes+4).of(off), newDivergence(natural(truth), s.box(), s.Missing, s.Nodes).of(off), 1e-4)
	}
}

func scaled(p *mat.SymDense, by float64) *mat.SymDense {
	var out mat.SymDense
	out.ScaleSym(by, p)
	return &out
}

// At the minimum no nearby parameters do better on the same draws, wherever it started.
func TestMinimise(t *testing.T) {
	s, err := read(configured(t, "smoke", nil))
	require.NoError(t, err)
	truth, err := s.truth()
	require.NoError(t, err)
	table, err := truth.SampleInside(s.box(), 60, stream.New(3, stream.Simulate))
	require.NoError(t, err)
	table, err = data.HideMCAR(table, s.Missing, stream.New(3, stream.Hide))
	require.NoError(t, err)
	m, n := model.NewGaussian(s.Columns, model.Natural), natural(truth)
	require.NoError(t, s.minimise(context.Background(), table, m, 5, 7))
	require.NoError(t, s.minimise(context.Background(), table, n, 5, 7))
	require.InDeltaSlice(t, m.Location.Value, n.Location.Value, 1e-4)
	require.InDeltaSlice(t, m.Packed.Value, n.Packed.Value, 1e-4)

	least, _, err := s.objective(table, m, 5, 7)
	require.NoError(t, err)
	for _, p := range m.Params() {
		for k := range p.Value {
			for _, step := range []float64{-0.01, 0.01} {
				p.Value[k] += step
				more, _, err := s.objective(table, m, 5, 7)
				require.NoError(t, err)
				require.Greater(t, more, least)
				p.Value[k] -= step
			}
		}
	}
	s.Iterations = 1
	err = s.minimise(context.Background(), table, model.NewGaussian(s.Columns, model.Natural), 5, 7)
	require.ErrorContains(t, err, "no minimum of the objective was found")
}

// Power laws made up, with noise of a known size: the slope lies in its interval as often
// as it should.
func TestFitPower(t *testing.T) {
	exact := func(x float64) float64 { return 3 * math.Pow(x, -0.7) }
	var points []point
	for _, x := range []float64{10, 20, 40, 80} {
		points = append(points, point{x, math.Log(exact(x)), 0.1})
	}
	got, err := fitPower(points)
	require.NoError(t, err)
	require.InDelta(t, -0.7, got.b, 1e-12)
	// By hand: log x − mean = ln 2 · {−1.5, −0.5, 0.5, 1.5}, Σ squares 5 ln²2, t(0.975; 2) = 4.302653.
	require.InDelta(t, 4.302653*0.1/(math.Ln2*math.Sqrt(5)), got.high-got.b, 1e-6)
	require.InDelta(t, got.b, (got.low+got.high)/2, 1e-12)

	// A point with a large error counts little: weights are 1/se².
	points = append(points, point{160, 5, 100})
	got, err = fitPower(points)
	require.NoError(t, err)
	require.InDelta(t, -0.7, got.b, 1e-4)
	_, err = fitPower(points[:2])
	require.ErrorContains(t, err, "at least 3")

	rng := stream.New(1, stream.Simulate)
	inside := 0
	const runs = 400
	for range runs {
		var noisy []point
		for _, x := range []float64{10, 20, 40, 80, 160} {
			values := make([]float64, 30)
			for i := range values {
				values[i] = exact(x) * math.Exp(0.5*rng.NormFloat64())
			}
			noisy = append(noisy, newPoint(x, values))
		}
		b, err := fitPower(noisy)
		require.NoError(t, err)
		if b.low <= -0.7 && -0.7 <= b.high {
			inside++
		}
	}
	// Wider than needed, for χ² below its mean is not rewarded: at least 95 % less four standard errors.
	require.GreaterOrEqual(t, float64(inside), runs*(0.95-4*math.Sqrt(0.95*0.05/runs)))
}

// results follow J = law(n, r) with noise that a replicate's cells of one n share.
func results(replicates int, noise float64, law func(n, r int) float64) cells.Results {
	s := settings{Columns: 2, Diameter: 20, Delta: 0.05}
	r := cells.Results{Columns: []string{rowsColumn, drawsColumn, replicateColumn, "method", divergenceColumn, rateColumn}}
	for _, n := range []int{100, 200, 400, 800} {
		for _, draws := range []int{2, 20, n} {
			for k := 1; k <= replicates; k++ {
				e := math.Exp(noise * stream.New(1, uint64(n), uint64(k)).NormFloat64())
				r.Lines = append(r.Lines, []string{fmt.Sprint(n), fmt.Sprint(draws), fmt.Sprint(k), "iw", fmt.Sprint(law(n, draws) * e), fmt.Sprint(s.rate(n, draws))})
			}
		}
	}
	return r
}

func TestClaims(t *testing.T) {
	inverse := func(n, _ int) float64 { return 30 / float64(n) }
	floor := func(n, r int) float64 { return 30/float64(n) + 1/float64(r*r) }
	slow := func(n, _ int) float64 { return 3 * math.Pow(float64(n), -0.2) }
	root := func(n, _ int) float64 { return 3 / math.Sqrt(float64(n)) }
	better := func(n, r int) float64 { return 30 / float64(n) * (1 + float64(r)/1000) }
	for name, c := range map[string]struct {
		r    cells.Results
		want [3]claims.Outcome // rate, log rate, needs draws
	}{
		"1/n with a floor": {results(20, 0.1, floor), [3]claims.Outcome{claims.Holds, claims.Holds, claims.Holds}},
		"1/√n":             {results(20, 0.01, root), [3]claims.Outcome{claims.Holds, claims.DoesNotHold, claims.Undecided}},
		"too slow":         {results(20, 0.1, slow), [3]claims.Outcome{claims.DoesNotHold, claims.DoesNotHold, claims.Undecided}},
		"draws do harm":    {results(20, 0.1, better), [3]claims.Outcome{claims.Holds, claims.Undecided, claims.DoesNotHold}},
		"much noise":       {results(4, 3, inverse), [3]claims.Outcome{claims.Undecided, claims.Undecided, claims.Undecided}},
		"too few":          {results(2, 0.1, floor), [3]claims.Outcome{claims.Undecided, claims.Undecided, claims.Undecided}},
		"nothing":          {results(0, 0.1, floor), [3]claims.Outcome{claims.Undecided, claims.Undecided, claims.Undecided}},
	} {
		for k, claim := range statements {
			v, err := claim.Test(c.r)
			require.NoError(t, err)
			require.Equal(t, c.want[k], v.Outcome, "%s, %s: %+v", name, claim.ID, v)
			require.Equal(t, c.want[k], v.Anytime, "%s, %s: %+v", name, claim.ID, v)
			require.NotEmpty(t, v.Evidence)
		}
	}
	v, err := statements[0].Test(results(20, 0.01, inverse))
	require.NoError(t, err)
	require.Contains(t, v.Evidence, "in n = r -1.0")
	require.Contains(t, v.Evidence, "in n at r = 20 -1.0")
	require.Contains(t, v.Evidence, "in r at n = 400")
	require.Equal(t, 20, v.Replicates)
}

func TestFigures(t *testing.T) {
	raw := configured(t, "full", map[string]any{"rows": []int{100, 200, 400, 800}, "draws": []int{2, 20}})
	figures, err := Experiment.Figures(raw, results(5, 0.01, func(n, r int) float64 { return 30/float64(n) + 1/float64(r*r) }))
	require.NoError(t, err)
	require.Len(t, figures, 2)
	require.Less(t, figures[0].Plot.Y.Max, 1.0, "the theorem's rate starts where r = n does, not at its own size")
	for k, parts := range [][]string{{"r = n: -", "r = 20: -0.", "theorem, r = n", "rows n"}, {"n = 800: -", "theorem, n = 800", "draws for each row"}} {
		svg, err := picture.SVG(figures[k].Plot, vg.Length(figures[k].Width)*vg.Centimeter, vg.Length(figures[k].Height)*vg.Centimeter)
		require.NoError(t, err)
		for _, part := range parts {
			require.Contains(t, svg, part)
		}
	}
	figures, err = Experiment.Figures(raw, results(0, 0, nil))
	require.NoError(t, err)
	require.Empty(t, figures)
}
