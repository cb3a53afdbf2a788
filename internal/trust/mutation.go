package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"missingscore/internal/provenance"
	"missingscore/internal/stream"
)

// mutated says how many changes of a package's source its own tests notice.
type mutated struct {
	Killed     int      `json:"killed"`
	Lived      int      `json:"lived"`
	TimedOut   int      `json:"timed_out"` // noticed, too: the tests did not come to an end
	NotCovered int      `json:"not_covered"`
	Partial    bool     `json:"partial"`   // not all of them were made
	Survivors  []string `json:"survivors"` // kind, file and line of each that lived
	provenance.Source
}

// Share is the part of the covered changes that was noticed.
func (m mutated) Share() float64 {
	noticed := float64(m.Killed + m.TimedOut)
	return noticed / (noticed + float64(m.Lived))
}

// report is what gremlins writes.
type report struct {
	Files []struct {
		Name      string `json:"file_name"`
		Mutations []struct {
			Type, Status string
			Line         int
		}
	}
}

// mutation runs gremlins (internal/tools) on packages, one by one, or on a share of their changes:
// those of files that a seed draws.
func mutation(args []string) error {
	set := flag.NewFlagSet("mutation", flag.ExitOnError)
	share := set.Float64("share", 1, "the least share of a package's covered changes that is made: files are drawn until they have as many")
	seed := set.Uint64("seed", 1, "seed of that")
	set.Parse(args)
	if !(*share > 0 && *share <= 1) {
		return fmt.Errorf("-share %v: it is above 0, and 1 at most", *share)
	}
	dir, err := os.MkdirTemp("", "gremlins")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tool, out := filepath.Join(dir, "gremlins"), filepath.Join(dir, "out.json")
	build := exec.Command("go", "-C", "internal/tools", "build", "-o", tool, "github.com/go-gremlins/gremlins/cmd/gremlins")
	build.Env = append(os.Environ(), "GOWORK=off")
	if said, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build of gremlins: %w\n%s", err, said)
	}
	results, err := readFigures[mutated](".", "mutation")
	if err != nil {
		return err
	}
	source, err := provenance.Of(".")
	if err != nil {
		return err
	}
	for _, p := range set.Args() {
		var leftOut []string
		if *share < 1 {
			found, err := unleash(tool, out, p, "--dry-run")
			if err != nil {
				return err
			}
			for _, name := range found.without(*share, stream.New(*seed)) {
				leftOut = append(leftOut, "--exclude-files", "^"+regexp.QuoteMeta(name)+"$")
			}
		}
		r, err := unleash(tool, out, p, leftOut...)
		if err != nil {
			return err
		}
		m := r.sum()
		m.Partial, m.Source = len(leftOut) > 0, source
		results[p] = m
		if err := keepFigures("mutation", results); err != nil {
			return err
		}
	}
	return nil
}

// unleash runs the tool on a package. A test may take 12 times as long as all did when their
// coverage was looked at, which is not taken from a cache (-count=1): a busy machine must not look
// like a test that noticed.
func unleash(tool, out, pkg string, args ...string) (r report, err error) {
	c := exec.Command(tool, append([]string{"unleash", "--workers", "1", "--timeout-coefficient", "12", "-o", out, "./" + pkg}, args...)...)
	c.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS="+os.Getenv("GOFLAGS")+" -vet=off -count=1")
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return r, fmt.Errorf("gremlins of %s: %w", pkg, err)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		return r, err
	}
	err = json.Unmarshal(text, &r)
	return r, err
}

// without are the files that are left out where files drawn at random have a share of the changes
// that can be made.
func (r report) without(share float64, rng *rand.Rand) (names []string) {
	all := 0
	changes := map[string]int{}
	for _, f := range r.Files {
		for _, one := range f.Mutations {
			if strings.EqualFold(one.Status, "runnable") {
				changes[f.Name]++
				all++
			}
		}
	}
	made := 0
	files := slices.Sorted(maps.Keys(changes))
	for _, i := range rng.Perm(len(files)) {
		if float64(made) >= share*float64(all) {
			names = append(names, files[i])
		}
		made += changes[files[i]]
	}
	slices.Sort(names)
	return names
}

func (r report) sum() (m mutated) {
	for _, f := range r.Files {
		for _, one := range f.Mutations {
			switch strings.ToUpper(strings.ReplaceAll(one.Status, "_", " ")) {
			case "KILLED":
				m.Killed++
			case "LIVED":
				m.Lived++
				m.Survivors = append(m.Survivors, fmt.Sprintf("%s %s:%d", one.Type, filepath.Base(f.Name), one.Line))
			case "TIMED OUT":
				m.TimedOut++
			case "NOT COVERED":
				m.NotCovered++
			}
		}
	}
	slices.Sort(m.Survivors)
	return m
}
