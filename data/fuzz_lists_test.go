package data_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/internal/fuzztest"
)

func FuzzReadGroups(f *testing.F) {
	fuzztest.Reader[[2]data.Group]{
		Read: fuzztest.InFile(f, "t.csv", func(path string) (groups [2]data.Group, err error) {
			groups, _, err = data.ReadGroups(path, "g", nil, data.ReadOptions{})
			return groups, err
		}),
		Check: func(t testing.TB, _ string, groups [2]data.Group) {
			require.NotNil(t, groups[0].Table)
			require.NotNil(t, groups[1].Table)
		},
		Accepts: []string{"g,x1,x2\na,1,2\nb,3,4\na,5,6\nb,7,9\n"},
		Others:  []string{"g,x1\na,1\na,2\n", "x1,g\n1,a\n2,\n3,b\n4,c\n", "g\n", ""},
	}.Fuzz(f)
}

// quoted are the columns of the long tables of prices.
var quoted = data.PriceColumns{Date: "date", Name: "name", Price: "close"}

func FuzzReadPrices(f *testing.F) {
	fuzztest.Reader[*data.Table]{
		Read:  fuzztest.InFile(f, "t.csv", func(path string) (*data.Table, error) { return data.ReadPrices(path, quoted, data.ReadOptions{}) }),
		Check: readsAgain,
		Accepts: []string{
			"date,name,close\n2020-01-01,A,1\n2020-01-02,A,1.5\n2020-01-03,A,1.25\n2020-01-01,B,2\n2020-01-02,B,3\n2020-01-03,B,2.5\n",
			"close;name;date\n1,5;A;2020-01-01\n3;A;2020-01-02\n2;A;2020-01-03\n1;A;2020-01-04\n",
		},
		Refuses: []string{"", "date,name,close\n", "date,name,close\n2020-01-01,A,1\n", "date,name,close\n2020-02-30,A,1\n2020-01-02,A,1\n", "date,name,close\n2020-01-01,A,-1\n2020-01-02,A,1\n", "date,name,close\n2020-01-01,A,1e-320\n2020-01-02,A,1e308\n"},
	}.Fuzz(f)
}
