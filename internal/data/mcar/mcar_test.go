package mcar

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
)

// correlated are n rows of d normal columns, each with correlation ½ with the one before; observed
// hides cells.
func correlated(n, d int, rng *rand.Rand, observed func(row []float64, seen []bool)) *data.Table {
	t := &data.Table{N: n, D: d, Values: make([]float64, n*d), Observed: make([]bool, n*d)}
	for j := range d {
		t.Names = append(t.Names, fmt.Sprintf("x%d", j+1))
	}
	for i := range n {
		row, x := t.Values[i*d:(i+1)*d], rng.NormFloat64()
		for j := range row {
			x = x/2 + math.Sqrt(0.75)*rng.NormFloat64()
			row[j] = x
		}
		seen := t.Observed[i*d : (i+1)*d]
		for j := range seen {
			seen[j] = true
		}
		observed(row, seen)
	}
	return t
}

func airquality(t *testing.T) *data.Table {
	t.Helper()
	table, err := data.ReadCSV("../../../examples/airquality.csv", data.ReadOptions{NA: data.DefaultNA, Comma: ','})
	require.NoError(t, err)
	return table
}

// Against R 4.2.2:
//
//	a <- read.csv("examples/airquality.csv"); r <- !is.na(a$Ozone)
//	g <- glm(r ~ Wind + Temp, a, family = binomial, control = glm.control(epsilon = 1e-14)); coef(g); deviance(g); g$null.deviance
func TestLogisticRegressionIsThatOfR(t *testing.T) {
	table := airquality(t)
	x, y, ones := mat.NewDense(table.N, 3, nil), make([]float64, table.N), mat.NewDense(table.N, 1, nil)
	for i := range table.N {
		row := table.Values[i*table.D:]
		x.SetRow(i, []float64{1, row[2], row[3]})
		if ones.Set(i, 0, 1); table.Observed[i*table.D] {
			y[i] = 1
		}
	}
	got := logistic(x, y, 1e-9)
	require.InDeltaSlice(t, []float64{2.14410473358498, -0.0410014215015356, -0.00756202412207756}, got.RawVector().Data, 1e-8)
	require.InDelta(t, 168.807917125893, -2*penalised(x, y, got, 0), 1e-8)
	require.InDelta(t, 169.273154073736, -2*penalised(ones, y, logistic(ones, y, 1), 0), 1e-8, "no penalty of the constant")
}

// Against R 4.2.2, a and r as above:
//
//	X <- scale(a[, c("Wind", "Temp", "Month", "Day")], scale = FALSE); u <- (r - mean(r)) * X
//	S <- sum(colSums(u) * solve(crossprod(u), colSums(u)))            # 18.2008668898667
//	pf(S/(153 - S) * (153 - 4)/4, 4, 149, lower.tail = FALSE)
//	wilcox.test(a$Month ~ r, exact = FALSE, correct = FALSE)$p.value  # and of Temp
func TestTestsAreThoseOfR(t *testing.T) {
	table, err := airquality(t).Select([]string{"Ozone", "Wind", "Temp", "Month", "Day"})
	require.NoError(t, err)
	z, _ := data.Standardise(table)
	w := newWork(z, z.N)
	r := &joint{column: 0, predictors: []int{1, 2, 3, 4}}
	require.InEpsilon(t, 0.000787344713096098, robustScore(w.design(r, w.fill(r.predictors))), 1e-6)
	single := w.single(0)
	require.InEpsilon(t, 0.938821562368765, survival(single[1].square), 1e-2) // n − 1 for n
	require.InEpsilon(t, 0.00152321333148273, survival(single[2].square), 1e-9)

	got := TestBy(1, table)
	require.Len(t, got, 1)
	require.Equal(t, "Ozone", got[0].Name)
	require.Equal(t, 37, got[0].Missing)
	require.False(t, got[0].Joint, "37 of them do not suffice for four terms")
	require.InEpsilon(t, 4*0.00152321333148273, got[0].P, 1e-9)
	require.Equal(t, []any{"Month", "low", 4}, []any{got[0].Predictor, got[0].Direction, got[0].Predictors})
}

// R's p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm").
func TestHolmIsThatOfR(t *testing.T) {
	columns := []Column{{P: 0.01}, {P: math.NaN(), Corrected: math.NaN()}, {P: 0.04}, {P: 0.03}, {P: 0.005}}
	holm(columns)
	require.True(t, math.IsNaN(columns[1].Corrected))
	var corrected []float64
	for _, c := range slices.Delete(columns, 1, 2) {
		corrected = append(corrected, c.Corrected)
	}
	require.InDeltaSlice(t, []float64{0.03, 0.06, 0.06, 0.02}, corrected, 1e-15)
}

// Under MCAR 5 % of tables have p below 0.05; with few gaps and blocks the test may be stricter.
func TestCalibrated(t *testing.T) {
	const tables = 300
	hidden := func(p float64, columns ...int) func(*rand.Rand, []bool) {
		return func(rng *rand.Rand, seen []bool) {
			for _, j := range columns {
				seen[j] = rng.Float64() >= p
			}
		}
	}
	blocks := func(rng *rand.Rand, seen []bool) {
		together := rng.Float64() < 0.7
		for j := range seen {
			seen[j] = (j%2 == 0 || !together) && (j == 0 || rng.Float64() >= 0.1)
		}
	}
	for name, c := range map[string]struct {
		n, d   int
		hide   func(*rand.Rand, []bool)
		strict bool
	}{
		"one column with gaps":          {200, 3, hidden(0.3, 1), false},
		"predictors with gaps":          {300, 4, hidden(0.3, 0, 1, 2, 3), false},
		"too few rows for a regression": {100, 8, hidden(0.3, 0, 1, 2, 3, 4, 5, 6, 7), true},
		"gaps in blocks":                {400, 6, blocks, true},
	} {
		t.Run(name, func(t *testing.T) {
			any := 0
			for k := range tables {
				rng := rand.New(rand.NewPCG(uint64(k), 7))
				for _, column := range TestBy(1, correlated(c.n, c.d, rng, func(_ []float64, seen []bool) { c.hide(rng, seen) })) {
					if column.Corrected < level {
						any++
						break
					}
				}
			}
			share, allowed := float64(any)/tables, 3*math.Sqrt(0.05*0.95/tables)
			require.Less(t, share, 0.05+allowed)
			if !c.strict {
				require.Greater(t, share, 0.05-allowed)
			}
		})
	}
}

func TestFindsCellsMissingAtRandom(t *testing.T) {
	table := correlated(2000, 3, rand.New(rand.NewPCG(1, 1)), func(row []float64, seen []bool) { seen[1] = row[0] >= 0 })
	got := TestBy(1, table)
	require.Equal(t, fmt.Sprint(got), fmt.Sprint(TestBy(3, table)), "by workers")
	require.Len(t, got, 1)
	require.Less(t, got[0].P, 1e-100)
	require.True(t, got[0].Depends())
	require.Equal(t, []string{"x2", "x1", "low"}, []string{got[0].Name, got[0].Predictor, got[0].Direction})

	// A weak dependence is nearly always detected, in other columns at most 5 % of the time.
	found, others := 0, 0
	const tables = 100
	for k := range tables {
		rng := rand.New(rand.NewPCG(uint64(k), 8))
		table := correlated(500, 4, rng, func(row []float64, seen []bool) {
			for j := range seen {
				seen[j] = rng.Float64() >= 0.3
			}
			seen[1] = rng.Float64() < 1/(1+math.Exp(-0.8-0.7*row[0]-0.7*row[3]))
		})
		for _, c := range TestBy(1, table) {
			switch {
			case c.Name == "x2" && c.Depends():
				found++
			case c.Name != "x2" && c.Depends():
				others++
			}
		}
	}
	require.GreaterOrEqual(t, found, 95)
	require.LessOrEqual(t, float64(others), 3*0.05*tables+3*math.Sqrt(3*0.05*tables))
}

func TestUnitsAndOrdersDoNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	table := correlated(600, 4, rng, func(row []float64, seen []bool) {
		for j := range seen {
			seen[j] = rng.Float64() < 1/(1+math.Exp(-1-row[3]/2))
		}
		seen[3] = true
	})
	want := TestBy(1, table)
	other := &data.Table{Names: []string{"x4", "x3", "x2", "x1"}, N: table.N, D: 4, Values: make([]float64, len(table.Values)), Observed: make([]bool, len(table.Values))}
	for i := range table.N {
		for j := range 4 {
			from, to := i*4+j, (table.N-1-i)*4+3-j
			other.Values[to], other.Observed[to] = 5e-98-3e-99*table.Values[from]*float64(1+j), table.Observed[from]
		}
	}
	got := TestBy(1, other)
	require.Len(t, got, 3)
	for k, c := range got {
		w := want[2-k]
		require.Equal(t, []any{w.Name, w.Missing, w.Predictor, w.Predictors, w.Joint}, []any{c.Name, c.Missing, c.Predictor, c.Predictors, c.Joint})
		require.InEpsilon(t, w.P, c.P, 1e-6)
		require.InEpsilon(t, w.Corrected, c.Corrected, 1e-6)
		require.NotEqual(t, w.Direction, c.Direction)
	}
}

func TestNothingToTestWith(t *testing.T) {
	table := &data.Table{Names: []string{"a", "b"}, N: 40, D: 2, Values: make([]float64, 80), Observed: make([]bool, 80)}
	for i := range 40 {
		at := 2*i + i%2
		table.Values[at], table.Observed[at] = float64(i*i%7), true
		table.Values[2*i+1-i%2] = math.NaN()
	}
	got := TestBy(1, table)
	require.Len(t, got, 2)
	require.True(t, math.IsNaN(got[0].P))
	require.False(t, got[0].Depends())
	text, err := json.Marshal(got[0])
	require.NoError(t, err)
	require.JSONEq(t, `{"column":"a","missing":20,"p":null,"p_corrected":null,"predictors":0,"predictor":"","direction":""}`, string(text))
	require.Nil(t, Law(table))
	require.Nil(t, Law(&data.Table{Names: []string{"a", "b"}, D: 2, Counted: &data.Counted{Rows: 9, Own: []int{5, 6}}}), "moments have no rows")

	complete := &data.Table{Names: []string{"a", "b"}, N: 2, D: 2, Values: []float64{1, 2, 3, 5}, Observed: []bool{true, true, true, true}}
	require.Empty(t, TestBy(1, complete))
}

func TestDependentPredictors(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	table := correlated(400, 5, rng, func(row []float64, seen []bool) {
		row[3], row[4] = row[1]+row[2], row[1]
		seen[0] = rng.Float64() < 1/(1+math.Exp(-row[1]))
	})
	got := TestBy(1, table)
	require.Less(t, got[0].P, 1e-6)
	require.False(t, math.IsNaN(got[0].P))
	law := Law(table)
	require.False(t, math.IsNaN(mat.Sum(law.Logistic.Slope)))
}

// The law recovers intercept and slopes within four standard errors.
func TestLawIsThatOfTheTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	const n = 20000
	table := correlated(n, 3, rng, func(row []float64, seen []bool) {
		row[2] = 50 + 10*row[2]
		seen[1] = rng.Float64() < 1/(1+math.Exp(-(0.5+row[0]-0.1*(row[2]-50))))
	})
	law := Law(table)
	require.True(t, law.Estimated)
	require.False(t, law.Logistic.Concerns(0))
	se := 4 / math.Sqrt(n*0.15) // about 0.2 n of information a slope
	require.InDelta(t, 5.5, law.Logistic.Intercept[1], 5.5*se)
	require.InDelta(t, 1, law.Logistic.Slope.At(1, 0), se)
	require.InDelta(t, -0.1, law.Logistic.Slope.At(1, 2), se/10)
	require.Zero(t, law.Logistic.Slope.At(1, 1), "no slope on itself")

	require.Nil(t, Law(correlated(500, 3, rand.New(rand.NewPCG(6, 1)), func(_ []float64, seen []bool) {
		for j := range seen {
			seen[j] = rng.Float64() < 0.8
		}
	})))
}

// By R 4.2.2: fisher.test(matrix(c(x, n - x, y, m - y), 2))$p.value.
func TestFisherExactAgainstR(t *testing.T) {
	for _, c := range []struct {
		x, n, y, m int
		want       float64
	}{
		{10, 40, 25, 60, 1.335403412575406e-01},
		{0, 12, 5, 14, 4.247491638795989e-02},
		{120, 200, 90, 230, 1.978536248210631e-05},
		{0, 12, 0, 9, 1},
	} {
		require.InEpsilon(t, c.want, fisherExact(c.x, c.n, c.y, c.m), 1e-9)
		require.InEpsilon(t, c.want, fisherExact(c.y, c.m, c.x, c.n), 1e-9, "either way round")
	}
}

func TestShares(t *testing.T) {
	rows := func(missing []int, n int) *data.Table {
		values, observed := make([]float64, 3*n), make([]bool, 3*n)
		for i := range values {
			values[i], observed[i] = float64(i%7), i/3 >= missing[i%3]
		}
		table, err := data.NewTable([]string{"a", "b", "c"}, values, observed)
		require.NoError(t, err)
		return table
	}
	got := Shares(rows([]int{0, 12, 10}, 40), rows([]int{0, 15, 25}, 60))
	require.Len(t, got, 2, "a has no gaps")
	require.Equal(t, []string{"b", "c"}, []string{got[0].Name, got[1].Name})
	require.InEpsilon(t, 1.335403412575406e-01, got[1].P, 1e-9)
	require.InDelta(t, 2*got[1].P, got[1].Corrected, 1e-12)
	require.False(t, got[0].Differs())
	require.Equal(t, "c is missing in 25 % and 41.7 % of the rows (p 0.27)", got[1].String())
	different := Shares(rows([]int{0, 0, 0}, 40), rows([]int{0, 0, 20}, 40))
	require.Len(t, different, 1)
	require.True(t, different[0].Differs())
	require.Empty(t, Shares(rows([]int{0, 0, 0}, 40), rows([]int{0, 0, 0}, 40)))
}
