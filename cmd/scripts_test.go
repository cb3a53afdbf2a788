package cmd

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"missingscore/internal/simd"
	"missingscore/internal/slowtest"
)

// Tests set how often processes save their state.
const saveEachVariable = "MISSINGSCORE_TEST_SAVE_EACH"

func TestMain(m *testing.M) {
	later := sayEach
	sayEach = time.Millisecond // of tests within this process
	testscript.Main(m, map[string]func(){"missingscore": func() {
		if each, err := time.ParseDuration(os.Getenv(saveEachVariable)); err == nil {
			saveEach = each
		}
		sayEach = later
		Main()
	}})
}

// ran runs a command in this process.
func ran(t *testing.T, codes []int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, said bytes.Buffer
	require.Contains(t, codes, run(args, &out, &said), "%q: %s", args, &said)
	return out.String(), said.String()
}

var (
	done    = []int{exitDone}
	written = []int{exitDone, exitUnconverged}
	denied  = []int{exitError, exitUsage}
)

// TestScripts runs testdata/script. Two commands are added:
//
//	section NAME            go into the folder NAME, which has the examples
//	refused REGEXP ARGS...  missingscore ARGS fails, and its message matches
func TestScripts(t *testing.T) {
	t.Parallel()
	examples, err := filepath.Abs("../examples")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"section": func(ts *testscript.TestScript, _ bool, args []string) {
				dir := filepath.Join(ts.Getenv("WORK"), args[0])
				ts.Check(os.MkdirAll(dir, 0o755))
				ts.Check(os.Symlink(examples, filepath.Join(dir, "examples")))
				ts.Check(ts.Chdir(dir))
				ts.Setenv("MISSINGSCORE_MEMORY", "")
			},
			"refused": func(ts *testscript.TestScript, _ bool, args []string) {
				if ts.Exec("missingscore", args[1:]...) == nil {
					ts.Fatalf("it is not refused")
				}
				if !regexp.MustCompile("(?m)" + args[0]).MatchString(ts.ReadFile("stderr")) {
					ts.Fatalf("its message does not match %s", args[0])
				}
			},
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "data":
				return os.Getenv("MISSINGSCORE_DATA") != "", nil
			case "slow":
				return slowtest.Set(), nil
			}
			return false, fmt.Errorf("there is no condition %q", name)
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("MISSINGSCORE_DATA", os.Getenv("MISSINGSCORE_DATA"))
			for name, text := range map[string]string{ // txtar cannot hold these line ends
				"crlf.csv": "a,b\r\n1,2\r\n2,NA\r\n3,5\r\n5,4\r\n2,2\r\n",
				"bom.csv":  "\ufeffa,b\n1,2\n2,NA\n3,5\n5,4\n2,2\n",
			} {
				if err := os.WriteFile(filepath.Join(env.WorkDir, name), []byte(text), 0o600); err != nil {
					return err
				}
			}
			return os.Symlink(examples, filepath.Join(env.WorkDir, "examples"))
		},
	})
}

// Each block of output in a tutorial has, in order, lines that the commands since the last block
// printed. Tables of R's packages need Rscript with the package.
func TestTutorials(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH != "amd64" || simd.Instructions() == "no vectors" {
		t.Skip("the tutorials' last digits are those of AVX2 and FMA")
	}
	for page, blocks := range map[string]int{"questionnaire": 3, "concentrations": 4, "clinical": 3} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			slowtest.Skip(t, "8 to 30 s")
			text, err := os.ReadFile("../docs/tutorials/" + page + ".md")
			require.NoError(t, err)
			require.Equal(t, blocks, follow(t, string(text)), "blocks of output")
		})
	}
}

var (
	fence = regexp.MustCompile("(?ms)^```(json|csv)?\n(.*?)^```\n")
	named = regexp.MustCompile("`([a-z]+\\.(?:json|csv))`:")
)

func follow(t *testing.T, page string) (blocks int) {
	dir := besideExamples(t)
	at := 0
	for _, m := range fence.FindAllStringSubmatchIndex(page, -1) {
		above, file, block := page[at:m[0]], m[2] >= 0, page[m[4]:m[5]]
		at = m[1]
		var printed strings.Builder
		for line := range strings.Lines(above) {
			if command, ok := strings.CutPrefix(line, "    missingscore "); ok {
				o := goldenRun(t, dir, strings.TrimSpace(command))
				require.Equal(t, exitDone, o.code, "%s: %s", command, o.stderr)
				fmt.Fprintf(&printed, "%s\n%s\n", o.stderr, o.stdout)
			} else if command, ok := strings.CutPrefix(line, "    Rscript "); ok {
				r := exec.Command("sh", "-c", "Rscript "+command)
				r.Dir = dir
				if out, err := r.CombinedOutput(); err != nil {
					t.Skipf("needs R with the package: %s", out)
				}
			}
		}
		if file {
			name := named.FindAllStringSubmatch(above, -1)
			require.NotEmpty(t, name, "a file without a name")
			require.NoError(t, os.WriteFile(filepath.Join(dir, name[len(name)-1][1]), []byte(block), 0o600))
			continue
		}
		left := printed.String()
		for line := range strings.Lines(block) {
			line = strings.TrimSpace(line)
			_, after, found := strings.Cut(left, line)
			require.True(t, found, "nothing prints, or not in this place: %s", line)
			left = after
		}
		blocks++
	}
	return blocks
}

func TestPictureOfReadme(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH != "amd64" || simd.Instructions() == "no vectors" {
		t.Skip("the picture's last digits are those of AVX2 and FMA")
	}
	page, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	command := regexp.MustCompile(`(?m)^    missingscore (network examples/airquality\.csv .*)$`).FindSubmatch(page)
	require.NotNil(t, command)
	dir := besideExamples(t)
	o := goldenRun(t, dir, string(command[1]))
	require.Equal(t, exitDone, o.code, "%s", o.stderr)
	drawn, err := os.ReadFile(filepath.Join(dir, "air", "network.svg"))
	require.NoError(t, err)
	kept, err := os.ReadFile("../examples/airquality.svg")
	require.NoError(t, err)
	require.Equal(t, string(kept), string(drawn))
}

var update = flag.Bool("update", false, "rewrite the goldens in testdata/golden")

const (
	goldens    = "testdata/golden"
	goldenCut  = 12000 // longer files are kept by their hash and first lines
	goldenHead = 5
	goldenLine = 200
)

// TestGoldens compares everything that commands print and write with testdata/golden;
// MISSINGSCORE_SLOW=1 go test ./cmd -run TestGoldens -update rewrites it.
//
// Each file holds the output of commands that run in one folder; of those named prepare, and of
// files in the folders in, few and not, only hashes. A command that begins with "interrupt" is
// interrupted at its first line of progress. For a new case write a file with the entries "prepare
// 1" and "command 01", whose first line is the command, and use -update.
//
// Results are the same bytes only on processors that round alike, for any GOMAXPROCS.
func TestGoldens(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH != "amd64" {
		t.Skipf("the goldens are those of amd64; on %s the last digits are others", runtime.GOARCH)
	}
	if simd.Instructions() == "no vectors" {
		t.Skip("the goldens are those of AVX2 and FMA, which this processor lacks")
	}
	files, err := filepath.Glob(filepath.Join(goldens, "*.txtar"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for k, file := range files {
		if testing.Short() && k%10 > 0 || !slowtest.Set() && k%8 > 0 {
			continue // all of them at night, a tenth for the detector of races
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			compareGolden(t, file)
		})
	}
}

// besideExamples is a folder with a link to the examples.
func besideExamples(t *testing.T) (dir string) {
	examples, err := filepath.Abs("../examples")
	require.NoError(t, err)
	dir = t.TempDir()
	require.NoError(t, os.Symlink(examples, filepath.Join(dir, "examples")))
	return dir
}

func compareGolden(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	require.NoError(t, err)
	dir := besideExamples(t)
	want, got := map[string]string{}, map[string]string{}
	for _, preparing := range []bool{true, false} {
		for _, f := range archive.Files {
			want[f.Name] = string(f.Data)
			first, _, _ := strings.Cut(string(f.Data), "\n")
			command, ok := strings.CutPrefix(first, "missingscore ")
			switch {
			case !ok:
			case strings.HasPrefix(f.Name, "prepare ") && preparing:
				o := goldenRun(t, dir, command)
				require.Equal(t, exitDone, o.code, "%s: %s", command, o.stderr)
				got[f.Name] = fmt.Sprintf("%s\nstdout %s\nstderr %s\n", first, hash(o.stdout), hash(o.stderr))
			case commandName.MatchString(f.Name) && !preparing:
				o := goldenRun(t, dir, command)
				got[f.Name] = fmt.Sprintf("%s\nexit code %d\n", first, o.code)
				if len(o.stdout) > 0 {
					got[f.Name+" stdout"] = kept("stdout", o.stdout)
				}
				if len(o.stderr) > 0 {
					got[f.Name+" stderr"] = kept("stderr", o.stderr)
				}
			}
		}
	}
	require.NoError(t, filepath.WalkDir(dir, func(at string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, at)
		name = filepath.ToSlash(name)
		got["file "+name] = kept(name, content)
		return err
	}))
	if *update {
		archive = &txtar.Archive{}
		for _, name := range slices.Sorted(maps.Keys(got)) {
			archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(got[name])})
		}
		require.NoError(t, os.WriteFile(file, txtar.Format(archive), 0o644))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if _, ok := got[name]; !ok {
			t.Errorf("%s: %q is no more", file, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		old, ok := want[name]
		switch {
		case !ok:
			t.Errorf("%s: %q is new", file, name)
		case old != got[name]:
			lines := strings.SplitAfter(string(diff.Diff("golden", []byte(old), "now", []byte(got[name]))), "\n")
			t.Errorf("%s: %q differs:\n%s", file, name, strings.Join(lines[:min(len(lines), 40)], ""))
		}
	}
}

type goldenOutput struct {
	code           int
	stdout, stderr []byte
}

func goldenRun(t *testing.T, dir, command string) (o goldenOutput) {
	t.Helper()
	args := strings.Fields(command)
	interrupt := args[0] == "interrupt"
	if interrupt {
		args = append(args[1:], "--verbose") // else there is no line before 10 seconds
	}
	var stdout, stderr bytes.Buffer
	c := exec.CommandContext(t.Context(), "missingscore", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "MISSINGSCORE_BLAS=gonum", "GOMAXPROCS="+strconv.Itoa(runtime.GOMAXPROCS(0)))
	c.Stdout = &stdout
	pipe, err := c.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	lines := bufio.NewReader(pipe)
	for {
		line, err := lines.ReadString('\n')
		if progressLine.MatchString(line) {
			if interrupt {
				require.NoError(t, c.Process.Signal(os.Interrupt))
				interrupt = false
			}
		} else {
			stderr.WriteString(line)
		}
		if err != nil {
			break
		}
	}
	err = c.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		require.NoError(t, err, command)
	}
	return goldenOutput{c.ProcessState.ExitCode(), stdout.Bytes(), stderr.Bytes()}
}

// Progress tells the time left, and --json the seconds that a command took.
var (
	progressLine = regexp.MustCompile(`^\S+: (\S+ )?\d+ of \d+(, .*loss|, paths on| \w+, (about|time left)) `)
	clock        = regexp.MustCompile(`"seconds":[0-9.e+-]+`)
	commandName  = regexp.MustCompile(`^command \d+$`)
)

func kept(name string, content []byte) string {
	if path.Base(name) == "stdout" {
		content = clock.ReplaceAll(content, []byte(`"seconds":"…"`))
	}
	switch {
	case slices.Contains([]string{"in", "few", "not"}, strings.Split(name, "/")[0]), slices.Contains([]string{".svg", ".png", ".pdf"}, path.Ext(name)), path.Base(name) == "report.html":
		return hash(content) + "\n"
	case len(content) > goldenCut:
		lines := strings.SplitAfter(string(content), "\n")
		head := lines[:min(len(lines), goldenHead)]
		for i, line := range head {
			if len(line) > goldenLine {
				head[i] = strings.ToValidUTF8(line[:goldenLine], "") + "…\n"
			}
		}
		return hash(content) + ", begins\n" + strings.Join(head, "")
	case len(content) > 0 && !bytes.HasSuffix(content, []byte("\n")):
		return string(content) + "\n(no end of line)\n"
	}
	return string(content)
}

func hash(content []byte) string {
	return fmt.Sprintf("sha256 %x, %d bytes", sha256.Sum256(content), len(content))
}
