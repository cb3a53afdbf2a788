package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/spatial/r2"

	"missingscore/internal/fuzztest"
	"missingscore/internal/printable"
	"missingscore/internal/slowtest"
	"missingscore/internal/stream"
	"missingscore/trainers/compare"
)

func TestErrorJSON(t *testing.T) {
	for message, want := range map[string]errorJSON{
		"cannot":                                                 {},
		"--out x is a file":                                      {Field: "out"},
		"t.csv: cannot be read: it ends":                         {},
		"t.csv:3: two columns are named":                         {File: "t.csv", Line: 3},
		`t.csv:1: no column "Wnd"; there are: Wind`:              {File: "t.csv", Line: 1},
		`C:\x y\t.csv:14: column "a \"b\"": "1,3" is not`:        {File: `C:\x y\t.csv`, Line: 14, Column: `a "b"`, Cell: "1,3"},
		`t.csv:2: column "a": -1 lies outside the domain, above`: {File: "t.csv", Line: 2, Column: "a", Cell: "-1"},
		`--truth: p.csv:2: column "a": "x" is not a number`:      {Field: "truth", File: "p.csv", Line: 2, Column: "a", Cell: "x"},
		`t.csv:2: column "a": it has no value`:                   {File: "t.csv", Line: 2, Column: "a"},
	} {
		want.Error, want.Exit, want.Code = message, exitError, "failed"
		if want.File != "" {
			want.Code = "input"
		}
		got := newErrorJSON(message, exitError)
		require.Equal(t, want, got)
	}
}

// Neither what commands print nor what they write turns the direction of text or steers a terminal.
func TestNamesDoNotSteerReaders(t *testing.T) {
	dir := t.TempDir()
	rng := stream.New(4)
	var rows, said bytes.Buffer
	rows.WriteString("x\u202ecsv.exe,b,c\u2066,sex\n")
	for i := range 80 {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		fmt.Fprintf(&rows, "%.3f,%.3f,%.3f,m\u202e%d\n", a, a+b, b+rng.NormFloat64(), i%2)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	table, labels, groups := at("t\x1b[2J\u202e.csv"), at("labels.csv"), at("groups.csv")
	require.NoError(t, os.WriteFile(table, rows.Bytes(), 0o600))
	require.NoError(t, os.WriteFile(labels, []byte("name,label\nb,\"\x1b[31mred\u202e\"\n"), 0o600))
	require.NoError(t, os.WriteFile(groups, []byte("name,group\nb,g\u202e\nx\u202ecsv.exe,h\x1b\n"), 0o600))
	network, compared, model := at("network"), at("compared"), at("o\u202e.json")
	ran(t, done, "network", table, "--exclude", "sex", "--labels", labels, "--groups", groups, "--inference", "robust", "--out", network)
	ran(t, written, "compare", table, "--by", "sex", "--permutations", "19", "--out", compared)
	files := 0
	for _, out := range []string{network, compared} {
		require.NoError(t, filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) == ".png" || filepath.Ext(path) == ".pdf" || strings.HasPrefix(d.Name(), ".") {
				return err
			}
			files++
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, printable.Text(string(text)), string(text), path)
			return nil
		}))
	}
	require.Greater(t, files, 20)
	for name, want := range map[string]string{
		"pairs.csv": `x\u202ecsv.exe,b,`, "network.dot": `"x\\u202ecsv.exe"`, "network.graphml": `x\u202ecsv.exe</data>`,
		"report.html": `>x\u202ecsv.exe<`, "network.svg": `\u001b[31mred\u202e`,
	} {
		text, err := os.ReadFile(filepath.Join(network, name))
		require.NoError(t, err)
		require.Contains(t, string(text), want)
	}

	for _, args := range [][]string{
		{"network", table, "--exclude", "sex", "--out", at("o\u202e")},
		{"network", table, "--columns", "no\u202e"},
		{"network", table, "--lower", "no\x1b[2J=1"},
		{"network", at("\x1b]0;title\x07")},
		{"x\u202e"},
	} {
		run(args, &said, &said)
	}
	require.Equal(t, printable.Text(said.String()), said.String())
	require.Contains(t, said.String(), `x\u202ecsv.exe`)
	object, _ := ran(t, written, "fit", table, "--exclude", "sex", "--method", "full", "--json", "--out", model)
	var told struct{ Out string }
	require.NoError(t, json.Unmarshal([]byte(object), &told))
	require.Equal(t, model, told.Out)
}

func TestFullDisk(t *testing.T) {
	err := &fs.PathError{Op: "write", Path: "model.json.state", Err: errors.New("no space left on device")}
	require.EqualError(t, explain(err, "table.csv", "model.json.state", ""), "write model.json.state: no space left on device")
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestFullStandardError(t *testing.T) {
	t.Chdir("..")
	var stdout bytes.Buffer
	args := []string{"network", "examples/airquality.csv", "--columns", "Ozone,Wind", "--out", t.TempDir()}
	require.Equal(t, exitDone, run(args, &stdout, full{}))
	require.Contains(t, stdout.String(), "edges")
	require.Equal(t, exitError, run(args, full{}, io.Discard))
}

func TestVersionText(t *testing.T) {
	require.Regexp(t, `^missingscore \(devel\)\ngo\S+ \w+/\w+\nprotocol 1\n$`, versionText(nil))
	require.Regexp(t, `^missingscore v1\.2\.3\n`, versionText(&debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}))
}

func TestNoGoWords(t *testing.T) {
	if testing.Short() {
		t.Skip("the tests that the detector of races runs are the short ones, and this is one of messages")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) string {
		require.NoError(t, os.WriteFile(at(name), []byte(text), 0o600))
		return at(name)
	}
	table, out := write("t.csv", "a,b\n1,2\n3,4\n5,1\n2,2\n"), at("out")
	refused := func(args ...string) {
		_, said := ran(t, denied, args...)
		require.Empty(t, fuzztest.Unknown(strings.ReplaceAll(said, dir, "")), "%q", args)
	}
	for _, flag := range []string{"--lambdas x", "--lambda-max x", "--seed -1", "--seed 1.5", "--json=maybe", "--lambdas 99999999999999999999", "--dtype x",
		`--columns "a`, `--na "x`, "--lower a=x", "-z", "--draws", "--select cv=x", "--select density=x"} {
		refused(append([]string{"network", table, "--out", out}, strings.Fields(flag)...)...)
	}
	for _, options := range []string{`{"hidden":"x"}`, `{`, `{"hidden":[1.5]}`, `nope`, `{"a":[}`, `{"hidden":1e99}`, `[]`, `null`} {
		refused("fit", table, "--out", out, "--model", "energy", "--model-options", options)
		refused("fit", table, "--out", out, "--objective", "sliced", "--objective-options", options)
		refused("fit", table, "--out", out, "--method", "var", "--imputer-options", options)
	}
	const gaussian = `{"version":2,"model":"gaussian","names":["a","b"],"mean":[0,0],"precision":[[1,0],[0,1]]`
	for k, text := range []string{"", "{", "[]", "null", "1", "'", `{"version":"2"}`, `{"version":2}`, `{"version":2e99}`, `{"version":2,"model":3}`, `{"version":2,"model":"gaussian","names":["a","b"]}`,
		strings.Replace(gaussian, "[0,0]", `"x"`, 1) + "}", strings.Replace(gaussian, "[0,0]", "[0,1e999]", 1) + "}", strings.Replace(gaussian, "[0,1]", "[0]", 1) + "}", strings.Replace(gaussian, "[0,1]", `["0",1]`, 1) + "}",
		gaussian + `,"domain":3}`, gaussian + `,"domain":{"lower":{"a":"x"}}}`, gaussian + `,"noise":{"kind":7}}`, gaussian + `,"standardised_by":[]}`, gaussian + `,"imputer":{"kind":"normal","options":{"hidden":"x"}}}`,
		`{"version":2,"model":"energy","options":{"hidden":"x"},"names":["a","b"]}`, `{"version":2,"model":"energy","options":{"hidden":[2]},"names":["a","b"],"parameters":{"weight 1":{"rows":2,"cols":2,"float64":"@@"}}}`,
		`{"lower":3}`, `{"lower":{"a":[]}}`, `{"halfspace":3}`, `{"halfspace":{"a":{"a":"1"},"b":1}}`, `{"lower":{"a":1e999}}`, `{"lower":{"a":01}}`, "{'lower':3}",
		`{"logistic":3}`, `{"logistic":{"a":{"intercept":"x"}}}`, `{"censored":{"a":{"above":"x"}}}`, "\x1f\x8b\x08\x00garbage", "\xff\xfe", "1,2\n", "a,b\n1,x\nx,1\n", "a;b\n1,\"2"} {
		if k%4 > 0 && !slowtest.Set() {
			continue // the others at night
		}
		file := write("broken", text)
		refused("sample", file, "--out", out)
		refused("impute", file, table, "--out", out)
		refused("network", table, "--domain", file, "--out", out)
		refused("network", table, "--missingness", file, "--out", out)
		refused("network", table, "--truth", file, "--out", out)
		refused("network", file, "--out", out)
		refused("network", write("broken.csv.gz", text), "--out", out)
		refused("network", table, "--truth", write("broken.csv.gz", text), "--out", out)
		require.NoError(t, os.MkdirAll(out, 0o755))
		write("out/state.bin", text)
		refused("network", table, "--out", out, "--resume")
	}
	for _, args := range [][]string{{"network", dir}, {"sample", dir}, {"network", table, "--domain", dir}, {"network", table, "--truth", dir}, {"network", at("no/table")}, {"fit", table, "--out", "/proc/none/m.json"}} {
		refused(args...)
	}
	t.Setenv("MISSINGSCORE_MEMORY", "x")
	refused("network", table, "--out", out)
}

// The second run is told who the first is. A killed run's lock is no obstacle.
func TestOneWriter(t *testing.T) {
	t.Chdir("..")
	dir := t.TempDir()
	ran(t, done, "simulate", "star", "--d", "3", "--n", "50", "--out", dir)
	table, model, out := filepath.Join(dir, "data.csv"), filepath.Join(dir, "truth.json"), filepath.Join(dir, "out")
	require.NoError(t, os.Mkdir(out, 0o755))
	at := func(name string) string { return filepath.Join(out, name) }
	for _, c := range []struct {
		lock string
		args []string
	}{
		{folderLock, []string{"network", table, "--out", out}},
		{folderLock, []string{"simulate", "star", "--d", "3", "--n", "50", "--out", out}},
		{".m.json.lock", []string{"fit", table, "--method", "iw", "--epochs", "2", "--out", at("m.json")}},
		{".m.history.csv.lock", []string{"fit", table, "--method", "iw", "--epochs", "2", "--out", at("m.json")}},
		{".c.csv.lock", []string{"impute", model, table, "--out", at("c.csv")}},
		{".c.csv.lock", []string{"score", model, table, "--out", at("c.csv")}},
		{".c.csv.lock", []string{"sample", model, "--out", at("c.csv")}},
	} {
		held := flock.New(at(c.lock))
		ours, err := held.TryLock()
		require.NoError(t, err)
		require.True(t, ours)
		_, said := ran(t, []int{exitError}, c.args...)
		require.Contains(t, said, "another run is writing there: wait until it ends, or choose another --out")
		left, err := os.ReadDir(out)
		require.NoError(t, err)
		require.Len(t, left, 1, "nothing but the lock: %v", c.args)
		require.NoError(t, held.Close())

		require.NoError(t, os.WriteFile(at(c.lock), []byte("1\n"), 0o644)) // of a process that was killed
		ran(t, written, c.args...)
		require.NoFileExists(t, at(c.lock))
		require.NoError(t, os.RemoveAll(out))
		require.NoError(t, os.Mkdir(out, 0o755))
	}
}

func TestFindShards(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	put := func(dir, name string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		return path
	}
	_, err := findShards(shardFile, []string{a, b})
	require.ErrorContains(t, err, "--merge: there is no file shard-1-of-8.bin in "+a+", "+b)
	third, first := put(a, "shard-3-of-3.bin"), put(b, "shard-1-of-3.bin")
	put(a, "shard-2-of-3.bin.old")
	put(b, "moments-2-of-3.bin")
	_, err = findShards(shardFile, []string{a, b})
	require.EqualError(t, err, "--merge: the files of shards 2/3 are missing: run them, or name their folders too")
	far := t.TempDir()
	put(far, "shard-3-of-1000000000000.bin")
	put(far, "shard-0-of-5.bin")
	_, err = findShards(shardFile, []string{far})
	require.ErrorContains(t, err, "shards 1/1000000000000, 2/1000000000000, 4/1000000000000, ")
	require.ErrorContains(t, err, ", 11/1000000000000 and 999999999989 more are missing")
	second := put(b, "shard-2-of-3.bin")
	all, err := findShards(shardFile, []string{a, b})
	require.NoError(t, err)
	require.Equal(t, []string{first, second, third}, all)
	put(b, "shard-1-of-2.bin")
	_, err = findShards(shardFile, []string{a, b})
	require.EqualError(t, err, "--merge: there are shards of 3 and of 2; remove one set")
}

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		given []string
		want  string
	}{
		{[]string{"a b.csv", "--columns", `x,"y,z"`, "--gamma=0.5", "--out", "o", "--workers", "3", "--memory", "8GB"}, `missingscore network 'a b.csv' --columns='x,"y,z"' --gamma=0.5`},
		{[]string{"it's.csv", "--refit=false", "--strict"}, `missingscore network 'it'\''s.csv' --refit=false --strict`},
	} {
		cmd, flags, err := newRoot().Find(append([]string{"network"}, c.given...))
		require.NoError(t, err)
		require.NoError(t, cmd.ParseFlags(flags))
		require.Equal(t, c.want, commandLine(cmd))
	}
}

func TestDifferenceText(t *testing.T) {
	d := compare.Difference{Value: 0.2, Low: math.NaN(), High: math.NaN(), Q: 0.07}
	require.Equal(t, "  difference +0.200  q 0.07", differenceText(d))
	d.Estimates = &compare.Estimates{Value: 0.026, Low: -0.258, High: 0.307, Q: 0.91}
	require.Equal(t, "  difference +0.200  q 0.07; unpenalised  difference +0.026 [-0.258, +0.307]  q 0.91", differenceText(d))
}

func TestFolderName(t *testing.T) {
	taken := []string{"report.html", "women"}
	for name, want := range map[string]bool{
		"men": true, "5": true, "group_1.2": true, "Women": false, "report.html": false, "..": false, ".hidden": false, "a/b": false,
		"a b": false, "a=1": false, "x:y": false, "": false, "größe": false, strings.Repeat("x", 65): false,
	} {
		require.Equal(t, want, folderName(name, taken), "%q", name)
	}
	require.Equal(t, "a|b", plainName("a/b"))
	f := compareCommand{groups: [2]comparedGroup{{value: "a/b"}, {value: "c"}}}
	f.nameFolders()
	require.Equal(t, []string{"a", "b"}, []string{f.groups[0].folder, f.groups[1].folder})
	f.groups[0].value = "m"
	f.nameFolders()
	require.Equal(t, []string{"m", "c"}, []string{f.groups[0].folder, f.groups[1].folder})
}

func TestNothingToEstimateANetworkFrom(t *testing.T) {
	table := filepath.Join(t.TempDir(), "t.csv")
	for text, want := range map[string]string{
		"a,b\n1,\n,2\n3,\n,5\n": "t.csv: a and b are never observed in the same row, nor is any other pair; " +
			"a network needs rows with two or more values",
		"a,b\n1,1\n-1,1\n1,-1\n-1,-1\n": "no two columns are correlated, so the network is empty at every λ",
	} {
		require.NoError(t, os.WriteFile(table, []byte(text), 0o600))
		_, said := ran(t, []int{exitError}, "network", table, "--out", filepath.Join(t.TempDir(), "o"))
		require.Contains(t, said, want)
	}
}

// A stage that begins again starts its clock anew.
func TestTimeLeft(t *testing.T) {
	p := newProgress(&bytes.Buffer{}, false)
	p.count("impute", "chains", 2, 5)
	require.Equal(t, "time left unknown", p.left(2, 5))
	p.start = time.Now().Add(-20 * time.Second)
	p.count("impute", "chains", 4, 5)
	require.Equal(t, "about 10s left", p.left(4, 5))
	p.count("impute", "chains", 1, 5)
	require.Equal(t, "time left unknown", p.left(1, 5))
	p.start = time.Now().Add(-30 * time.Second)
	require.Equal(t, "about 1m30s left", p.left(2, 5))
}

func TestReading(t *testing.T) {
	defer func(d time.Duration) { sayEach = d }(sayEach)
	sayEach = time.Nanosecond
	var said bytes.Buffer
	read := newReading(&said)
	read(500_000, 1_500_000)
	read(600_000, 0)
	require.Equal(t, "reading: 500 of 1501 kB, time left unknown\n", said.String())
}

func TestPictureFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	nodes := []string{"Ozone", "Temp, max", "Wind"}
	var said bytes.Buffer
	f := pictureFlags{groupsFlag: "groups"}
	f.groupsFile = write("groups.csv", "name,group\nOzone,air\n\"Temp, max\",\"weather, mostly\"\nelsewhere,\n")
	f.layoutFile = write("layout.csv", "name,x,y\nOzone,1,-2\n\"Temp, max\",0.5,1e1\nelsewhere,a,b\n")
	require.NoError(t, f.load(&said, nodes))
	require.Equal(t, map[string]string{"Ozone": "air", "Temp, max": "weather, mostly"}, f.style.GroupOf)
	require.Equal(t, map[string]r2.Vec{"Ozone": {X: 1, Y: -2}, "Temp, max": {X: 0.5, Y: 10}}, f.style.Layout)
	require.Equal(t, f.layoutFile+" has no place for Wind; they stand beside their neighbours\n", said.String())
	for text, want := range map[string]string{
		"":                             "--layout: " + f.layoutFile + ":1: the first line must be name,x,y",
		"Ozone,1,2\n":                  "the first line must be name,x,y",
		"name,x,y\nOzone,1\n":          "3 cells a line are expected",
		"name,x,y\nWind,1,2\nWind,1,2": `:3: the column "Wind" has a line already`,
		"name,x,y\nelse,1,2\n":         "names none of the table's columns",
		"name,x,y\nWind,1,\n":          `the place of "Wind" is "1", ""; two numbers are expected`,
		"name,x,y\nWind,1,NaN\n":       "two numbers are expected",
		"name,x,y\nWind,1,1e300\n":     "two numbers are expected",
	} {
		require.NoError(t, os.WriteFile(f.layoutFile, []byte(text), 0o600))
		require.ErrorContains(t, f.load(&said, nodes), want)
	}
}

func TestBoundsOfAColumnWithAnEqualsSign(t *testing.T) {
	lower := []float64{math.Inf(-1), math.Inf(-1)}
	require.NoError(t, narrow(lower, "--lower", []string{"BMI>=30=0.5"}, []string{"BMI>=30", "b"}, math.Max))
	require.Equal(t, []float64{0.5, math.Inf(-1)}, lower)
}
