package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"missingscore/internal/provenance"
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
	Says    string `json:"says,omitempty"` // why it does not count as noticed, if the test does not just pass
	provenance.Source
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
	source, err := provenance.Of(".")
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
		r.Source = source
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

// try runs the test without the fault, when it has to pass, and with it.
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
	r.Noticed, r.Says = f.verdict(f.test(), f.test("-overlay", overlay))
	return r, nil
}

// test runs the tests that have to notice the fault, and gives what they print.
func (f fault) test(args ...string) string {
	out, _ := exec.Command("go", slices.Concat([]string{"test", "-vet=off", "-v", "-timeout", "10m"}, args, []string{"-run", "^(" + f.Test + ")$", "./" + f.Package})...).CombinedOutput()
	return string(out)
}

// verdict says whether a fault is noticed, by what its tests print without it and with it: all
// pass without it, and one fails with it. That nothing compiles, or that a test's time is over, is
// no notice.
func (f fault) verdict(without, with string) (noticed bool, says string) {
	names := strings.Split(f.Test, "|")
	for _, name := range names {
		if !strings.Contains(without, "--- PASS: "+name+" (") {
			return false, name + " does not pass without the fault: " + end(without)
		}
	}
	switch {
	case strings.Contains(with, "[build failed]"), strings.Contains(with, "[setup failed]"):
		return false, "the fault does not compile: " + end(with)
	case strings.Contains(with, "panic: test timed out"):
		return false, "the test's time was over: " + end(with)
	case slices.ContainsFunc(names, func(name string) bool { return strings.Contains(with, "--- FAIL: "+name+" (") }):
		return true, ""
	case strings.Contains(with, "FAIL"):
		return false, "something else failed: " + end(with)
	}
	return false, ""
}

// end is the end of what a test printed.
func end(text string) string { return text[max(0, len(text)-mostSaid):] }
