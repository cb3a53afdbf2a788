package data

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"
)

func TestKindsElsewhere(t *testing.T) {
	path := file(t, "t.csv", kindsText())
	o := ReadOptions{Coded: true}
	whole, err := ReadFile(path, o)
	require.NoError(t, err)
	numbers, nominal, err := NumbersOnly(whole)
	require.NoError(t, err)
	require.Equal(t, []string{"num", "whole", "bit", "sex", "smoker", "code"}, numbers.Names)
	require.Equal(t, "city", nominal[0].Name)

	for b, err := range Blocks(path, o) {
		require.NoError(t, err)
		require.Equal(t, numbers.Names, b.Names)
		require.Equal(t, numbers.Values, b.Values)
		require.Equal(t, numbers.Levels[4], b.Levels[4])
	}
	rows, err := OpenRows(path, o, 8)
	require.NoError(t, err)
	defer rows.Close()
	block, err := rows.Block(3)
	require.NoError(t, err)
	require.Equal(t, numbers.Values[24*numbers.D:], block.Values)
	require.Equal(t, numbers.Levels[3], block.Levels[3])

	weighted, err := ReadWeighted(path, "code", ReadOptions{Coded: true, Exclude: []string{"born"}})
	require.NoError(t, err)
	require.Equal(t, []string{"num", "whole", "bit", "sex", "smoker", "city"}, weighted.Names)
	require.Equal(t, whole.Levels[:6], weighted.Levels)

	groups, _, err := ReadGroups(path, "sex", nil, o)
	require.NoError(t, err)
	for _, g := range groups {
		require.Equal(t, []string{"num", "whole", "smoker", "city", "code"}, g.Table.Names, "bit does not vary in a group")
		require.Contains(t, g.Table.LeftOut[len(g.Table.LeftOut)-1].LeftOut, "every value is 1 where sex is f")
		require.Equal(t, whole.Levels[5], g.Table.Levels[3])
	}

	cells, err := ReadCells(path, ReadOptions{Columns: []string{"city", "num"}, Kinds: KindsOf(whole)})
	require.NoError(t, err)
	for i := range cells.Table.N {
		require.Equal(t, whole.Observed[i*whole.D+5], cells.Table.Observed[2*i])
		if cells.Table.Observed[2*i] {
			require.Equal(t, whole.Values[i*whole.D+5], cells.Table.Values[2*i])
		}
	}
	_, err = ReadCells(path, ReadOptions{Columns: []string{"city"}, Kinds: map[string]Column{"city": {Kind: Nominal, Levels: []string{"Bern", "Rome"}}}})
	require.ErrorContains(t, err, `"Oslo" is not one of its levels: Bern, Rome`)
}

func TestFactorsKeepTheirLevels(t *testing.T) {
	levels, n := []string{"low", "mid", "high", "never"}, 40
	factor := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String, Ordered: true}
	region := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	fields := []arrow.Field{
		{Name: "edu", Type: factor}, {Name: "reg", Type: region},
		{Name: "yes", Type: arrow.FixedWidthTypes.Boolean}, {Name: "x", Type: arrow.PrimitiveTypes.Float64},
	}
	type row struct {
		Edu *string `parquet:"edu,optional,dict" json:"edu"`
		Reg string  `parquet:"reg,dict" json:"reg"`
		Yes bool    `parquet:"yes" json:"yes"`
		X   float64 `parquet:"x" json:"x"`
	}
	var rows []row
	var texts []string
	for i := range n {
		r := row{Reg: levels[i%3], Yes: i%4 == 1, X: float64(i*i) / 2}
		if i%7 != 0 {
			r.Edu = &levels[i*2%3]
		}
		text, err := json.Marshal(r)
		require.NoError(t, err)
		rows, texts = append(rows, r), append(texts, string(text))
	}
	dir := t.TempDir()
	feather, plain, pq := filepath.Join(dir, "t.feather"), filepath.Join(dir, "plain.parquet"), filepath.Join(dir, "t.parquet")
	writeArrow(t, feather, fields, levels, texts...)
	var message bytes.Buffer // as R writes it into the file
	require.NoError(t, ipc.NewWriter(&message, ipc.WithSchema(arrow.NewSchema(fields, nil))).Close())
	require.NoError(t, parquet.WriteFile(plain, rows))
	require.NoError(t, parquet.WriteFile(pq, rows, parquet.KeyValueMetadata("ARROW:schema", base64.StdEncoding.EncodeToString(message.Bytes()))))

	for path, want := range map[string][][]string{
		feather: {{"low", "mid", "high"}, {"low", "mid", "high"}, {"0", "1"}, nil},
		pq:      {{"high", "mid", "low"}, {"low", "mid", "high"}, {"0", "1"}, nil}, // dictionary in row order: 1·2 % 3 first
		plain:   {{"high", "low", "mid"}, {"high", "low", "mid"}, {"0", "1"}, nil},
	} {
		got, err := ReadFile(path, ReadOptions{Coded: true})
		require.NoError(t, err)
		require.Equal(t, want, got.Levels, path)
		kind := Ordered
		if path == plain {
			kind = Nominal
		}
		require.Equal(t, []Kind{kind, Nominal, Binary, Number}, got.Kinds)
		for i := range n {
			if require.Equal(t, i%7 != 0, got.Observed[4*i]); i%7 != 0 {
				require.Equal(t, levels[i*2%3], got.Levels[0][int(got.Values[4*i])])
			}
		}
		groups, _, err := ReadGroups(path, "yes", nil, ReadOptions{Coded: true})
		require.NoError(t, err)
		require.Equal(t, want[:2], groups[0].Table.Levels[:2])
	}
}
