package missingness_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data/missingness"
	"missingscore/internal/data/simulate"
	"missingscore/internal/fuzztest"
	"missingscore/internal/stream"
)

var (
	names = []string{"x1", "x2", "x3", "x4", "x5"}
	inf   = math.Inf(1)
)

const text = `{"logistic":{"x1":{"intercept":1.2,"slope":{"x1":-2,"x2":0.5}},"x2":{"intercept":0}},"censored":{"x3":{"above":1.5},"x4":{"below":-1}}}`

func parsed(t *testing.T) *missingness.Model {
	t.Helper()
	m, err := missingness.Parse([]byte(text), names)
	require.NoError(t, err)
	return m
}

func observed(m missingness.Mechanism, x ...float64) []float64 {
	p := make([]float64, len(x))
	m.Observed(p, x)
	return p
}

func TestParseAndWrite(t *testing.T) {
	m := parsed(t)
	require.Equal(t, []float64{1.2, 0, inf, inf, inf}, m.Logistic.Intercept)
	require.Equal(t, []float64{-2, 0.5, 0, 0, 0}, m.Logistic.Slope.RawRowView(0))
	require.Equal(t, []float64{inf, inf, 1.5, inf, inf}, m.Censored.Upper)
	require.Equal(t, []float64{-inf, -inf, -inf, -1, -inf}, m.Censored.Lower)

	var b bytes.Buffer
	require.NoError(t, m.Write(&b, names))
	require.JSONEq(t, text, b.String())

	m.Estimated = true
	b.Reset()
	require.NoError(t, m.Write(&b, names))
	path := filepath.Join(t.TempDir(), "m.json")
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o644))
	again, err := missingness.Read(path, names)
	require.NoError(t, err)
	require.Equal(t, m, again)
	require.True(t, again.Standardised(make([]float64, 5), []float64{1, 1, 1, 1, 1}).Estimated)
	_, err = missingness.Read(path, names[1:])
	require.ErrorContains(t, err, path+`: logistic: there is no column "x1"; columns are x2, x3`)
	_, err = missingness.Read(path+"no", names)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestObserved(t *testing.T) {
	m := parsed(t)
	x := []float64{0.3, -1, 1.6, -0.5, 7}
	want := []float64{1 / (1 + math.Exp(-1.2+2*0.3+0.5)), 0.5, 0, 1, 1}
	require.InDeltaSlice(t, want, observed(m, x...), 1e-15)
	require.Equal(t, []float64{0, 1}, observed(m, 0, 0, 1.5, -1.01, 0)[3:])
	require.Equal(t, 1., observed(m, 0, 0, 1.5, 0, 0)[2], "the threshold itself is observed")

	mean, deviation := []float64{1, 2, 3, 4, 5}, []float64{0.5, 2, 0.1, 3, 4}
	z := make([]float64, len(x))
	for j := range x {
		z[j] = (x[j] - mean[j]) / deviation[j]
	}
	require.InDeltaSlice(t, want, observed(m.Standardised(mean, deviation), z...), 1e-12)

	low, high := m.Support(nil).GapBounds()
	require.Equal(t, []float64{-inf, -inf, 1.5, -inf, -inf}, low)
	require.Equal(t, []float64{inf, inf, inf, -1, inf}, high)
	require.NoError(t, m.Support(nil).Check(names))
	var none *missingness.Model
	require.Nil(t, none.Support(nil))
	require.Nil(t, none.Standardised(nil, nil))
}

func TestElsewhere(t *testing.T) {
	m := parsed(t).Elsewhere(5, 0.2)
	require.InDeltaSlice(t, []float64{1 / (1 + math.Exp(-1.2)), 0.5, 1, 1, 0.8}, observed(m, make([]float64, 5)...), 1e-15)
	require.Equal(t, observed(parsed(t), 1, 2, 3, 4, 5), observed(parsed(t).Elsewhere(5, 0), 1, 2, 3, 4, 5))
}

func TestHide(t *testing.T) {
	const n = 40000
	rng := stream.New(3, stream.Simulate)
	g := simulate.Gaussian{Mean: make([]float64, 5), Precision: mat.NewSymDense(5, []float64{1, .4, 0, 0, 0, .4, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1})}
	complete, err := g.Sample(n, rng)
	require.NoError(t, err)
	m := parsed(t)
	hidden, err := missingness.Hide(complete, m, stream.New(3, stream.Hide))
	require.NoError(t, err)
	var sum, variance [2]float64 // of observed − p, for the first column where the second is observed and where it is not
	for i := range n {
		x, seen := complete.Values[i*5:i*5+5], hidden.Observed[i*5:i*5+5]
		require.Equal(t, []bool{x[2] <= 1.5, x[3] >= -1, true}, seen[2:])
		for j, o := range seen {
			if o {
				require.Equal(t, x[j], hidden.Values[i*5+j])
			} else {
				require.Zero(t, hidden.Values[i*5+j])
			}
		}
		p := observed(m, x...)[0]
		k := 0
		if seen[1] {
			k = 1
		}
		sum[k] -= p * x[0] // weighed by x: a wrong slope does not cancel
		if seen[0] {
			sum[k] += x[0]
		}
		variance[k] += p * (1 - p) * x[0] * x[0]
	}
	for k := range sum {
		require.Less(t, math.Abs(sum[k]), 4*math.Sqrt(variance[k]))
	}
	_, err = missingness.Hide(hidden, m, rng)
	require.ErrorContains(t, err, "needs a complete table")
	never := missingness.NewLogistic(5)
	never.Intercept[1] = -800
	_, err = missingness.Hide(complete, never, rng)
	require.ErrorContains(t, err, `column "x2": no observed value; hide fewer`)
}

func FuzzParse(f *testing.F) {
	fuzztest.Reader[*missingness.Model]{
		Read: func(text string) (*missingness.Model, error) { return missingness.Parse([]byte(text), names) },
		Write: func(m *missingness.Model) (string, error) {
			var text strings.Builder
			err := m.Write(&text, names)
			return text.String(), err
		},
		Accepts: []string{`{"logistic":{"x1":{"intercept":1.2,"slope":{"x1":-0.5,"x2":2}}}}`, `{"censored":{"x2":{"below":1}}}`,
			`{"logistic":{"x1":{"intercept":0}},"censored":{"x2":{"below":1}},"estimated":true}`},
		Messages: map[string]string{
			``:                               "it is empty",
			`{"logistic":`:                   "it ends too early",
			`[]`:                             "it takes no array",
			`{}`:                             `it has neither "logistic" nor "censored": add one`,
			`{"probit":{}}`:                  `unknown field "probit"; it should look like {"logistic"`,
			`{"logistic":{"z":{}}}`:          `logistic: there is no column "z"; columns are x1, x2, x3, x4, x5`,
			`{"logistic":{"x1":{}}}`:         `logistic: column "x1" needs an "intercept", a number`,
			`{"logistic":{"x1":{"at":1}}}`:   `unknown field "at"`,
			`{"censored":{"x1":{}}}`:         `censored: column "x1" needs exactly one of "above" and "below", a number`,
			`{"censored":{"y":{"above":1}}}`: `censored: there is no column "y"`,
			`{"logistic":{"x1":{"intercept":1,"slope":{"q":1}}}}`:               `logistic: slope of column "x1": there is no column "q"`,
			`{"logistic":{"x1":{"intercept":"a"}}}`:                             `logistic: column "x1": "intercept" takes no string`,
			`{"logistic":{"x1":{"intercept":1,"slope":{"x1":true}}}}`:           `logistic: column "x1": "slope" takes no bool`,
			`{"censored":{"x1":{"above":1,"below":0}}}`:                         "needs exactly one of \"above\" and \"below\"",
			`{"censored":{"x1":{"above":1}},"logistic":{"x1":{"intercept":0}}}`: `column "x1" is both logistic and censored`,
			`{"logistic":null}`:                       "is null",
			`{"logistic":{"x1":{"intercept":1e999}}}`: "1e999",
		},
	}.Fuzz(f)
}
