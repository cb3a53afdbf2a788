package star

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/figures"
	"missingscore/benchmarks/marginal"
	"missingscore/data/network"
	"missingscore/internal/picture"
	"missingscore/internal/stream"
)

var treatmentTitle = map[string]string{"literal": "as the paper draws", "honoured": "support honoured", "uncorrected": "draws inside, no correction", "ignored": "truncation ignored"}

// lines are the AUC against what varies, for each treatment.
func lines(text json.RawMessage, r cells.Results) ([]figures.Figure, error) {
	s, err := decode(text)
	if err != nil {
		return nil, err
	}
	word := map[string]string{"columns": "columns", "centres": "star centres", "missing": "missing probability"}[s.along()]
	var out []figures.Figure
	for _, t := range s.Treatments {
		at, series, err := figures.Along(r, AUC(s.along()).With("treatment", t.Name), s.names())
		if err != nil {
			return nil, err
		}
		if err := s.fillReferences(r, at, series); err != nil {
			return nil, err
		}
		p, err := figures.Bands("Edge recovery, "+treatmentTitle[t.Name], word, "AUC", at, series)
		if err != nil {
			return nil, err
		}
		out = append(out, figures.Figure{Name: "auc-" + t.Name, Plot: p, Width: 16, Height: 11,
			Caption: fmt.Sprintf("AUC of the L1 path against the %s, %s: mean and 95 %% interval of the replicates, %d rows, %g of the distribution beyond the plane.",
				word, treatmentTitle[t.Name], s.Rows, s.Outside)})
	}
	return out, nil
}

// fillReferences gives references that were not run in a treatment their numbers of another one,
// where they are the same.
func (s settings) fillReferences(r cells.Results, at []float64, series []figures.Series) error {
	for _, t := range s.Treatments {
		there, others, err := figures.Along(r, AUC(s.along()).With("treatment", t.Name), references)
		if err != nil {
			return err
		}
		for _, other := range others {
			k := slices.IndexFunc(series, func(one figures.Series) bool { return one.Name == other.Name })
			if k < 0 || slices.ContainsFunc(series[k].Values, func(v []float64) bool { return len(v) > 0 }) {
				continue
			}
			for i, x := range at {
				if j := slices.Index(there, x); j >= 0 {
					series[k].Values[i] = other.Values[j]
				}
			}
		}
	}
	return nil
}

// centreFigures adds the heat maps of one star and of five.
func centreFigures(text json.RawMessage, r cells.Results) ([]figures.Figure, error) {
	s, err := decode(text)
	if err != nil {
		return nil, err
	}
	out, err := lines(text, r)
	if err != nil {
		return nil, err
	}
	for _, k := range []int{1, 5} {
		truth, err := s.truth(s.Columns[0], k, stream.New(1, stream.Simulate))
		if err != nil {
			return nil, err
		}
		of := "a star with 1 centre"
		if k > 1 {
			of = fmt.Sprintf("a star graph with %d centres", k)
		}
		maps, err := marginal.Figures(fmt.Sprintf("%d-centres-", k), of, truth.Precision)
		if err != nil {
			return nil, err
		}
		out = append(out, maps...)
	}
	return out, nil
}

// panels are the ROC curves of the first four replicates, as far as there are any.
func panels(text json.RawMessage, r cells.Results) ([]figures.Figure, error) {
	s, err := decode(text)
	if err != nil {
		return nil, err
	}
	var out []figures.Figure
	for _, t := range s.Treatments {
		for run := 1; run <= 4; run++ {
			chosen, err := r.Only(map[string]string{"treatment": t.Name, "replicate": strconv.Itoa(run)})
			if err != nil {
				return nil, err
			}
			var curves []picture.NamedRates
			for _, line := range chosen.Lines {
				curve, err := rates(line[len(line)-1])
				if err != nil {
					return nil, err
				}
				if curve != nil {
					curves = append(curves, picture.NamedRates{Name: line[slices.Index(r.Columns, "method")], Rates: curve})
				}
			}
			if curves == nil {
				continue
			}
			p, err := picture.ROCs(fmt.Sprintf("Run %d, %s", run, treatmentTitle[t.Name]), curves)
			if err != nil {
				return nil, err
			}
			out = append(out, figures.Figure{Name: fmt.Sprintf("roc-%s-%d", t.Name, run), Plot: p, Width: 11, Height: 10,
				Caption: fmt.Sprintf("ROC curves of run %d, %s; in brackets the AUC.", run, treatmentTitle[t.Name])})
		}
	}
	return out, nil
}

// rates reads FPR:TPR pairs; "-" is none.
func rates(text string) ([]network.Rate, error) {
	if text == "-" {
		return nil, nil
	}
	var out []network.Rate
	for _, pair := range strings.Fields(text) {
		var r network.Rate
		if _, err := fmt.Sscanf(pair, "%g:%g", &r.FPR, &r.TPR); err != nil {
			return nil, fmt.Errorf("rates %q: %w", pair, err)
		}
		out = append(out, r)
	}
	return out, nil
}
