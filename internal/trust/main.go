// Trust makes the evidence for what the program promises, and the page that shows it.
//
//	go run ./internal/trust fuzz -each 20s      # every fuzz target so long; executions add up
//	go run ./internal/trust race [-run R] [-timeout T] [PACKAGE…]   # go test -race, package by package
//	go run ./internal/trust mutation [-changes N] [-seed S] PACKAGE…   # how many changed operators the tests notice, of all or of N drawn
//	go run ./internal/trust measure [NAME…]     # tests that log what they find, and the self-check
//	go run ./internal/trust faults [NAME…]      # faults put in on purpose, which a named test has to notice
//	go run ./internal/trust page                # TRUST.md from promises.json and figures
//
// What is found is kept in internal/trust/figures. Run it in the folder of the repository.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"missingscore/internal/provenance"
)

const home = "internal/trust"

var commands = map[string]func(args []string) error{
	"fuzz": fuzz, "race": race, "mutation": mutation, "measure": measure, "faults": faults, "page": writePage,
}

func main() {
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "trust: one of the commands fuzz, race, mutation, measure, faults, page is expected")
		os.Exit(2)
	}
	if err := commands[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "trust:", err)
		os.Exit(1)
	}
}

func figureFile(name string) string { return filepath.Join(home, "figures", name+".json") }

// kept is a file of figures, with the command that wrote it last.
type kept[T any] struct {
	Command string       `json:"command"`
	Figures map[string]T `json:"figures"`
}

// readFigures reads a kept file of figures; one that is not there has none.
func readFigures[T any](root, name string) (of map[string]T, err error) {
	k := kept[T]{Figures: map[string]T{}}
	text, err := os.ReadFile(filepath.Join(root, figureFile(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return k.Figures, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &k)
	}
	return k.Figures, err
}

// sourced are figures that say of which source they are.
type sourced interface{ From() provenance.Source }

// between says from which source to which figures are, as " (commit of date)", by their dates; of several of a day one is shown.
func between[T sourced](figures iter.Seq[T]) string {
	var first, last provenance.Source
	for f := range figures {
		s := f.From()
		if first.Date == "" || s.Date < first.Date || s.Date == first.Date && s.Commit < first.Commit {
			first = s
		}
		if s.Date > last.Date || s.Date == last.Date && s.Commit > last.Commit {
			last = s
		}
	}
	switch {
	case last.Date == "":
		return ""
	case first == last:
		return fmt.Sprintf(" (%v)", last)
	}
	return fmt.Sprintf(" (%v to %v)", first, last)
}

func keepFigures[T any](name string, of map[string]T) error {
	k := kept[T]{"go run ./" + home + " " + strings.Join(os.Args[1:], " "), of}
	text, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(figureFile(name), append(text, '\n'), 0o644)
}
