package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/markdown"
)

// Judged is a claim with what the cells of its experiments say of it.
type Judged struct {
	Experiments []string
	claims.Claim
	claims.Verdict
}

// across tests a claim that compares experiments, which all have to be run, in the same
// size; of none that has been run there is no verdict.
func (s study) across(c claims.Across) (*claims.Verdict, error) {
	results := map[string]cells.Results{}
	var sizes, missing []string
	for _, name := range c.Of {
		of := s.Section(name)
		if of == nil {
			missing = append(missing, name)
			continue
		}
		results[name] = of.Results
		if !slices.Contains(sizes, of.Size) {
			sizes = append(sizes, of.Size)
		}
	}
	for _, name := range c.Also {
		if of := s.Section(name); of != nil && slices.Contains(sizes, of.Size) {
			results[name] = of.Results
		}
	}
	undecided := &claims.Verdict{Outcome: claims.Undecided, Anytime: claims.Undecided, Effect: math.NaN(), Low: math.NaN(), High: math.NaN()}
	switch {
	case len(missing) == len(c.Of):
		return nil, nil
	case len(missing) > 0:
		undecided.Evidence = fmt.Sprintf("Not run: %s.", strings.Join(missing, ", "))
		return undecided, nil
	case len(sizes) > 1:
		undecided.Evidence = fmt.Sprintf("Not run in one size: %s.", strings.Join(sizes, "; "))
		return undecided, nil
	}
	v, err := c.Test(results)
	return &v, err
}

// Class is the verdict's in the style sheet.
func (j Judged) Class() string {
	return map[claims.Outcome]string{claims.Holds: "good", claims.DoesNotHold: "bad", claims.Undecided: "warn", claims.Depends: "warn"}[j.Outcome]
}

// Always is the outcome by intervals that hold at every look, in words.
func (j Judged) Always() string {
	switch j.Anytime {
	case "":
		return "–"
	case j.Outcome:
		return "the same"
	}
	return string(j.Anytime)
}

// Told is the evidence, and what each reading says.
func (j Judged) Told() string {
	if j.Readings == nil {
		return j.Evidence
	}
	return strings.TrimSpace(j.Evidence + " Readings: " + j.Listed() + ".")
}

// Steady counts the decided verdicts that are the same by intervals that hold at every look.
func (s study) Steady() string {
	decided, same := 0, 0
	for _, c := range s.Claims {
		if c.Outcome != claims.Undecided {
			decided++
			if c.Anytime == c.Outcome {
				same++
			}
		}
	}
	return fmt.Sprintf("%d of %d decided", same, decided)
}

// Count of each outcome.
func (s study) Count() string {
	n := map[claims.Outcome]int{}
	for _, c := range s.Claims {
		n[c.Outcome]++
	}
	return fmt.Sprintf("Holds: %d; does not hold: %d; depends on what the paper leaves open: %d; undecided: %d",
		n[claims.Holds], n[claims.DoesNotHold], n[claims.Depends], n[claims.Undecided])
}

func (s study) csv(w io.Writer) error {
	lines := [][]string{{"experiment", "claim", "quote", "where", "verdict", "measure", "effect", "low", "high", "replicates", "evidence", "readings", "verdict_at_any_look"}}
	number := func(x float64) string {
		if math.IsNaN(x) {
			return ""
		}
		return strconv.FormatFloat(x, 'g', 6, 64)
	}
	for _, c := range s.Claims {
		lines = append(lines, []string{strings.Join(c.Experiments, " "), c.ID, c.Quote, c.Where, string(c.Outcome), c.Measure,
			number(c.Effect), number(c.Low), number(c.High), strconv.Itoa(c.Replicates), c.Evidence, c.Measured(), string(c.Anytime)})
	}
	return csv.NewWriter(w).WriteAll(lines)
}

func (s study) markdown(w io.Writer) error {
	_, err := io.WriteString(w, s.claims().String())
	return err
}

// listed are so many readings that they can be read in a list; more are counted.
const listed = 8

// ours begins the sentences that are not the paper's.
const ours = "Ours: "

// paper is the table of verdicts on the paper's sentences, with their count.
func (s study) paper() markdown.Table {
	s.Claims = slices.DeleteFunc(slices.Clone(s.Claims), func(c Judged) bool { return strings.HasPrefix(c.Quote, ours) })
	t := markdown.Table{Name: "paper", Header: []string{"the paper's words", fmt.Sprintf("verdict (%s)", s.Count()), fmt.Sprintf("at any look (%s)", s.Steady()), "by reading"}}
	for _, c := range s.Claims {
		by := c.Listed()
		switch {
		case len(c.Readings) > listed:
			by = fmt.Sprintf("of %d readings %s", len(c.Readings), c.Counted())
		case c.Readings == nil:
			by = strings.TrimSpace(c.Measure + " " + c.Interval())
		}
		t.Lines = append(t.Lines, []string{c.Quote, fmt.Sprintf("**%s**", c.Outcome), c.Always(), by})
	}
	return t
}

// claims is the table of verdicts.
func (s study) claims() markdown.Table {
	t := markdown.Table{Name: "claims", Header: []string{"claim", "the words tested", "verdict", "at any look", "effect, 95 % interval", "of what", "replicates", "evidence"}}
	for _, c := range s.Claims {
		t.Lines = append(t.Lines, []string{"`" + c.ID + "`", c.Quote, fmt.Sprintf("**%s**", c.Outcome), c.Always(), c.Interval(), c.Measure, strconv.Itoa(c.Replicates), c.Told()})
	}
	return t
}
