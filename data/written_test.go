package data

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPointsBetweenThousands(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	read := func(text string, o ReadOptions) error {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := ReadCSV(path, o)
		_, whole := ParseCSV(strings.NewReader(text), path, o)
		require.Equal(t, err, whole)
		for _, failed := range Blocks(path, o) {
			if failed != nil {
				whole = failed
			}
		}
		require.Equal(t, err, whole)
		rows, failed := OpenRows(path, o, 2)
		require.NoError(t, failed)
		defer rows.Close()
		sums := make([]ColumnSums, len(rows.Names))
		for k := rows.Blocks() - 1; k >= 0; k-- {
			b, failed := rows.Block(k)
			require.NoError(t, failed)
			for j := range sums {
				sums[j].first(b.Column(j))
				sums[j].second(b.Column(j))
			}
		}
		require.Equal(t, err, rows.Refusal(sums))
		o.Columns = rows.Names
		_, completed := ReadCells(path, o)
		require.Equal(t, err, completed)
		return err
	}
	const incomes = "age;income\n51;1.988\n56;\n31;971\n44;12.089\n30;NA\n"
	want := path + `:2: column "income": "1.988" can mean 1988 or 1.988; ReadOptions.Decimal . reads 1.988, ReadOptions.Numbers income ReadOptions.Decimal , reads 1988`
	require.EqualError(t, read(incomes, ReadOptions{}), want)
	require.EqualError(t, read(strings.ReplaceAll(incomes, ";", "\t"), ReadOptions{}), want)
	require.EqualError(t, read(strings.ReplaceAll(incomes, ";", ","), ReadOptions{}), want)
	require.NoError(t, read(incomes, ReadOptions{Decimal: '.'}))
	require.NoError(t, read(incomes, ReadOptions{Decimal: ',', Numbers: []string{"income"}}))
	_, comma := ParseCSV(strings.NewReader(strings.ReplaceAll(incomes, ".", ",")), path, ReadOptions{})
	require.ErrorContains(t, comma, `ReadOptions.Numbers income ReadOptions.Decimal . reads 1988, ReadOptions.Numbers income ReadOptions.Decimal , reads 1.988`, "the twin")
	for what, cells := range map[string][2]string{
		"all cells have decimals": {"971", "971.001"}, "a smaller number": {"12.089", "0.988"}, "two decimals": {"12.089", "12.08"}, "four": {"12.089", "12.0891"},
		"a thousand without a mark": {"12.089", "1000"}, "four digits before it": {"12.089", "1234.089"}, "no number near a thousand": {"971", "5"}, "an exponent": {"971", "9e2"},
	} {
		require.NoError(t, read(strings.Replace(incomes, cells[0], cells[1], 1), ReadOptions{}), what)
	}
	require.ErrorContains(t, read(strings.Replace(incomes, "1.988", "-1.988", 1), ReadOptions{}), `"-1.988" can mean -1988 or -1.988`)
}
