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

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"missingscore/internal/simd"
	"missingscore/internal/slowtest"
)

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
// Results are the same bytes only on processors that round alike; they do not depend on AVX-512
// (GODEBUG=cpu.avx512f=off) or GOMAXPROCS.
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
	vectors      = regexp.MustCompile(`loops with AVX2( and AVX-512)?"`)
)

func kept(name string, content []byte) string {
	if path.Base(name) == "stdout" {
		content = clock.ReplaceAll(content, []byte(`"seconds":"…"`))
	}
	content = vectors.ReplaceAll(content, []byte(`loops with …"`))
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
