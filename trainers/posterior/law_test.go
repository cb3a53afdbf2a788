package posterior

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/internal/stream"
)

// A gamma variate of shape 2 and rate 1 that is above l has the mean (l² + 2l + 2)/(l + 1) and
// the second moment (l³ + 3l² + 6l + 6)/(l + 1): where rejection does, where the quantile does, and
// far out, where an exponential tail is within a five-hundredth of what is above l.
func TestGammaAbove(t *testing.T) {
	const n = 20_000
	s := &chain{rng: new(stream.Stream).At(1, stream.Sample)}
	for _, l := range []float64{0.001, 1, 6, 30} {
		mean := (l*l + 2*l + 2) / (l + 1)
		deviation := math.Sqrt((l*l*l+3*l*l+6*l+6)/(l+1) - mean*mean)
		sum := 0.0
		for range n {
			v := s.gammaAbove(l, 2, 1)
			require.GreaterOrEqual(t, v, l)
			sum += v / n
		}
		require.InDelta(t, mean, sum, 4*deviation/math.Sqrt(n)+(mean-l)/500, l)
	}
}

// symmetric is a matrix (a b; b c).
type symmetric struct{ a, b, c float64 }

func (m symmetric) det() float64     { return m.a*m.c - m.b*m.b }
func (m symmetric) slice() []float64 { return []float64{m.a, m.b, m.b, m.c} }
func (m symmetric) inverse() symmetric {
	return symmetric{m.c / m.det(), -m.b / m.det(), m.a / m.det()}
}
func (m symmetric) times(f float64) symmetric {
	return symmetric{f * m.a, f * m.b, f * m.c}
}

// square is vᵀMv.
func (m symmetric) square(x, y float64) float64 { return m.a*x*x + 2*m.b*x*y + m.c*y*y }

func of(v []float64) symmetric { return symmetric{v[0], v[1], v[3]} }

// priorOf draws from the documented prior of two columns, without the code that is tested.
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

// normal is of covariance m.
func (p *priorOf) normal(m symmetric) (x, y float64) {
	x = math.Sqrt(m.a) * p.rng.NormFloat64()
	return x, m.b/m.a*x + math.Sqrt(m.det()/m.a)*p.rng.NormFloat64()
}

// wishart is of mean freedom·m, by Bartlett's decomposition.
func (p *priorOf) wishart(freedom float64, m symmetric) symmetric {
	u := math.Sqrt(p.gamma(freedom/2, 0.5))
	v, w := p.rng.NormFloat64(), math.Sqrt(p.gamma((freedom-1)/2, 0.5))
	l, k, r := math.Sqrt(m.a), m.b/math.Sqrt(m.a), math.Sqrt(m.det()/m.a)
	a, b, c := l*u, k*u+r*v, r*w // LA = (a 0; b c)
	return symmetric{a * a, a * b, b*b + c*c}
}

func (p *priorOf) draw(components int) {
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

// state puts the parameters, and rows drawn from them, into a chain.
func (p *priorOf) state(s *chain) {
	s.nu, s.psi, s.delta, s.tau = p.nu, p.psi.slice(), p.delta, p.tau
	for i := range s.n {
		k := 0
		if p.rng.Float64() > p.weight {
			k = 1
		}
		x, y := p.normal(p.p[k].inverse())
		s.of[i], s.z[2*i], s.z[2*i+1] = k, p.means[k][0]+x, p.means[k][1]+y
	}
	for k := range s.components {
		c := &s.components[k]
		c.log = math.Log(math.Abs(float64(k) - p.weight))
		copy(c.mean, p.means[k][:])
		copy(c.precision, p.p[k].slice())
		copy(c.covariance, p.p[k].inverse().slice())
	}
}

// numbersOf a state, by name: those of a component are of the first row's.
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
	add("w", math.Exp(c.log))
	add("rows", n)
	return names, values
}

// Iterations of a chain leave the joint distribution of parameters and rows as it is: where both
// are drawn from the documented prior, by other code, no number has another mean after three
// iterations (Geweke 2004, "Getting it right"; here with independent starts, so that differences
// are independent). A conditional that loses a factor 2 or a sign is off by 5 standard errors or more.
func TestIterationsKeepTheJointDistribution(t *testing.T) {
	const starts, rows = 4000, 8
	for _, components := range []int{1, 2} {
		p := &priorOf{rng: new(stream.Stream).At(6, stream.Simulate), mean: [2]float64{1, -0.5}, sigma: symmetric{1, 0.6, 2}}
		var a *Anchor
		if components > 1 {
			a = &Anchor{p.mean[:], p.sigma.slice(), p.sigma.inverse().slice()}
		}
		values, observed := make([]float64, 2*rows), make([]bool, 2*rows)
		for at := range observed {
			values[at], observed[at] = float64(at), at%5 > 0
		}
		gaps, err := data.NewTable([]string{"x", "y"}, values, observed)
		require.NoError(t, err)
		s := newChain(gaps, Config{Components: components, Seed: 1}, a, 0)
		var names []string
		var changes [][]float64
		for range starts {
			p.draw(components)
			p.state(s)
			var before, after []float64
			names, before = numbersOf(p, s)
			require.NoError(t, s.steps(t.Context(), 3, func(int) {}))
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
			z := mean / deviation * math.Sqrt(starts)
			require.Less(t, math.Abs(z), 4., name)
		}
	}
}

// The anchor of a normal table is near the distribution that its rows are drawn from.
func TestAnchor(t *testing.T) {
	const n = 400
	rng := stream.New(8)
	var values []float64
	var observed []bool
	for range n {
		x := rng.NormFloat64()
		values, observed = append(values, 2+x, 0.8*x+0.6*rng.NormFloat64()), append(observed, true, rng.Float64() > 0.2)
	}
	z, err := data.NewTable([]string{"x", "y"}, values, observed)
	require.NoError(t, err)
	c := Config{Draws: 1, Components: 2, WarmUp: 5, Iterations: 10, Workers: 1, Seed: 1}
	a, err := c.anchor(t.Context(), z)
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{2, 0}, a.Mean, 4/math.Sqrt(n))
	require.InDeltaSlice(t, []float64{1, 0.8, 0.8, 1}, a.Covariance, 4*math.Sqrt(2./n))
}
