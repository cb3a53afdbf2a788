package claims

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks/harness"
)

var SummaryColumns = []string{"setting", "method", "measure", "mean", "standard_error", "replicates"}

// Summary returns mean, standard error and number of replicates for each setting, method and
// numeric column. A list counts by its last number; its minimum has a line "COLUMN, least".
func Summary(r harness.Results) (lines [][]string) {
	key := r.Key
	type group struct {
		setting, method string
		values          map[string][]float64 // by measure
	}
	var groups []*group
	of := map[string]*group{}
	var measures []string
	for _, column := range r.Columns[len(key):] {
		measures = append(measures, column, column+", least")
	}
	for _, line := range r.Lines {
		at, method := settingOf(key, line)
		g := of[at+"\n"+method]
		if g == nil {
			g = &group{at, method, map[string][]float64{}}
			of[at+"\n"+method], groups = g, append(groups, g)
		}
		for i, column := range r.Columns[len(key):] {
			text := line[len(key)+i]
			if x, ok := Number(text); ok {
				g.values[column] = append(g.values[column], x)
			}
			if least, ok := leastOf(text); ok {
				g.values[column+", least"] = append(g.values[column+", least"], least)
			}
		}
	}
	for _, g := range groups {
		for _, m := range measures {
			values := g.values[m]
			if len(values) == 0 {
				continue
			}
			mean, sd := stat.MeanStdDev(values, nil)
			se := ""
			if len(values) > 1 {
				se = short(sd / math.Sqrt(float64(len(values))))
			}
			lines = append(lines, []string{g.setting, g.method, m, short(mean), se, strconv.Itoa(len(values))})
		}
	}
	return lines
}

// leastOf: lists have at least two fields, numbers or "-".
func leastOf(text string) (least float64, ok bool) {
	fields := strings.Fields(text)
	least = math.Inf(1)
	for _, f := range fields {
		if x, err := strconv.ParseFloat(f, 64); err == nil {
			least = min(least, x)
		} else if f != "-" {
			return 0, false
		}
	}
	return least, len(fields) > 1 && !math.IsInf(least, 1)
}

func short(x float64) string { return strconv.FormatFloat(x, 'g', 5, 64) }

func settingOf(key, line []string) (setting, method string) {
	var parts []string
	for i, k := range key {
		switch k {
		case replicateKey:
		case "method":
			method = line[i]
		default:
			parts = append(parts, k+"="+line[i])
		}
	}
	return strings.Join(parts, "; "), method
}
