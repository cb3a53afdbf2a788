package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/markdown"
	"missingscore/benchmarks/training"
	"missingscore/internal/picture"
)

// The tables of the runs that the experiments of the harness have replaced, whose lines
// are in results.csv of star, normal and quartic.

// ordered are values in the order of their keys, so that sums are the same each time.
func ordered(of map[string]float64) (out []float64) {
	for _, key := range slices.Sorted(maps.Keys(of)) {
		out = append(out, of[key])
	}
	return out
}

// interval shows a mean and the half width of its interval; "–" where there are too few
// numbers, which are told where they are not as many as usual.
func interval(format string, of map[string]float64, usual int) string {
	if len(of) < claims.LeastReplicates {
		return "–"
	}
	mean, half := claims.MeanInterval(ordered(of))
	text := fmt.Sprintf(format, mean, half)
	if len(of) != usual {
		text += fmt.Sprintf(" (%d seeds)", len(of))
	}
	return text
}

const auc = "%.3f ± %.3f"

func earlierStar(folder string) (out []markdown.Table, err error) {
	r, err := read(folder, "star", "results.csv")
	if err != nil {
		return nil, err
	}
	methods := []string{"full", "exact", "variw", "iw", "var", "em", "zeroed"}
	title := func(m string) string { return fmt.Sprintf("%s (`%s`)", picture.MethodTitle(m), m) }
	of := func(pairs ...string) map[string]float64 {
		found, failed := values(r, "auc", "seed", where(pairs...))
		if failed != nil {
			err = failed
		}
		return found
	}
	for _, d := range []string{"20", "50"} {
		t := markdown.Table{Name: "earlier star " + d, Header: []string{"method", "d = " + d + ", missing 0.5", "d = " + d + ", missing 0.7"}}
		for _, m := range methods {
			line := []string{title(m)}
			for _, missing := range []string{"0.5", "0.7"} {
				line = append(line, interval(auc, of("support", "all", "d", d, "missing", missing, "method", m), 5))
			}
			t.Lines = append(t.Lines, line)
		}
		out = append(out, t)
	}
	for _, truncated := range []struct {
		name, title, support, d string
		treatments, methods     []string
	}{
		{"earlier truncated 20", "method", "half=0.2", "20", []string{"honoured", "paper", "ignored"}, methods},
		{"earlier truncated 50", "d = 50, missing 0.5", "half=0.2", "50", []string{"honoured", "ignored"}, methods},
		{"earlier truncated 90", "90 % outside", "half=0.9", "20", []string{"honoured", "ignored"}, []string{"full", "exact"}},
	} {
		t := markdown.Table{Name: truncated.name, Header: []string{truncated.title}}
		for _, treatment := range truncated.treatments {
			t.Header = append(t.Header, strings.Replace(treatment, "paper", "as the paper", 1))
		}
		t.Header = append(t.Header, "honoured − ignored, paired")
		for _, m := range truncated.methods {
			line, by := []string{title(m)}, map[string]map[string]float64{}
			for _, treatment := range truncated.treatments {
				by[treatment] = of("support", truncated.support, "treatment", treatment, "d", truncated.d, "method", m)
				line = append(line, interval(auc, by[treatment], 10))
			}
			paired := map[string]float64{}
			for seed, v := range by["honoured"] {
				if other, ok := by["ignored"][seed]; ok {
					paired[seed] = v - other
				}
			}
			t.Lines = append(t.Lines, append(line, strings.ReplaceAll(interval("%+.3f ± %.3f", paired, 10), "-", "−")))
		}
		out = append(out, t)
	}
	return out, err
}

// traces are a column of numbers along training, by seed; NaN where a fit had diverged.
func traces(r cells.Results, column string, of map[string]string) ([][]float64, error) {
	chosen, err := r.Only(of)
	if err != nil {
		return nil, err
	}
	lines, err := chosen.Values(column)
	if err != nil {
		return nil, err
	}
	var out [][]float64
	for _, line := range lines {
		var trace []float64
		for _, text := range strings.Fields(line[0]) {
			v := math.NaN()
			if text != "-" {
				if v, err = strconv.ParseFloat(text, 64); err != nil {
					return nil, fmt.Errorf("column %s: %w", column, err)
				}
			}
			trace = append(trace, v)
		}
		out = append(out, trace)
	}
	return out, nil
}

// at are the numbers of all traces at one place, counted from the end where it is negative.
func at(traces [][]float64, k int) (out []float64) {
	for _, trace := range traces {
		out = append(out, trace[(k+len(trace))%len(trace)])
	}
	return out
}

// digits shows a mean with three digits and the half width of its interval with two.
func digits(x []float64) string {
	mean, half := claims.MeanInterval(x)
	return strings.ReplaceAll(fmt.Sprintf("%#.3g ± %#.2g", mean, half), ". ", " ")
}

// variantTitle puts in the commas that the files do without.
func variantTitle(name string) string {
	return strings.NewReplacer(" N(0 ", ", N(0, ", " ignoring", ", ignoring").Replace(name)
}

func earlierNormal(folder string) (out []markdown.Table, err error) {
	r, err := read(folder, "normal", "results.csv")
	if err != nil {
		return nil, err
	}
	for support, variants := range map[string][]string{
		"truncated":   {"full", "iw N(0 I)", "variw", "exact", "var", "iw N(0 16 I)", "zeroed", "em N(0 16 I)", "exact ignoring the truncation"},
		"untruncated": {"full", "iw N(0 I)", "variw", "exact", "var", "zeroed", "iw N(0 16 I)", "em N(0 16 I)"},
	} {
		t := markdown.Table{Name: "earlier normal " + support, Header: []string{support, "Fisher divergence", "mean error", "precision error", "effective draws, of 10"}}
		for _, v := range variants {
			line := []string{variantTitle(v)}
			for _, column := range []string{"fisher_divergence", "mean_error", "precision_error"} {
				found, err := traces(r, column, where("support", support, "variant", v))
				if err != nil {
					return nil, err
				}
				line = append(line, digits(at(found, -1)))
			}
			sizes, err := values(r, "effective_size", "seed", where("support", support, "variant", v))
			if err != nil {
				return nil, err
			}
			effective := ""
			if mean := stat.Mean(ordered(sizes), nil); mean < 10 { // all count where draws are the imputer's, or exact
				effective = fmt.Sprintf("%.1f", mean)
			}
			t.Lines = append(t.Lines, append(line, effective))
		}
		out = append(out, t)
	}
	return out, nil
}

func earlierQuartic(folder string) ([]markdown.Table, error) {
	r, err := read(folder, "quartic", "results.csv")
	if err != nil {
		return nil, err
	}
	epochs := training.Epochs(100)
	t := markdown.Table{Name: "earlier quartic", Header: []string{""}}
	columns := []string{"5", "10", "20"}
	for _, d := range columns {
		t.Header = append(t.Header, "d = "+d+", pass 10", "least")
	}
	for _, v := range []string{"full", "iw N(0 I)", "var", "variw", "zeroed", "em N(0 16 I)", "iw N(0 16 I)"} {
		line := []string{variantTitle(v)}
		for _, d := range columns {
			found, err := traces(r, "fisher_divergence", where("d", d, "variant", v))
			if err != nil {
				return nil, err
			}
			least, pass := math.Inf(1), 0
			for k, epoch := range epochs {
				if mean := stat.Mean(at(found, k), nil); mean < least {
					least, pass = mean, epoch
				}
			}
			line = append(line, digits(at(found, slices.Index(epochs, 10))), fmt.Sprintf("%#.3g (%d)", least, pass))
		}
		t.Lines = append(t.Lines, line)
	}
	return []markdown.Table{t}, nil
}
