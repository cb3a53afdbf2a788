package missingness

import (
	"encoding/json"
	"fmt"

	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/markdown"
)

var quantityNames = []string{"mean of x1", "variance of x1", "P_11", "P_12"}

// tables have the mean error of each quantity, and, on the same tables, the difference of
// each method that is told the law to the last one.
func tables(text json.RawMessage, r cells.Results) ([]markdown.Table, error) {
	s, err := decode(text)
	if err != nil {
		return nil, err
	}
	all := markdown.Table{Name: "errors", Header: append([]string{"setting", "told", "method", "missing"}, quantityNames...)}
	paired := markdown.Table{Name: "methods", Header: append([]string{"setting", "methods"}, quantityNames...)}
	for _, c := range s.Scenarios {
		for _, f := range c.fits() {
			missing, err := read(r, missingColumn, c.Name, f.told.Name)
			if err != nil {
				return nil, err
			}
			shares := missing.Of("", f.method)
			if len(shares) == 0 {
				continue
			}
			line := []string{c.Name, f.told.Name, f.method, fmt.Sprintf("%.0f %%", 100*stat.Mean(shares, nil))}
			last := c.Methods[len(c.Methods)-1]
			pair := []string{c.Name, f.method + " − " + last}
			for _, column := range errorColumns {
				n, err := read(r, column, c.Name, f.told.Name)
				if err != nil {
					return nil, err
				}
				line, pair = append(line, markdown.SignedInterval(n.Of("", f.method))), append(pair, markdown.SignedInterval(claims.Differences(n, f.method, n, last)))
			}
			all.Lines = append(all.Lines, line)
			if f.told.Name == c.Told[0].Name && f.method != last && len(c.Mean) > 1 { // in one column they are the same fit
				paired.Lines = append(paired.Lines, pair)
			}
		}
	}
	return []markdown.Table{all, paired}, nil
}

// read gives a column's numbers of the fits that are told something.
func read(r cells.Results, column, setting, told string) (*claims.Numbers, error) {
	return claims.Measure{Column: column, Where: map[string]string{settingColumn: setting, toldColumn: told}}.Read(r)
}
