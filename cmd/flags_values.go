package cmd

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"missingscore/data"
	"missingscore/internal/spelling"
	"missingscore/trainers/fitted"
)

// valueFlags say which values may be imputed.
type valueFlags struct {
	donors      int
	round, clip []string

	hold fitted.Hold
}

func (f *valueFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.IntVar(&f.donors, "pmm", 0, "predictive-mean matching: take observed values, of one of this many nearest rows (--pmm alone: 5)")
	fl.Lookup("pmm").NoOptDefVal = "5"
	fl.StringSliceVar(&f.round, "round", []string{"none"}, "round imputed values: none, auto (to the decimals of each column) or column=step,…")
	fl.StringSliceVar(&f.clip, "clip", nil, "move imputed values to the ends of what was observed (observed) or of column=low:high,…")
}

// parse reads --round and --clip for a table.
func (f *valueFlags) parse(t *data.Table) error {
	if err := f.parseRound(t); err != nil {
		return usageError{fmt.Errorf("--round: %w", err)}
	}
	if err := f.parseClip(t); err != nil {
		return usageError{fmt.Errorf("--clip: %w", err)}
	}
	return nil
}

func (f *valueFlags) parseRound(t *data.Table) error {
	for _, word := range f.round {
		switch name, text, by := strings.Cut(word, "="); {
		case word == "none":
			f.hold.Step = nil
		case word == "auto":
			f.hold.Step = fitted.Grids(t)
		case !by:
			return fmt.Errorf("%q: auto, none or column=step is expected", word)
		default:
			j, err := column(t, name)
			if err != nil {
				return err
			}
			step, err := strconv.ParseFloat(text, 64)
			if err != nil || !(step > 0) || math.IsInf(step, 0) {
				return fmt.Errorf("%q: the step must be a positive number", word)
			}
			if f.hold.Step == nil {
				f.hold.Step = make([]float64, t.D)
			}
			f.hold.Step[j] = step
		}
	}
	return nil
}

func (f *valueFlags) parseClip(t *data.Table) error {
	if len(f.clip) == 0 {
		return nil
	}
	h := &f.hold
	h.Low, h.High = slices.Repeat([]float64{math.Inf(-1)}, t.D), slices.Repeat([]float64{math.Inf(1)}, t.D)
	for _, word := range f.clip {
		if word == "observed" {
			h.Low, h.High = fitted.Ranges(t)
			continue
		}
		name, text, by := strings.Cut(word, "=")
		low, high, both := strings.Cut(text, ":")
		if !by || !both {
			return fmt.Errorf("%q: observed or column=low:high is expected; one of the numbers may be left out", word)
		}
		j, err := column(t, name)
		if err != nil {
			return err
		}
		if h.Low[j], err = end(low, math.Inf(-1)); err == nil {
			h.High[j], err = end(high, math.Inf(1))
		}
		if err != nil || !(h.Low[j] <= h.High[j]) {
			return fmt.Errorf("%q: two numbers are expected, the smaller one first; one may be left out", word)
		}
	}
	return nil
}

// end is a number, or what stands for none.
func end(text string, none float64) (float64, error) {
	if text == "" {
		return none, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err == nil && math.IsNaN(v) {
		err = errors.New("no number")
	}
	return v, err
}

func column(t *data.Table, name string) (int, error) {
	if j := slices.Index(t.Names, name); j >= 0 {
		return j, nil
	}
	return 0, fmt.Errorf("the model has no column %q%s; its columns are %s", name, spelling.DidYouMean(name, t.Names), strings.Join(t.Names, ", "))
}

// apply makes draws what they may be, and says what it did.
func (f *valueFlags) apply(cmd *cobra.Command, i *imputeCommand, r *fitted.Imputed) (how string, err error) {
	t := i.cells.Table
	if f.donors == 0 {
		return f.held(i.known, f.hold.Apply(i.ready, t, r.Values, r.Draws)), nil
	}
	bar := newProgress(cmd.ErrOrStderr(), false)
	kept, err := fitted.Match(cmd.Context(), i.ready, t, r, fitted.MatchConfig{
		Donors: f.donors, Seed: i.seed, Workers: i.config.Workers,
		Observe: func(done, total int) { bar.count("match", "draws", done, total) },
	})
	bar.finish()
	if err != nil {
		return "", fmt.Errorf("--pmm: %w", err)
	}
	i.known["donors"], i.known["unmatched"] = f.donors, kept
	how = fmt.Sprintf(", replaced by observed values of the %d nearest rows", f.donors)
	if kept > 0 {
		how += fmt.Sprintf(" (%d values stay as drawn: no observed one can stand for them)", kept)
	}
	return how, nil
}

// held says what became of the values.
func (f *valueFlags) held(known map[string]any, changed int) string {
	if f.hold.Step == nil && f.hold.Low == nil {
		return "\nvalues are the model's, neither rounded nor held to what was observed (--pmm, --round auto, --clip observed)"
	}
	known["held"] = changed
	return fmt.Sprintf("; %d values rounded or moved into their range", changed)
}
