package cmd

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
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
