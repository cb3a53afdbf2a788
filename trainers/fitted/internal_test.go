package fitted

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph/model"
)

func TestManyColumns(t *testing.T) {
	const d = denseColumns + 1
	p := mat.NewSymDense(d, nil)
	s := Saved{Kind: "gaussian", Scale: data.UnitScale(d)}
	for j := range d {
		p.SetSym(j, j, 2+float64(j)/d)
		s.Names = append(s.Names, "x"+strconv.Itoa(j))
	}
	p.SetSym(3, 300, -0.25)
	p.SetSym(0, 1, 0.125)
	var text []byte
	for i, kind := range []model.Parameterisation{model.Natural, model.FreeSymmetric} {
		g := model.NewGaussian(d, kind)
		require.NoError(t, g.SetPrecision(p))
		s.Model = g
		same, err := s.Encode(nil)
		require.NoError(t, err)
		require.True(t, i == 0 || bytes.Equal(text, same))
		text = same
	}
	require.Less(t, len(text), 30000)
	var f struct{ Precision symmetricFile }
	require.NoError(t, json.Unmarshal(text, &f))
	require.Equal(t, [][3]float64{{0, 1, 0.125}, {3, 300, -0.25}}, f.Precision.Pairs)
	file := filepath.Join(t.TempDir(), "model.json")
	load := func(text string) (*Saved, error) {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return Load(file)
	}
	back, err := load(string(text))
	require.NoError(t, err)
	require.True(t, mat.EqualApprox(p, back.Model.(*model.Gaussian).Precision(), 1e-12))

	at := strings.Index(string(text), `"pairs"`)
	for from, to := range map[string]string{"300,": "301,", "3,": "3.5,", "0,": "-1,"} {
		broken := string(text[:at]) + strings.Replace(string(text[at:]), from, to, 1)
		require.NotEqual(t, string(text), broken)
		_, err = load(broken)
		require.ErrorContains(t, err, "precision: pair ", from)
	}
	_, err = load(strings.Replace(string(text), `"columns": 301`, `"columns": 300`, 1))
	require.ErrorContains(t, err, "precision: 300 columns with a diagonal of 301, 301 are needed")
}

func TestLevelsOf(t *testing.T) {
	column := func(n, distinct int) (x []float64) {
		for i := range n {
			x = append(x, float64(i%distinct))
		}
		return x
	}
	require.NotNil(t, levelsOf(column(100, 20)))
	require.Nil(t, levelsOf(column(105, 21)))
	require.Nil(t, levelsOf(column(99, 20)))
}
