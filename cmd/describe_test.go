package cmd

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/internal/data/mcar"
)

func TestDescribedColumn(t *testing.T) {
	c := newDescribedColumn(data.Column{Name: "x"}, 6, []float64{2, 4, 4, 6}) // deviations −2, 0, 0, 2: 8 of 3
	require.Equal(t, []any{3, 2, 4., math.Sqrt(8. / 3), 2., 6.}, []any{c.Distinct, c.Missing, *c.Mean, *c.SD, *c.Low, *c.High})
	require.Equal(t, "2 to 6", c.holds())
	c = newDescribedColumn(data.Column{Name: "x", Levels: []string{"a", "b", "c", "d"}}, 10, []float64{3, 1, 3, 1, 3, 0, 2, 3})
	require.Nil(t, c.Mean)
	require.Equal(t, []int{1, 2, 1, 4}, c.Counts)
	require.Equal(t, "d 50 %, b 25 %, a 12 %, 1 more", c.holds())
}

func TestEveryTableIsDescribed(t *testing.T) {
	t.Chdir(t.TempDir())
	var table strings.Builder
	table.WriteString(",a,b,slip,city,sex,note,one,none,born,id\n")
	for i := range 60 {
		slip := strconv.Itoa(i * 3 % 7)
		if i == 30 {
			slip = "4o"
		}
		a := strconv.Itoa(i * i % 41)
		if i%9 == 0 {
			a = ""
		}
		fmt.Fprintf(&table, "r%d,%s,%d,%s,%s,%s,n%d,7,,2020-02-%02d,%d\n", i, a, i*i*i%37, slip, []string{"Rome", "Bern", "Oslo"}[i*i*i%37%3], "mf"[i*7%5%2:i*7%5%2+1], i, i%28+1, 900-i)
	}
	require.NoError(t, os.WriteFile("t.csv", []byte(table.String()), 0o600))
	tell := func(args ...string) string {
		said, _ := ran(t, written, args...)
		return said
	}
	out := tell("t.csv", "--kinds-out", "kinds.csv")
	for _, row := range []string{`\n\(no name\) +identifier .*left out: it has no name`, `\na +whole .* 0 to 40 `, `\nslip +number .*must be corrected`, `\ncity +nominal +3 .*Bern \d+ %`, `\nsex +binary +2 .*%`,
		`\nnote +identifier +60`, `\none +constant .*every value is 7`, `\nnone +empty +0 +60 \(100 %\)`, `\nborn +date +28 `, `\nid +identifier`, `warning: .*slip`} {
		require.Regexp(t, row, out)
	}
	_, next, _ := strings.Cut(out, "\nnext:\n")
	lines := strings.Split(strings.TrimSpace(next), "\n")
	require.Len(t, lines, 2)
	for _, line := range lines {
		require.Contains(t, line, "--exclude slip")
		tell(strings.Fields(line)[1:]...)
	}
	kinds, err := os.ReadFile("kinds.csv")
	require.NoError(t, err)
	require.Contains(t, string(kinds), "column,kind,levels\na,whole,\nb,whole,\nslip,number,\ncity,nominal,\"Bern,Oslo,Rome\"\nsex,binary,\"f,m\"\nnote,identifier,\n")
	require.Contains(t, tell("t.csv", "--kinds", "kinds.csv"), "city       nominal")

	for _, text := range []string{"a\nx\n", "a,b\nx,1\n", "a,b\n,\n,\n", "a\n1.5\n", "a,b\nx,y\nx,y\nz,q\n"} {
		require.NoError(t, os.WriteFile("small.csv", []byte(text), 0o600))
		tell("small.csv")
		tell("small.csv", "--json")
	}
}

// The commands to run next mend what the table's warnings tell.
func TestNext(t *testing.T) {
	table := func(header string, n int, line string, values func(i int) []any) string {
		for i := range n {
			header += fmt.Sprintf(line, values(i)...)
		}
		return header
	}
	z := func(i int) float64 { // quantiles of the normal distribution
		return math.Sqrt2 * math.Erfinv(2*(float64(i)+0.5)/200-1)
	}
	skewed := table("zinc,shifted level,c\n", 200, "%g,%g,%g\n", func(i int) []any {
		return []any{math.Exp(2 * z(i)), math.Exp(2*z(i*77%200)) - 1, math.Sin(float64(7 * i))}
	})
	codes := table("a,b\n", 60, "%d,%d\n", func(i int) []any {
		if i%20 == 3 {
			return []any{-99, i * 11 % 13}
		}
		return []any{i * 7 % 5, i * 11 % 13}
	})
	units := table("w,p,x\n", 40, "%d kg,\"%d,%03d\",%d\n", func(i int) []any {
		return []any{50 + i*i%17, 1 + i%5, i * 7, i * i % 23}
	})
	path := filepath.Join(t.TempDir(), "t.csv")
	for _, c := range []struct {
		text, flags, want string
	}{
		{skewed, "", "missingscore network " + path + " --transform 'zinc=log,shifted level=npn' --out t-network\n"},
		{codes, "", " --na NA,-99 "},
		{codes, "", "missingscore impute"},
		{units, "", `warning: column w: numbers with a unit in 40 of 40 cells: "50 kg" -> 50, `},
		{units, "", "missingscore " + path + " --numbers w\n"},
		{units, "--numbers=w,p --dec=.", "missingscore network " + path + " --dec . --numbers w,p "},
		{"a,b,c\n1,0.5,0.2\n0.5,1,0.1\n0.2,0.1,1\n", "", ""}, // a matrix of correlations has no next
	} {
		require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
		said, _ := ran(t, done, append([]string{path}, strings.Fields(c.flags)...)...)
		require.Contains(t, said, c.want)
		require.Equal(t, c.want != "", strings.Contains(said, "\nnext:\n"))
	}
}

func TestSharesAndNumbersForReading(t *testing.T) {
	for want, k := range map[string]int{"0 %": 0, "< 1 %": 9, "1 %": 10, "99 %": 990, "> 99 %": 991, "100 %": 1000} {
		require.Equal(t, want, wholePercent(k, 1000))
	}
	require.Equal(t, "0 rows", counted(0, "row"))
	require.Equal(t, "1 column", counted(1, "column"))
	require.Equal(t, "2 cells", counted(2, "cell"))
}

func TestWhereColumnsAreMissing(t *testing.T) {
	c := mcar.Column{Name: "a", Missing: 9, P: 0.02, Corrected: 0.04, Predictor: "b", Direction: "low"}
	require.Equal(t, "b is low", where(c))
	c.Corrected = 0.2
	require.Equal(t, "unclear; most often where b is low", where(c))
	c.Corrected = 1
	require.Equal(t, "no sign of dependence", where(c))
	c.Predictor = ""
	require.Equal(t, "too few to test", where(c))
}
