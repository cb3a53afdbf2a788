package mar

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/simulate"
	"missingscore/internal/stream"
)

// design is a normal distribution of mean 0 with a MAR mechanism.
type design struct {
	precision *mat.SymDense
	// hide sets seen to false for hidden cells of a row. It reads only cells that stay observed.
	hide func(row []float64, seen []bool, rng *rand.Rand)
}

var designs = map[string]design{
	// x → y → z of variance 1; y is hidden if x is below its mean.
	"hidden where low": {chain(0.8, 0.5), func(row []float64, seen []bool, _ *rand.Rand) { seen[1] = row[0] >= 0 }},
	// A ring of five; a logistic regression on column 1 hides columns 3 to 5.
	"logistic": {ring(5, 0.4), func(row []float64, seen []bool, rng *rand.Rand) {
		for j := 2; j < 5; j++ {
			seen[j] = !happens(-0.3+2*row[0], rng)
		}
	}},
	// Edges 1–3, 2–3, 3–4; logistic regressions on columns 1 and 2 hide columns 3 and 4.
	"two predictors": {tree(), func(row []float64, seen []bool, rng *rand.Rand) {
		seen[2] = !happens(-0.5+1.5*row[0]+1.5*row[1], rng)
		seen[3] = !happens(-0.5+1.5*row[0]-1.5*row[1], rng)
	}},
	// Five waves of a first-order process; a high value makes dropout at the next wave more likely.
	"dropout": {chain(0.7, 0.7, 0.7, 0.7), func(row []float64, seen []bool, rng *rand.Rand) {
		for j := 1; j < len(row); j++ {
			seen[j] = seen[j-1] && !happens(-1.5+2*row[j-1], rng)
		}
	}},
	// A chain of six; column 1 hides columns 2 and 3, column 4 hides columns 5 and 6.
	"chain": {chain(0.7, -0.6, 0.7, 0.6, -0.7), func(row []float64, seen []bool, rng *rand.Rand) {
		for _, j := range []int{1, 2} {
			seen[j] = !happens(3*row[0], rng)
		}
		for _, j := range []int{4, 5} {
			seen[j] = !happens(-3*row[3], rng)
		}
	}},
}

// happens is true with probability σ(η).
func happens(eta float64, rng *rand.Rand) bool { return rng.Float64() < 1/(1+math.Exp(-eta)) }

// chain returns the precision of x_{j+1} = ρ_j x_j + √(1 − ρ_j²) ε, with variances 1.
func chain(correlations ...float64) *mat.SymDense {
	d := len(correlations) + 1
	p := mat.NewSymDense(d, nil)
	p.SetSym(0, 0, 1)
	for j, rho := range correlations {
		u := mat.NewVecDense(d, nil)
		u.SetVec(j, -rho)
		u.SetVec(j+1, 1)
		p.SymRankOne(p, 1/(1-rho*rho), u)
	}
	return p
}

// ring joins each of d columns with the next by partial correlations −weight.
func ring(d int, weight float64) *mat.SymDense {
	p := mat.NewSymDense(d, nil)
	for j := range d {
		p.SetSym(j, j, 1)
		p.SetSym(j, (j+1)%d, weight)
	}
	return p
}

// tree joins columns 1, 2 and 4 with 3.
func tree() *mat.SymDense {
	return mat.NewSymDense(4, []float64{
		1, 0, 0.4, 0,
		0, 1, -0.4, 0,
		0.4, -0.4, 1, 0.5,
		0, 0, 0.5, 1,
	})
}

// table draws n rows and hides their cells.
func (c design) table(n int, seed uint64) (*data.Table, error) {
	d := c.precision.SymmetricDim()
	t, err := simulate.Gaussian{Mean: make([]float64, d), Precision: c.precision}.Sample(n, stream.New(seed, stream.Simulate))
	if err != nil {
		return nil, err
	}
	rng := stream.New(seed, stream.Hide)
	values, observed := slices.Clone(t.Values), slices.Repeat([]bool{true}, n*d)
	for i := 0; i < n*d; i += d {
		c.hide(t.Values[i:i+d], observed[i:i+d], rng)
		for j := range d {
			if !observed[i+j] {
				values[i+j] = 0
			}
		}
	}
	return data.NewTable(t.Names, values, observed)
}
