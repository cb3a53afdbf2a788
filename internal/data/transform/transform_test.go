package transform_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/internal/data/transform"
	"missingscore/internal/fuzztest"
	"missingscore/internal/setting"
)

var inf = math.Inf(1)

func skew(t *testing.T) *data.Table {
	t.Helper()
	a := []float64{0.3, 1.7, 2.2, 2.2, 9.5, 4.1, 0.9, 3.3}
	b := []float64{5, 1, 4, 4, 4, 2, 8, 7}
	c := []float64{0.1, 0.5, 0.7, 0.2, 0.9, 0.4, 0.35, 0.6}
	var values []float64
	for i := range a {
		values = append(values, a[i], b[i], c[i])
	}
	table, err := data.NewTable([]string{"a", "b", "c"}, values, nil)
	require.NoError(t, err)
	return table
}

func fit(t *testing.T, table *data.Table, s *domain.Domain, items ...string) transform.Columns {
	t.Helper()
	spec, err := transform.Parse(items)
	require.NoError(t, err)
	c, err := spec.Fit(table, s)
	require.NoError(t, err)
	return c
}

// Inverse(Forward(x)) = x; Slope equals numerical derivatives, also T”/T'.
func TestFunctions(t *testing.T) {
	for function, at := range map[string][]float64{
		"a=log": {0.1, 1, 30}, "a=log1p": {-0.7, 0, 4}, "a=sqrt": {0.3, 2, 50},
		"a=npn": {-2, 0.5, 3, 7, 20}, "c=logit": {0.1, 0.5, 0.93},
	} {
		f := fit(t, skew(t), nil, function)[function[0]-'a']
		require.Equal(t, function[2:], f.Kind())
		for _, x := range at {
			require.NoError(t, f.Check(x))
			require.InEpsilon(t, x+10, f.Inverse(f.Forward(x))+10, 1e-12, "%s at %g", function, x)
			log, curvature := f.Slope(x)
			slope := func(x float64) float64 {
				return fd.Derivative(f.Forward, x, &fd.Settings{Formula: fd.Central, Step: 1e-5})
			}
			require.InEpsilon(t, slope(x), math.Exp(log), 1e-6, "%s at %g", function, x)
			second := fd.Derivative(slope, x, &fd.Settings{Formula: fd.Central, Step: 1e-3})
			require.InDelta(t, second/slope(x), curvature, 1e-3*(1+math.Abs(curvature)), "%s at %g", function, x)
		}
	}
}

// R 4.2.2, huge 1.3.5: huge.npn(x, npn.func = "shrinkage"), which divides every column by the
// standard deviation of the first.
func TestNormalScoresOfHuge(t *testing.T) {
	y, err := fit(t, skew(t), nil, "npn").Table(skew(t))
	require.NoError(t, err)
	sd := stat.StdDev(y.Column(0), nil)
	for j, want := range [][]float64{
		{-1.518943456104472, -0.535989501943136, 0, 0, 1.518943456104471, 0.951591315094958, -0.951591315094958, 0.535989501943136},
		{0.535989501943136, -1.518943456104472, -0.173853047244748, -0.173853047244748, -0.173853047244748, -0.951591315094958, 1.518943456104471, 0.951591315094958},
	} {
		got := y.Column(j)
		floats.Scale(1/sd, got)
		require.InDeltaSlice(t, want, got, 1e-12)
	}
}

func TestDomain(t *testing.T) {
	names := []string{"a", "b", "c"}
	s := domain.All(3)
	s.Lower[0], s.Upper[0], s.Lower[1] = 0, 20, 0.5
	table := skew(t)
	c := fit(t, table, s, "a=log")
	y, err := c.Domain(s, names)
	require.NoError(t, err)
	require.Equal(t, []float64{-inf, 0.5, -inf}, y.Lower)
	require.Equal(t, []float64{math.Log(20), inf, inf}, y.Upper)
	require.Empty(t, c.Released(s, names))

	s.Upper[0], s.Lower[1] = inf, -inf
	y, err = c.Domain(s, names)
	require.NoError(t, err)
	require.Nil(t, y, "no bound is left")
	require.Equal(t, []string{"a"}, c.Released(s, names))
	for _, kind := range []string{"sqrt", "log1p"} {
		y, err := fit(t, table, s, "a="+kind).Domain(s, names)
		require.NoError(t, err)
		require.Equal(t, 0., y.Lower[0], kind)
	}
	require.Equal(t, []string{"a"}, fit(t, table, s, "a=npn").Released(s, names))

	s.Half = []domain.HalfSpace{{A: []float64{0, 1, 1}, B: 100}}
	y, err = c.Domain(s, names)
	require.NoError(t, err, "a has no part in it")
	require.Equal(t, s.Half, y.Half)
	s.Half[0].A[0] = 1
	_, err = c.Domain(s, names)
	require.EqualError(t, err, "transform a=log: a is in a half-space of the domain, which the function would bend: leave one of the two out")
	var wrong *setting.Error
	require.ErrorAs(t, err, &wrong)
}

func TestMissingness(t *testing.T) {
	names := []string{"a", "b", "c"}
	table := skew(t)
	m := &missingness.Model{Censored: domain.All(3)}
	m.Censored.Upper[0] = 20
	y, err := fit(t, table, nil, "a=log").Missingness(m, names)
	require.NoError(t, err)
	require.Equal(t, math.Log(20), y.Censored.Upper[0])
	require.Equal(t, 20., m.Censored.Upper[0])
	_, err = fit(t, table, nil, "a=npn").Missingness(m, names)
	require.ErrorContains(t, err, "the ranks of its observed cells are biased")

	m = &missingness.Model{Logistic: missingness.NewLogistic(3)}
	m.Logistic.Intercept[1] = 1
	m.Logistic.Slope.Set(1, 2, 0.5)
	_, err = fit(t, table, nil, "a=log").Missingness(m, names)
	require.NoError(t, err)
	_, err = fit(t, table, nil, "c=logit").Missingness(m, names)
	require.ErrorContains(t, err, "transform c=logit: Spec.Missingness hides b by a logistic regression on c")
}

func TestRefusals(t *testing.T) {
	for items, want := range map[string]string{
		"a=lg": `transform a=lg: "lg" is not a function; give column=function, or a function alone for all columns: ` +
			"one of log, log1p, logit, npn, ordinal, sqrt, none",
		"a":           `"a" is not a function`,
		"a=log a=npn": "already has a function",
		"log npn":     "already has a function",
	} {
		_, err := transform.Parse(strings.Fields(items))
		require.ErrorContains(t, err, want)
	}

	table := skew(t)
	_, err := (transform.Spec{Columns: map[string]string{"z": "log"}}).Fit(table, nil)
	require.EqualError(t, err, `transform z=log: there is no column "z"; columns are a, b, c`)
	table.Values[6], table.Lines = -3, []int{2, 3, 5, 6, 7, 8, 9, 10}
	_, err = (transform.Spec{Columns: map[string]string{"a": "log"}}).Fit(table, nil)
	var row *data.RowError
	require.ErrorAs(t, err, &row)
	require.EqualError(t, err, `line 5: column "a": -3 has no log: only numbers above 0 have one`)
	var value *transform.ValueError
	require.True(t, errors.As(err, &value))
	table.Values[6] = 0
	require.NoError(t, fit(t, table, nil, "a=sqrt")[0].Check(0))
	require.Error(t, fit(t, table, nil, "a=sqrt")[0].Check(-1e-300))

	close, err := data.NewTable([]string{"a"}, []float64{1e15, 1e15 + 1, 1e15}, nil)
	require.NoError(t, err)
	_, err = (transform.Spec{Others: "log"}).Fit(close, nil)
	require.ErrorContains(t, err, "transform a=log: it maps every value of a to")
}

func TestOthers(t *testing.T) {
	table := skew(t)
	c := fit(t, table, nil, "npn", "b=log", "c=none")
	require.Equal(t, "npn of a; log of b", c.Describe(table.Names))
	require.Equal(t, []string{"npn of a", "log of b", "c"}, c.Labels(table.Names))
	require.Equal(t, "log of every column", fit(t, table, nil, "log").Describe(table.Names))
	require.Nil(t, fit(t, table, nil, "none"))
	require.Nil(t, fit(t, table, nil))
}

func TestNominal(t *testing.T) {
	x, err := data.NewTable([]string{"x", "g"}, []float64{1, 0, 2, 1, 3, 2, 4, 0}, nil)
	require.NoError(t, err)
	x.Kinds, x.Levels = []data.Kind{data.Number, data.Nominal}, [][]string{nil, {"a", "b", "c"}}
	c := fit(t, x, nil, "npn")
	require.NotNil(t, c[0])
	require.Nil(t, c[1])
	require.Equal(t, transform.OrdinalKind, fit(t, x, nil, "g=ordinal")[1].Kind())
	_, err = (transform.Spec{Columns: map[string]string{"g": "log"}}).Fit(x, nil)
	require.ErrorContains(t, err, "the column is nominal and has no log; leave it out")
}

func TestFiles(t *testing.T) {
	table := skew(t)
	s := domain.All(3)
	s.Lower[0], s.Upper[0] = 0, 12
	c := fit(t, table, s, "a=npn", "b=log1p")
	text, err := c.Encode(table.Names)
	require.NoError(t, err)
	back, err := transform.Read(text, table.Names)
	require.NoError(t, err)
	for _, x := range []float64{-1, 0.5, 3, 20} {
		require.Equal(t, c[0].Forward(x), back[0].Forward(x))
	}
	require.Equal(t, []float64{0, 12}, []float64{back[0].Inverse(-50), back[0].Inverse(50)})
	require.Equal(t, "log1p", back[1].Kind())
	require.Nil(t, back[2])
	none, err := transform.Columns(nil).Encode(table.Names)
	require.NoError(t, err)
	require.Nil(t, none)
}

// Categories 1, 2, 5 with shares 0.3, 0.5, 0.2; thresholds are normal quantiles of 0.3 and 0.8.
func TestOrdinal(t *testing.T) {
	x := slices.Concat(slices.Repeat([]float64{1}, 3), slices.Repeat([]float64{2}, 5), slices.Repeat([]float64{5}, 2))
	f := transform.NewOrdinal(x, nil)
	require.Equal(t, []float64{1, 2, 5}, f.Values())
	require.InDeltaSlice(t, []float64{-0.5244005, 0.8416212}, f.Cuts(), 1e-7)
	require.InDelta(t, -1.0364334, f.Forward(1), 1e-7, "the quantile of 0.15")
	require.InDelta(t, 0.1256613, f.Forward(2), 1e-7, "of 0.55")
	for _, v := range f.Values() {
		require.Equal(t, v, f.Inverse(f.Forward(v)))
		require.NoError(t, f.Check(v))
	}
	require.Equal(t, 2., f.Inverse(0.8))
	require.Equal(t, 5., f.Inverse(0.9))
	require.ErrorContains(t, f.Check(3), "only 1, 2, 5 (3 values) have one")
	for between, nearest := range map[float64]float64{-1: 1, 1.4: 1, 1.6: 2, 3.4: 2, 3.6: 5, 9: 5} {
		require.Equal(t, f.Forward(nearest), f.Forward(between), between)
	}
	moved := f.At([]float64{0, 1})
	require.Equal(t, 1., moved.Inverse(-0.1))
	require.Equal(t, 2., moved.Inverse(moved.Forward(2)))

	columns := transform.Columns{nil, f}
	require.Equal(t, []int{1}, columns.Ordinal())
	text, err := columns.Encode([]string{"a", "b"})
	require.NoError(t, err)
	again, err := transform.Read(text, []string{"a", "b"})
	require.NoError(t, err)
	require.Equal(t, f.Cuts(), again[1].(*transform.Ordinal).Cuts())
	require.Equal(t, moved.Cuts(), columns.At([][]float64{nil, {0, 1}})[1].(*transform.Ordinal).Cuts())
}

func TestByRanks(t *testing.T) {
	for name, kind := range transform.Kinds {
		once, err := json.Marshal(kind.Fit([]float64{0.1, 0.2, 0.7, 0.9}, nil, 0, 1))
		require.NoError(t, err)
		other, err := json.Marshal(kind.Fit([]float64{0.2, 0.3, 0.7, 0.8}, nil, 0, 1))
		require.NoError(t, err)
		require.Equal(t, kind.ByRanks, string(once) != string(other), name)
	}
}

func FuzzRead(f *testing.F) {
	names := []string{"x1", "x2"}
	fuzztest.Reader[transform.Columns]{
		Read: func(text string) (transform.Columns, error) { return transform.Read([]byte(text), names) },
		Write: func(c transform.Columns) (string, error) {
			text, err := c.Encode(names)
			return string(text), err
		},
		Check: func(t testing.TB, text string, c transform.Columns) {
			for _, g := range c {
				if g == nil {
					continue
				}
				for _, x := range []float64{-1e3, -1, 0, 0.5, 1, 2, 1e3} {
					if g.Check(x) != nil {
						continue
					}
					y := g.Forward(x)
					require.False(t, math.IsNaN(y), "%s: T(%g)", text, x)
					require.False(t, math.IsNaN(g.Inverse(y)), "%s: back from T(%g) = %g", text, x, y)
				}
			}
		},
		Accepts: []string{
			`{}`, `{"x1":{"kind":"log"},"x2":{"kind":"sqrt"}}`, `{"x1":{"kind":"log1p"}}`, `{"x2":{"kind":"logit"}}`,
			`{"x1":{"kind":"npn","values":[0,1,5],"scores":[-1,0,1.5],"lower":0}}`,
			`{"x2":{"kind":"npn","values":[-3,2],"scores":[-0.4,0.4],"lower":-4,"upper":9}}`,
			`{"x2":{"kind":"ordinal","categories":[0,1,2],"thresholds":[-0.5,0.7]}}`,
		},
		Messages: map[string]string{
			`{"z":{"kind":"log"}}`:                                            `there is no column "z"`,
			`{"x1":{"kind":"exp"}}`:                                           `column "x1": there is no function "exp"`,
			`{"x1":{"kind":"npn","values":[1,2],"scores":[1,1]}}`:             "must increase",
			`{"x1":{"kind":"npn","values":[0,0],"scores":[0,1]}}`:             "must increase",
			`{"x1":{"kind":"npn","values":[1],"scores":[1]}}`:                 "two values or more",
			`{"x1":{"kind":"npn","values":[0,null],"scores":[0,1]}}`:          "is null",
			`{"x1":{"kind":"ordinal","categories":[1],"thresholds":[]}}`:      "two categories or more",
			`{"x1":{"kind":"ordinal","categories":[2,1],"thresholds":[0]}}`:   "must increase",
			`{"x1":{"kind":"ordinal","categories":[1,2],"thresholds":[0,1]}}`: "one threshold fewer",
			`[1]`:         "it takes no array",
			``:            "it ends too early",
			`null`:        "it is null",
			`{"x1":null}`: "is null",
			`{"x1":7}`:    "takes no number",
		},
	}.Fuzz(f)
}
