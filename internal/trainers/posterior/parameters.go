package posterior

import (
	"errors"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/internal/data/truncnorm"
	"missingscore/internal/stream"
)

// Parameters are equally weighted posterior draws of the mixture's parameters, for rows
// standardised like the first table. Values of rows are as in Config: intervals of Cuts, nominal
// levels 0, 1, ….
type Parameters struct {
	Cuts   [][]float64 // Config.Cuts, per column; nil elements, not a nil slice, for other columns
	Levels []int       // Config.Levels, per column
	Draws  []Mixture   // with equal numbers of components
}

// Mixture is Σ_k w_k N(μ_k, P_k⁻¹) with d numbers per row.
type Mixture struct {
	LogWeights []float64 // (K)
	Means      []float64 // (K, d)
	Precisions []float64 // (K, d, d)
}

func (m Mixture) clone() Mixture {
	return Mixture{slices.Clone(m.LogWeights), slices.Clone(m.Means), slices.Clone(m.Precisions)}
}

// Width returns d, the numbers per row.
func (p *Parameters) Width() int { return Config{Levels: p.Levels}.width(&data.Table{D: len(p.Cuts)}) }

// Check fails unless weights sum to 1 and precisions are positive definite.
func (p *Parameters) Check() error {
	d := p.Width()
	for _, m := range p.Draws {
		if sum := floats.LogSumExp(m.LogWeights); !(math.Abs(sum) < 1e-6) {
			return errors.New("the weights of a draw do not add up to 1")
		}
		var f mat.Cholesky
		for precision := range slices.Chunk(m.Precisions, d*d) {
			if !f.Factorize(dense(precision, d)) {
				return errors.New("a precision is not positive definite")
			}
		}
	}
	return nil
}

// latentSweeps is the number of Gibbs sweeps for rows with observed levels.
const latentSweeps = 50

// Complete draws the missing cells of all rows by parameter draw k modulo len(p.Draws).
func (p *Parameters) Complete(t *data.Table, k int, rng *stream.Stream) (gaps []float64, err error) {
	defer definite(&err)
	m := p.Draws[k%len(p.Draws)]
	s := newChain(t, Config{Cuts: p.Cuts, Levels: p.Levels, Components: len(m.LogWeights)}, nil, rng)
	s.take(m)
	sweeps := 1
	for at, seen := range t.Observed {
		if j := at % t.D; seen && (p.Cuts[j] != nil || p.Levels[j] > 0) {
			sweeps = latentSweeps
		}
	}
	for range sweeps {
		s.allocate()
		s.fill()
		s.latent()
	}
	return s.gaps(), nil
}

// Sample draws rows (n, columns), using each parameter draw in turn.
func (p *Parameters) Sample(n int, rng *stream.Stream) ([]float64, error) {
	d, all := len(p.Cuts), len(p.Draws)
	values := make([]float64, n*d)
	for k := range min(n, all) {
		rows := (n - k + all - 1) / all
		drawn, err := p.Complete(&data.Table{N: rows, D: d, Values: make([]float64, rows*d), Observed: make([]bool, rows*d)}, k, rng)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			copy(values[(i*all+k)*d:], drawn[i*d:i*d+d])
		}
	}
	return values, nil
}

// LogDensity returns a function for the normalised log density of a row's observed cells, averaged
// over the S parameter draws:
//
//	log 1/S Σ_s Σ_k w_sk N(z_o; μ_sk,o, (P_sk⁻¹)_oo) Pr(levels | z_o, s, k)
//
// Probabilities of intervals and levels are exact for one cell with two levels or few values, else
// a mean of 20 importance samples (Geweke, Hajivassiliou and Keane: Train 2009, section 5.6). A row
// without observed cells has 0.
func (p *Parameters) LogDensity() (func(x []float64, observed []bool, rng *stream.Stream) float64, error) {
	d := p.Width()
	var covariances []*mat.SymDense
	var f mat.Cholesky
	for _, m := range p.Draws {
		for precision := range slices.Chunk(m.Precisions, d*d) {
			covariance := mat.NewSymDense(d, nil)
			if !f.Factorize(dense(precision, d)) || f.InverseTo(covariance) != nil {
				return nil, errDependent
			}
			covariances = append(covariances, covariance)
		}
	}
	return func(x []float64, observed []bool, rng *stream.Stream) float64 {
		e := p.event(x, observed)
		var logs []float64
		for s, m := range p.Draws {
			for k, weight := range m.LogWeights {
				logs = append(logs, weight+e.log(m.Means[k*d:k*d+d], covariances[s*len(m.LogWeights)+k], rng))
			}
		}
		return floats.LogSumExp(logs) - math.Log(float64(len(p.Draws)))
	}, nil
}

// event: of linear functions y = Az the first equal low, the others lie in (low, high].
type event struct {
	a         [][]float64 // (q) rows of A (d)
	low, high []float64
	equal     int
}

func (p *Parameters) event(x []float64, observed []bool) (e event) {
	d := p.Width()
	add := func(first int, a []float64, low, high float64) {
		row := make([]float64, d)
		copy(row[first:], a)
		e.a, e.low, e.high = append(e.a, row), append(e.low, low), append(e.high, high)
	}
	one := []float64{1}
	for pass := range 2 {
		first := 0
		for j, v := range x {
			cuts, levels := p.Cuts[j], p.Levels[j]
			width := max(1, levels-1)
			switch number := cuts == nil && levels == 0; {
			case !observed[j] || number != (pass == 0):
			case number:
				add(first, one, v, v)
				e.equal++
			case levels > 0:
				vertices, own := simplex(levels), int(v)*width
				for l := range levels {
					if l != int(v) {
						add(first, floats.SubTo(make([]float64, width), vertices[own:own+width], vertices[l*width:l*width+width]), 0, math.Inf(1))
					}
				}
			default:
				low, high := Interval(cuts, sort.SearchFloat64s(cuts, v))
				add(first, one, low, high)
			}
			first += width
		}
	}
	return e
}

const importanceDraws = 20

func (e *event) log(mean []float64, covariance *mat.SymDense, rng *stream.Stream) float64 {
	q := len(e.a)
	if q == 0 {
		return 0
	}
	of, all, v := mat.NewSymDense(q, nil), make([]int, q), mat.NewVecDense(len(mean), nil)
	for i := range q {
		all[i] = i
		v.MulVec(covariance, mat.NewVecDense(len(mean), e.a[i]))
		for j := range i + 1 {
			of.SetSym(i, j, floats.Dot(e.a[j], v.RawVector().Data))
		}
	}
	var f factor
	if !f.of(of.RawSymmetric().Data, q, all) {
		return math.Inf(-1)
	}
	noise, log := make([]float64, q), 0.0
	ahead := func(i int) float64 { return floats.Dot(e.a[i], mean) + floats.Dot(f.l[i*q:i*q+i], noise[:i]) }
	for i := range e.equal {
		root := f.l[i*q+i]
		noise[i] = (e.low[i] - ahead(i)) / root
		log -= noise[i]*noise[i]/2 + math.Log(root) + math.Log(2*math.Pi)/2
	}
	if e.equal == q {
		return log
	}
	draws := importanceDraws
	if e.equal == q-1 {
		draws = 1
	}
	logs := make([]float64, draws)
	for r := range logs {
		for i := e.equal; i < q; i++ {
			at, root := ahead(i), f.l[i*q+i]
			low, high := (e.low[i]-at)/root, (e.high[i]-at)/root
			logs[r] += truncnorm.LogMass(low, high)
			if i < q-1 {
				noise[i] = truncnorm.Draw(rng.Rand, low, high)
			}
		}
	}
	return log + floats.LogSumExp(logs) - math.Log(float64(draws))
}
