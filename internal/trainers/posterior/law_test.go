package posterior

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/mcmc"
)

// Shape 2 and rate 1 above l: mean (l² + 2l + 2)/(l + 1), second moment (l³ + 3l² + 6l + 6)/(l +
// 1); relative error of the tail below 1/500.
func TestGammaAbove(t *testing.T) {
	const n = 20_000
	s := &chain{rng: new(stream.Stream).At(1, stream.Sample)}
	for _, l := range []float64{0.001, 1, 6, 30} {
		mean := (l*l + 2*l + 2) / (l + 1)
		deviation := math.Sqrt((l*l*l+3*l*l+6*l+6)/(l+1) - mean*mean)
		sum := 0.0
		for range n {
			v := gammaAbove(s.rng.Rand, l, 2, 1)
			require.GreaterOrEqual(t, v, l)
			sum += v / n
		}
		require.InDelta(t, mean, sum, 4*deviation/math.Sqrt(n)+(mean-l)/500, l)
	}
}

// (a b; b c)
type symmetric struct{ a, b, c float64 }

func (m symmetric) det() float64     { return m.a*m.c - m.b*m.b }
func (m symmetric) slice() []float64 { return []float64{m.a, m.b, m.b, m.c} }
func (m symmetric) inverse() symmetric {
	return symmetric{m.c / m.det(), -m.b / m.det(), m.a / m.det()}
}
func (m symmetric) times(f float64) symmetric {
	return symmetric{f * m.a, f * m.b, f * m.c}
}

func (m symmetric) square(x, y float64) float64 { return m.a*x*x + 2*m.b*x*y + m.c*y*y }

func of(v []float64) symmetric { return symmetric{v[0], v[1], v[3]} }

// priorOf draws from the documented prior of two columns, independent of the tested code.
type priorOf struct {
	rng    *stream.Stream
	mean   [2]float64
	sigma  symmetric
	nu     float64
	psi    symmetric
	delta  float64
	tau    float64
	means  [2][2]float64
	p      [2]symmetric
	weight float64 // of the first component
}

func (p *priorOf) gamma(shape, rate float64) float64 {
	return distuv.Gamma{Alpha: shape, Beta: rate, Src: p.rng.Rand}.Rand()
}

func (p *priorOf) normal(m symmetric) (x, y float64) {
	x = math.Sqrt(m.a) * p.rng.NormFloat64()
	return x, m.b/m.a*x + math.Sqrt(m.det()/m.a)*p.rng.NormFloat64()
}

func (p *priorOf) wishart(freedom float64, m symmetric) symmetric {
	u := math.Sqrt(p.gamma(freedom/2, 0.5))
	v, w := p.rng.NormFloat64(), math.Sqrt(p.gamma((freedom-1)/2, 0.5))
	l, k, r := math.Sqrt(m.a), m.b/math.Sqrt(m.a), math.Sqrt(m.det()/m.a)
	a, b, c := l*u, k*u+r*v, r*w // LA = (a 0; b c)
	return symmetric{a * a, a * b, b*b + c*c}
}

// tied: Ψ of one normal has equal variances.
func (p *priorOf) draw(components int, tied bool) {
	p.nu = 3 + math.Ldexp(0.5, p.rng.IntN(12))
	p.weight, p.delta, p.tau = 1, 1, 1
	if components == 1 {
		above := func() (v float64) {
			for v <= 0.001 {
				v = p.gamma(0.5, 0.5)
			}
			return v
		}
		p.psi = symmetric{above(), 0, above()}
		if tied {
			p.psi.c = p.psi.a
		}
		p.means[0] = [2]float64{}
	} else {
		for inside := false; !inside; {
			p.delta = 1 / p.gamma(0.5, 0.5)
			p.psi = p.wishart(4, p.sigma.times(p.delta/4))
			i, j := p.psi.inverse(), p.sigma.inverse()
			inside = 1/i.a > 1e-4/j.a && 1/i.c > 1e-4/j.c
		}
		p.tau = 1 / p.gamma(1, 1)
		u, v := p.gamma(0.5, 1), p.gamma(0.5, 1)
		p.weight = u / (u + v)
		for k := range p.means {
			x, y := p.normal(p.sigma.times(p.tau))
			p.means[k] = [2]float64{p.mean[0] + x, p.mean[1] + y}
		}
	}
	for k := range p.p {
		p.p[k] = p.wishart(p.nu, p.psi.times(p.nu).inverse())
	}
}

func (p *priorOf) state(s *chain) {
	s.nu, s.psi, s.delta, s.tau = p.nu, p.psi.slice(), p.delta, p.tau
	for i := range s.n {
		k := 0
		if p.rng.Float64() > p.weight {
			k = 1
		}
		x, y := p.normal(p.p[k].inverse())
		s.of[i], s.z[2*i], s.z[2*i+1] = k, p.means[k][0]+x, p.means[k][1]+y
		if s.columns[0].vertices != nil {
			s.level[i] = levelOf(s.z[2*i], s.z[2*i+1])
		}
	}
	for k := range s.components {
		c := &s.components[k]
		s.mixture.LogWeights[k] = math.Log(math.Abs(float64(k) - p.weight))
		copy(c.mean, p.means[k][:])
		copy(c.precision, p.p[k].slice())
	}
}

func levelOf(x, y float64) int {
	switch {
	case math.Sqrt(3)*y < -math.Abs(x): // of corners (1, 1/√3), (−1, 1/√3) and (0, −2/√3)
		return 2
	case x < 0:
		return 1
	}
	return 0
}

func numbersOf(p *priorOf, s *chain) (names []string, values []float64) {
	add := func(name string, v float64) { names, values = append(names, name), append(values, v) }
	c, psi := s.components[s.of[0]], of(s.psi)
	precision := of(c.precision)
	n, x, y, all := 0.0, 0.0, 0.0, 0.0
	for i, k := range s.of {
		if k == s.of[0] {
			n++
			x += s.z[2*i] - c.mean[0]
			y += s.z[2*i+1] - c.mean[1]
			all += precision.square(s.z[2*i]-c.mean[0], s.z[2*i+1]-c.mean[1])
		}
	}
	add("ν", math.Log(s.nu-3))
	add("log |Ψ|", math.Log(psi.det()))
	add("log |P|", math.Log(precision.det()))
	add("correlation of P", precision.b/math.Sqrt(precision.a*precision.c))
	add("log tr PΨ", math.Log(precision.a*psi.a+2*precision.b*psi.b+precision.c*psi.c))
	add("(z̄ − μ)ᵀP(z̄ − μ)n", precision.square(x, y)/n)
	add("(z − μ)ᵀP(z − μ)", all/n)
	add("z̄ − μ, first", math.Atan(x/n))
	add("z̄ − μ, second", math.Atan(y/n))
	add("first cell", math.Atan(s.z[0]))
	add("second cell", math.Atan(s.z[5]))
	if s.anchor == nil {
		return names, values
	}
	anchor := p.sigma.inverse()
	square := func(c component) float64 {
		return anchor.square(c.mean[0]-p.mean[0], c.mean[1]-p.mean[1]) / s.tau
	}
	other := s.components[1-s.of[0]]
	add("δ", math.Log(s.delta))
	add("τ", math.Log(s.tau))
	add("correlation of Ψ", psi.b/math.Sqrt(psi.a*psi.c))
	add("log tr Σ̂⁻¹Ψ/δ", math.Log((anchor.a*psi.a+2*anchor.b*psi.b+anchor.c*psi.c)/s.delta))
	add("(μ − μ̂)ᵀΣ̂⁻¹(μ − μ̂)/τ", square(c))
	add("the same of the other component", square(other))
	add("log |P| of the other", math.Log(of(other.precision).det()))
	add("μ, first", math.Atan(c.mean[0]))
	add("μ, second", math.Atan(c.mean[1]))
	add("w", math.Exp(s.mixture.LogWeights[s.of[0]]))
	add("rows", n)
	return names, values
}

// Geweke 2004, "Getting it right", with independent starts: parameters and rows from the documented
// prior; no mean changes in three iterations. A lost factor 2 or sign gives at least 5 standard
// errors.
func TestIterationsKeepTheJointDistribution(t *testing.T) {
	const starts, rows = 4000, 8
	for _, nominal := range []bool{false, true} {
		for _, components := range []int{1, 2} {
			p := &priorOf{rng: new(stream.Stream).At(6, stream.Simulate), mean: [2]float64{1, -0.5}, sigma: symmetric{1, 0.6, 2}}
			var a *anchor
			if components > 1 {
				a = &anchor{p.mean[:], p.sigma.slice(), p.sigma.inverse().slice()}
			}
			c, names := Config{Components: components, Seed: 1}, []string{"x", "y"}
			if nominal {
				c.Levels, names = []int{3}, names[:1]
			}
			values, observed := make([]float64, len(names)*rows), make([]bool, len(names)*rows)
			for at := range observed {
				values[at], observed[at] = float64(at%3), at%5 > 0
			}
			gaps := testtables.Must(data.NewTable(names, values, observed))
			s := newChain(gaps, c, a, c.stream(0))
			if nominal && components == 1 {
				s.observed = make([]bool, rows)
			}
			var changes [][]float64
			for range starts {
				p.draw(components, nominal)
				p.state(s)
				var before, after []float64
				names, before = numbersOf(p, s)
				require.NoError(t, s.steps(t.Context(), 0, 3, func(int) {}))
				_, after = numbersOf(p, s)
				changes = append(changes, after)
				for j, v := range before {
					changes[len(changes)-1][j] -= v
				}
			}
			for j, name := range names {
				var change []float64
				for _, c := range changes {
					change = append(change, c[j])
				}
				mean, deviation := stat.MeanStdDev(change, nil)
				if deviation == 0 { // an observed cell
					continue
				}
				z := mean / deviation * math.Sqrt(starts)
				require.Less(t, math.Abs(z), 4., "%s, components %d, nominal %v", name, components, nominal)
			}
		}
	}
}

func TestAnchor(t *testing.T) {
	const n = 400
	rng := stream.New(8)
	var values []float64
	var observed []bool
	for range n {
		x := rng.NormFloat64()
		values, observed = append(values, 2+x, 0.8*x+0.6*rng.NormFloat64()), append(observed, true, rng.Float64() > 0.2)
	}
	z := testtables.Must(data.NewTable([]string{"x", "y"}, values, observed))
	c := Config{Draws: 1, Components: 2, WarmUp: 5, Iterations: 10, Workers: 1, Seed: 1}
	a, err := c.anchor(t.Context(), z)
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{2, 0}, a.mean, 4/math.Sqrt(n))
	require.InDeltaSlice(t, []float64{1, 0.8, 0.8, 1}, a.covariance, 4*math.Sqrt(2./n))
}

func TestHopeless(t *testing.T) {
	for c, want := range map[[3]float64]bool{ // R-hats of columns and cells, rounds
		{2.59, 1.1, 1}: false, {2.61, 1.1, 1}: true, {1.1, 1.79, 1}: false, {1.1, 1.81, 1}: true, {2.61, 1.81, 2}: false,
	} {
		d := Drawn{Mixing: &mcmc.Mixing{Worst: c[0]}, Cells: &mcmc.Mixing{Worst: c[1]}}
		require.Equal(t, want, d.hopeless(int(c[2])), "%v", c)
	}
}

// Two rows, one observed at 1; halves of four draws m ± 1, m = 1 in one of five chains, else 0:
// variance between halves 0.25 · 2/10 · 8/10 · 10/9, within 0.25 · 4/3.
func TestRHats(t *testing.T) {
	var of []quantity
	for k := range chains {
		m := 0.
		if k == 0 {
			m = 1
		}
		s := &chain{n: 2, d: 1, columns: []column{{width: 1, incomplete: true}}, observed: []bool{true, false}, z: []float64{1, 0}}
		r := &run{chain: s}
		for i := range 8 {
			s.z[1] = m + 1 - 2*float64(i%2)
			r.tally(i/4, 8)
		}
		require.InDelta(t, ((m-1)*(m-1)+1)/4/2, r.Quantities[0].Sampling, 1e-12) // ((1 − z)/2)² over two rows, z = m ± 1
		of = append(of, r.Quantities[0])
	}
	between := 8. / 45 // of the cell's means
	require.InDelta(t, math.Sqrt((1+between)/(4./3)), cellsRHat(of), 1e-12)
	sampling := (4*0.25 + 0.125) / 5
	require.InDelta(t, math.Sqrt((0.25+sampling+between/4)/(1./3+sampling)), meanRHat(of), 1e-12)
}

func TestResumed(t *testing.T) {
	rng := stream.New(4)
	z := &data.Table{Names: []string{"a", "b", "c"}, N: 60, D: 3}
	for i := range z.N {
		x := rng.NormFloat64()
		z.Values = append(z.Values, x, x*x-1+0.3*rng.NormFloat64(), float64(i%3))
		z.Observed = append(z.Observed, rng.Float64() > 0.3, rng.Float64() > 0.5, rng.Float64() > 0.2)
	}
	for _, c := range []Config{{Draws: 7, Keep: 3, Levels: []int{0, 0, 3}, Components: 3, Seed: 1}, {Draws: 2, Seed: 1, Levels: []int{0, 0, 3}, Components: 1}} {
		whole, err := Draw(t.Context(), z, c)
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "state")
		c.Partial = NewPartial("run")
		var again *Drawn
		testtables.Resumed(t, func(ctx context.Context, save func() error) (err error) {
			c.Save = func(p *Partial) error { return errors.Join(p.Save(path), save()) }
			if again, err = Draw(ctx, z, c); err != nil {
				c.Partial = testtables.Must(LoadPartial(path, "run", nil))
			}
			return err
		})
		require.Equal(t, whole, again)
	}
}
