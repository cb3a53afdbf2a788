package cmd

import (
	"encoding/json"

	"missingscore/cmd/report"
	"missingscore/data/mcar"
	"missingscore/trainers/compare"
)

// comparisonJSON is compare.json, and with seconds what --json prints.
type comparisonJSON struct {
	Groups       []comparedJSON `json:"groups"`
	Method       string         `json:"method"`
	Permutations int            `json:"permutations"`
	Failed       int            `json:"failed_permutations"`
	Unconverged  int            `json:"unconverged_permutations"`
	Structure    testJSON       `json:"structure"`
	Strength     testJSON       `json:"strength"`
	Level        float64        `json:"level"`
	Missing      []shareJSON    `json:"missing"`
	Pairs        []changeJSON   `json:"pairs"`
	Warnings     []string       `json:"warnings"`
	BLAS         string         `json:"blas"`
	Seconds      *float64       `json:"seconds,omitempty"`
}

// comparedJSON is one of the two networks.
type comparedJSON struct {
	Name      string  `json:"name"`
	Folder    string  `json:"folder"`
	Rows      int     `json:"rows"`
	Edges     int     `json:"edges"`
	Lambda    float64 `json:"lambda"`
	Strength  float64 `json:"strength"`
	Converged bool    `json:"converged"`
	Verdict   string  `json:"verdict"`
}

type testJSON struct {
	Statistic string  `json:"statistic"`
	Value     float64 `json:"value"`
	P         float64 `json:"p"`
}

type shareJSON struct {
	Column    string   `json:"column"`
	Missing   [2]int   `json:"missing"`
	Rows      [2]int   `json:"rows"`
	P         *float64 `json:"p"`
	Corrected *float64 `json:"p_corrected"`
}

// changeJSON is one pair: null for what is not known.
type changeJSON struct {
	From       string         `json:"from"`
	To         string         `json:"to"`
	Weights    [2]float64     `json:"partial_correlations"`
	Difference float64        `json:"difference"`
	Low        *float64       `json:"low"`
	High       *float64       `json:"high"`
	P          float64        `json:"p"`
	Q          float64        `json:"q"`
	Estimates  *estimatesJSON `json:"estimates,omitempty"`
}

type estimatesJSON struct {
	Estimates  [2]*float64 `json:"estimates"`
	Difference *float64    `json:"difference"`
	Low        *float64    `json:"low"`
	High       *float64    `json:"high"`
	P          *float64    `json:"p"`
	Q          *float64    `json:"q"`
}

// encodeComparison is the object as a line.
func encodeComparison(c report.Comparison, method, blas string, seconds *float64) ([]byte, error) {
	r := c.Result
	out := comparisonJSON{
		Method: method, Permutations: r.Config.Permutations, Failed: r.Failed, Unconverged: r.Unconverged,
		Structure: testJSON{"M", r.Structure.Observed, r.Structure.P}, Strength: testJSON{"S", r.Strength.Observed, r.Strength.P},
		Level: r.Config.Level, Missing: []shareJSON{}, Pairs: []changeJSON{}, Warnings: append([]string{}, c.Warnings...), BLAS: blas, Seconds: seconds,
	}
	for i, g := range c.Groups {
		n := g.Result.Network
		out.Groups = append(out.Groups, comparedJSON{
			Name: g.Name, Folder: g.Folder, Rows: g.Table.N, Edges: len(n.Edges()), Lambda: n.Lambda, Strength: r.Strengths[i],
			Converged: g.Result.Converged, Verdict: g.Result.Verdict,
		})
	}
	for _, s := range r.Gaps {
		out.Missing = append(out.Missing, newShareJSON(s))
	}
	for _, d := range r.Pairs {
		out.Pairs = append(out.Pairs, newChangeJSON(d))
	}
	text, err := json.Marshal(out)
	return append(text, '\n'), err
}

func newShareJSON(s mcar.Share) shareJSON {
	return shareJSON{Column: s.Name, Missing: s.Missing, Rows: s.Rows, P: known(s.P), Corrected: known(s.Corrected)}
}

func newChangeJSON(d compare.Difference) changeJSON {
	out := changeJSON{From: d.From, To: d.To, Weights: d.Weights, Difference: d.Value, Low: known(d.Low), High: known(d.High), P: d.P, Q: d.Q}
	if e := d.Estimates; e != nil {
		out.Estimates = &estimatesJSON{
			Estimates: [2]*float64{known(e.Estimate[0]), known(e.Estimate[1])}, Difference: known(e.Value),
			Low: known(e.Low), High: known(e.High), P: known(e.P), Q: known(e.Q),
		}
	}
	return out
}
