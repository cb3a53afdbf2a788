package star

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/figures"
)

// smoke are the small settings of the ROC curves, with changes.
func smoke(t *testing.T, changes map[string]any) json.RawMessage {
	var sizes map[string]map[string]any
	require.NoError(t, json.Unmarshal(starROC, &sizes))
	for name, value := range changes {
		sizes["smoke"][name] = value
	}
	text, err := json.Marshal(sizes["smoke"])
	require.NoError(t, err)
	return text
}

// A step of 1e300 leaves nothing finite.
func TestAPathThatRunsAwayHasNoNumbers(t *testing.T) {
	for _, path := range []map[string]any{{"schedule": "fixed", "rate": 1e300}, {"schedule": "fixed", "rate": 1e300, "lambdas": 5}} {
		g, err := grid(smoke(t, map[string]any{"fit": map[string]any{}, "path": path, "methods": []any{map[string]any{"method": "zeroed"}}, "likelihood": nil}), 1)
		require.NoError(t, err)
		values, err := g.Cells[0].Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"-", "true"}, values[:2])
		require.Equal(t, []string{"-", "-", "-", "-", "-"}, values[3:])
	}
}

// Figures are of the runs that there are, fewer or more than the settings say.
func TestPanelsAreOfWhatRan(t *testing.T) {
	r := cells.Results{Columns: []string{"treatment", "replicate", "method", "rates"}}
	names := func() (out []string) {
		figures, err := panels(smoke(t, nil), r)
		require.NoError(t, err)
		for _, f := range figures {
			out = append(out, f.Name)
		}
		return out
	}
	r.Lines = [][]string{{"uncorrected", "1", "iw", "0:0 1:1"}, {"honoured", "1", "iw", "-"}}
	require.Equal(t, []string{"roc-uncorrected-1"}, names())
	r.Lines = [][]string{{"uncorrected", "3", "iw", "0:0 1:1"}, {"uncorrected", "5", "iw", "0:0 1:1"}, {"honoured", "1", "iw", "0:0 1:1"}}
	require.Equal(t, []string{"roc-uncorrected-3", "roc-honoured-1"}, names())
}

func TestSettingsOfThePeerAreChecked(t *testing.T) {
	_, err := grid(smoke(t, map[string]any{"likelihood": map[string]any{"lambdas": 5, "ratio": 1, "iterations": 3, "tolerance": 0.001}}), 1)
	require.ErrorContains(t, err, "settings: likelihood: 5 λs over a ratio of 1")
}

// References that one treatment has are drawn in the figures of the others, at the places that both
// have; what was run in a treatment is its own, and methods are never copied.
func TestReferencesAreDrawnInEveryTreatment(t *testing.T) {
	s := settings{Columns: []int{5}, Centres: []int{1}, Treatments: []treatment{{Name: "literal"}, {Name: "honoured"}}}
	r := cells.Results{Columns: []string{"treatment", "missing", "replicate", "method", "auc"}, Lines: [][]string{
		{"literal", "0.2", "1", byMarginal, "0.7"}, {"literal", "0.5", "1", byMarginal, "0.6"},
		{"literal", "0.2", "1", byPartial, "0.9"}, {"literal", "0.2", "1", "var", "0.95"},
		{"honoured", "0.2", "1", "exact", "0.99"}, {"honoured", "0.5", "1", byPartial, "0.8"},
	}}
	at, series, err := figures.Along(r, AUC("missing").With("treatment", "honoured"), []string{"var", "exact", byMarginal, byPartial})
	require.NoError(t, err)
	require.Equal(t, []float64{0.2, 0.5}, at)
	require.NoError(t, s.fillReferences(r, at, series))
	require.Equal(t, [][]float64{nil, nil}, series[0].Values, "a method")
	require.Equal(t, [][]float64{{0.99}, nil}, series[1].Values)
	require.Equal(t, [][]float64{{0.7}, {0.6}}, series[2].Values, "a reference of the other treatment")
	require.Equal(t, [][]float64{nil, {0.8}}, series[3].Values, "a reference of its own")
}
