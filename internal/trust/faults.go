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

// fault is a mistake put into the source on purpose: a factor, a sign, a lock that is not
// taken. The test named has to fail with it.
type fault struct {
	Name    string `json:"name"`
	Promise string `json:"promise"` // of promises.json
	File    string `json:"file"`
	Old     string `json:"old"` // text of the file, that comes once
	New     string `json:"new"`
	Package string `json:"package"`
	Test    string `json:"test"` // for go test -run
}

// caught says whether a fault was noticed.
type caught struct {
	Noticed bool   `json:"noticed"`
	By      string `json:"by"`
	Says    string `json:"says,omitempty"` // what else happened: the fault does not compile, or the test failed without it
}

func readFaults(root string) (list []fault, err error) {
	text, err := os.ReadFile(filepath.Join(root, home, "faults.json"))
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	return list, err
}

// faults puts each fault in, in turn, by go test's -overlay, so that no file of the tree
// changes, and runs the test that has to notice it.
func faults(names []string) error {
	list, err := readFaults(".")
	if err != nil {
		return err
	}
	results, err := readFigures[caught](".", "faults")
	if err != nil {
		return err
	}
	missed := 0
	for _, f := range list {
		if len(names) > 0 && !slices.Contains(names, f.Name) {
			continue
		}
		r, err := f.try()
		if err != nil {
			return fmt.Errorf("fault %q: %w", f.Name, err)
		}
		results[f.Name] = r
		if !r.Noticed {
			missed++
		}
		fmt.Printf("%s: noticed %v by %s %s\n", f.Name, r.Noticed, r.By, r.Says)
		if err := keepFigures("faults", results); err != nil {
			return err
		}
	}
	if missed > 0 {
		return fmt.Errorf("%d faults were not noticed", missed)
	}
	return nil
}

// injected is the file's text with the fault in it.
func (f fault) injected(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, f.File))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), f.Old); n != 1 {
		return "", fmt.Errorf("%s has %q %d times: it has to come once", f.File, f.Old, n)
	}
	return strings.Replace(string(text), f.Old, f.New, 1), nil
}

// try runs the test with the fault.
func (f fault) try() (r caught, err error) {
	r.By = f.Package + " " + f.Test
	text, err := f.injected(".")
	if err != nil {
		return r, err
	}
	dir, err := os.MkdirTemp("", "fault")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	wrong, overlay := filepath.Join(dir, "wrong.go"), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(wrong, []byte(text), 0o644); err != nil {
		return r, err
	}
	whole, err := filepath.Abs(f.File)
	if err != nil {
		return r, err
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {whole: wrong}})
	if err != nil {
		return r, err
	}
	if err := os.WriteFile(overlay, replace, 0o644); err != nil {
		return r, err
	}
	out, failure := exec.Command("go", "test", "-vet=off", "-overlay", overlay, "-run", f.Test, "-timeout", "5m", "./"+f.Package).CombinedOutput()
	switch said := string(out); {
	case strings.Contains(said, "[build failed]"):
		r.Says = "the fault does not compile: " + said
	case strings.Contains(said, "no tests to run"):
		r.Says = "there is no such test"
	default:
		r.Noticed = failure != nil
	}
	return r, nil
}
