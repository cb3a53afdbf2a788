package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// mutated says how many changes of a package's source its own tests notice.
type mutated struct {
	Killed     int      `json:"killed"`
	Lived      int      `json:"lived"`
	TimedOut   int      `json:"timed_out"` // noticed, too: the tests did not come to an end
	NotCovered int      `json:"not_covered"`
	Partial    bool     `json:"partial"`   // the run was ended before it had made all of them
	Survivors  []string `json:"survivors"` // kind, file and line of each that lived
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

// mutation runs gremlins (internal/tools) on packages, one by one.
func mutation(packages []string) error {
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
	for _, p := range packages {
		c := exec.Command(tool, "unleash", "--workers", "1", "--timeout-coefficient", "3", "-o", out, "./"+p)
		c.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS="+os.Getenv("GOFLAGS")+" -vet=off")
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		if err := c.Run(); err != nil {
			return fmt.Errorf("gremlins of %s: %w", p, err)
		}
		text, err := os.ReadFile(out)
		if err != nil {
			return err
		}
		var r report
		if err := json.Unmarshal(text, &r); err != nil {
			return err
		}
		results[p] = r.sum()
		if err := keepFigures("mutation", results); err != nil {
			return err
		}
	}
	return nil
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
