package imputation

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/markdown"
)

// tables have the means of each measure, and paired differences of energy scores.
func tables(text json.RawMessage, r cells.Results) ([]markdown.Table, error) {
	s, err := decode(text)
	if err != nil {
		return nil, err
	}
	var out []markdown.Table
	for _, m := range []struct{ name, column, format string }{{"energy", energyColumn, "%.3f"}, {"rmse", rmseColumn, "%.3f"}, {"coverage", coverageColumn, "%.2f"}} {
		t, err := s.means(r, m.name, m.column, m.format)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	for _, m := range []struct{ name, column string }{{"differences", energyColumn}, {"rmse differences", rmseColumn}} {
		t, err := s.paired(r, m.name, m.column)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	versions, err := s.versions(r)
	return append(out, versions), err
}

// means have a line for each table and law; the least is bold, of shares none.
func (s settings) means(r cells.Results, name, column, format string) (markdown.Table, error) {
	t := markdown.Table{Name: name, Header: []string{"table", "hidden"}}
	for _, m := range s.Methods {
		t.Header = append(t.Header, m.Name)
	}
	for _, from := range s.Tables {
		for _, law := range s.Laws {
			n, err := claims.Measure{Column: column, Where: map[string]string{tableColumn: from.Name, lawColumn: law.Name}}.Read(r)
			if err != nil {
				return t, err
			}
			if len(n.Replicates) > 0 {
				t.Lines = append(t.Lines, append([]string{from.Name, law.Name}, s.line(n, format, column != coverageColumn)...))
			}
		}
	}
	return t, nil
}

// line has the mean of each method over the replicates that all have, "–" of one without
// numbers.
func (s settings) line(n *claims.Numbers, format string, leastBold bool) (texts []string) {
	means := make([]float64, len(s.Methods))
	var names []string
	for _, m := range s.Methods {
		names = append(names, m.Name)
	}
	together := n.Together("", names)
	for i, name := range names {
		means[i] = math.Inf(1)
		if x := together[name]; len(x) > 0 {
			means[i] = stat.Mean(x, nil)
		}
	}
	for _, mean := range means {
		text := "–"
		if !math.IsInf(mean, 1) {
			text = fmt.Sprintf(format, mean)
			if leastBold && mean == floats.Min(means) {
				text = "**" + text + "**"
			}
		}
		texts = append(texts, text)
	}
	return texts
}

// paired are the differences in percent of ours to each method, means over laws within
// a replicate; negative where ours is ahead, bold where the interval leaves 0 out.
func (s settings) paired(r cells.Results, name, column string) (markdown.Table, error) {
	t := markdown.Table{Name: name, Header: []string{"table"}}
	for _, m := range s.Methods {
		if m.Name != ours {
			t.Header = append(t.Header, m.Name)
		}
	}
	for _, from := range s.Tables {
		line, some := []string{from.Name}, false
		for _, m := range s.Methods {
			if m.Name == ours {
				continue
			}
			x, err := leads(r, column, from.Name, ours, m.Name)
			if err != nil {
				return t, err
			}
			text := percent(x)
			line, some = append(line, text), some || text != ""
		}
		if some {
			t.Lines = append(t.Lines, line)
		}
	}
	return t, nil
}

// percent shows ours / theirs − 1 of log(theirs / ours).
func percent(leads []float64) string {
	if len(leads) < 2 {
		return ""
	}
	mean, half := claims.MeanInterval(leads)
	if mean == 0 && half == 0 {
		return "0"
	}
	ratio := func(lead float64) float64 { return 100 * math.Expm1(-lead) }
	text := markdown.Signed("%+.1f", ratio(mean)) + " [" + markdown.Signed("%.1f", ratio(mean+half)) + ", " + markdown.Signed("%.1f", ratio(mean-half)) + "]"
	if math.Abs(mean) > half {
		return "**" + text + "**"
	}
	return text
}

// versions are of the programs beside this one, with each method's mean seconds.
func (s settings) versions(r cells.Results) (markdown.Table, error) {
	t := markdown.Table{Name: "versions", Header: []string{"method", "seconds", "by"}}
	for _, m := range s.Methods {
		of, err := r.Only(map[string]string{"method": m.Name})
		if err != nil {
			return t, err
		}
		lines, err := of.Values(secondsColumn, versionColumn)
		if err != nil {
			return t, err
		}
		if len(lines) == 0 {
			continue
		}
		sum, by := 0.0, lines[0][1]
		for _, line := range lines {
			seconds, err := strconv.ParseFloat(line[0], 64)
			if err != nil {
				return t, fmt.Errorf("column %s: %w", secondsColumn, err)
			}
			sum += seconds
		}
		if by == "-" {
			by = "this program"
		}
		t.Lines = append(t.Lines, []string{m.Name, fmt.Sprintf("%.2g", sum/float64(len(lines))), by})
	}
	return t, nil
}
