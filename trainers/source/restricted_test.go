package source

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/nets"
)

// Domains that cut the missing columns 1 and 3 of testRow.
func domains() map[string]*domain.Domain {
	box := domain.All(4)
	box.Lower[0], box.Lower[1], box.Upper[3] = -1, -0.2, 0.9
	one := domain.All(4)
	one.Lower[3] = 0.1
	half := domain.All(4)
	half.Half = []domain.HalfSpace{{A: []float64{0.5, 1, 0.3, -0.8}, B: 0.2}}
	other := domain.All(4) // a half-space cuts one of them, a box the other
	other.Upper[1] = 0.5
	other.Half = []domain.HalfSpace{{A: []float64{0.5, 0, 0.3, -0.8}, B: 0.2}}
	both := domain.All(4)
	both.Lower[1] = -0.5
	both.Half = half.Half
	corner := domain.All(4) // far in a corner: rejection fails, chains take over
	corner.Lower[1] = 3.5
	corner.Half = []domain.HalfSpace{{A: []float64{0, 1, 0, -1}, B: -0.5}}
	two := domain.All(4)
	two.Half = []domain.HalfSpace{half.Half[0], {A: []float64{0, -1, 0, -0.4}, B: 0.6}}
	return map[string]*domain.Domain{"everywhere": domain.All(4), "box": box, "one column": one, "half-space": half, "box beside half-space": other,
		"box and half-space": both, "corner": corner, "two half-spaces": two}
}

var moments = []func(x1, x3 float64) float64{
	func(x1, _ float64) float64 { return x1 }, func(_, x3 float64) float64 { return x3 },
	func(x1, x3 float64) float64 { return x1 * x3 }, func(x1, _ float64) float64 { return x1 * x1 },
}

// integrals are mass and moments over the section, with n nodes a cell.
func integrals(s *domain.Domain, density *distmv.Normal, n int) (mass float64, means []float64) {
	x, w := testtables.Nodes(s, testRow, []float64{1, 0, 1, 0}, 8, n)
	means = make([]float64, len(moments))
	for k := range w {
		x1, x3 := x[4*k+1], x[4*k+3]
		w[k] *= math.Exp(density.LogProb([]float64{x1, x3}))
		for i, f := range moments {
			means[i] += w[k] * f(x1, x3)
		}
	}
	mass = floats.Sum(w)
	floats.Scale(1/mass, means)
	return mass, means
}

// Moments weighted by p/p' equal those of the restricted conditional p; if the density is exact,
// the mean of p/p' is the integral of p.
func TestSourcesOnDomains(t *testing.T) {
	const r = 20000
	conditional := oracle(t)
	m, batch := testModel(t), testBatch(1)
	for where, s := range domains() {
		mass, want := integrals(s, conditional, 160)
		coarseMass, coarse := integrals(s, conditional, 80)
		for name, make := range testSources {
			t.Run(where+" "+name, func(t *testing.T) {
				source, err := make(Setting{Model: m, Imputer: nets.NewNormalImputer(4, nets.NormalOptions{DiagonalSD: true, InitialLogS: 0.3}, stream.New(2, 2)),
					Batch: 1, Draws: r, ProposalSD: 2, Domain: s})
				require.NoError(t, err)
				x, log := slice(r*4), slice(r)
				require.NoError(t, source.Complete(batch, x, log, new(stream.Stream).At(3, 3)))
				ratio := slice(r)
				for k := range r {
					row := x[k*4 : k*4+4]
					require.Equal(t, []float64{0.2, -0.7}, []float64{row[0], row[2]})
					require.True(t, s.Contains(row) || nearly(s, row), "%v", row)
					ratio[k] = math.Exp(conditional.LogProb([]float64{row[1], row[3]}) - log[k])
				}
				mean, sd := stat.MeanStdDev(ratio, nil)
				if name == "exact" { // its density lacks the mass inside
					require.InDelta(t, 1, mean, 1e-9)
					require.InDelta(t, 0, sd, 1e-9)
				} else if where == "everywhere" || where == "box" || where == "one column" || where == "half-space" || where == "box beside half-space" {
					require.InDelta(t, mass, mean, 4.5*sd/math.Sqrt(r)+math.Abs(mass-coarseMass))
				}
				for i, f := range moments {
					values := slice(r)
					for k := range r {
						values[k] = f(x[k*4+1], x[k*4+3])
					}
					got := stat.Mean(values, ratio)
					variance := 0.0
					for k := range r {
						variance += math.Pow(ratio[k]*(values[k]-got), 2)
					}
					se := math.Sqrt(variance) / (mean * r)
					require.InDelta(t, want[i], got, 4.5*se+math.Abs(want[i]-coarse[i]), "moment %d", i)
					require.Less(t, se, 0.08, "no power")
				}
			})
		}
	}
}

// Rounding at a half-space's boundary.
func nearly(s *domain.Domain, row []float64) bool {
	wide := *s
	wide.Half = nil
	for _, h := range s.Half {
		wide.Half = append(wide.Half, domain.HalfSpace{A: h.A, B: h.B + 1e-9})
	}
	return wide.Contains(row)
}

func TestRoundingStaysInsideTheBox(t *testing.T) {
	s := domain.All(1)
	s.Lower[0], s.Upper[0] = 0, 1
	b := data.NewBatch(1, 1)
	b.Fill(&data.Table{Names: []string{"a"}, N: 1, D: 1, Values: []float64{math.NaN()}, Observed: []bool{false}}, []int{0}, 1)
	const r = 10
	x, logs := make([]float64, r), make([]float64, r)
	for k := range 100 {
		mean := math.Copysign(1e8+0.37*float64(k), float64(k%2)-0.5)
		c := NewNormals([]float64{mean}, []float64{0.1 + 0.013*float64(k)}, Setting{Draws: r, Domain: s})
		require.NoError(t, c.Complete(b, x, logs, new(Stream).At(1, 1)))
		for _, v := range x {
			require.True(t, 0 <= v && v <= 1, "%v", v)
		}
	}
}
