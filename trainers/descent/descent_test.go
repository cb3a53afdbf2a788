package descent_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/setting"
	"missingscore/trainers/descent"
	"missingscore/trainers/evaluate"
)

func TestDefaults(t *testing.T) {
	c, err := descent.Config{}.Resolve()
	require.NoError(t, err)
	require.Equal(t, descent.Config{Epochs: 200, Rate: 0.01}, c)
}

// Settings that cannot be used are named, with their value.
func TestSettingErrors(t *testing.T) {
	for _, c := range []struct {
		config       descent.Config
		field, value string
	}{
		{descent.Config{Epochs: -1}, "epochs", "-1"},
		{descent.Config{Rate: -0.1}, "rate", "-0.1"},
		{descent.Config{Rate: math.Inf(1)}, "rate", "+Inf"},
	} {
		_, err := c.config.Resolve()
		var wrong *setting.Error
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, [2]string{c.field, c.value}, [2]string{wrong.Field, wrong.Value})
	}
}

// Losses of 30 epochs: the last six against the six before.
func TestTrend(t *testing.T) {
	history := func(loss func(epoch int) float64) (h []descent.Record) {
		for i := range 30 {
			h = append(h, descent.Record{Loss: loss(i)})
		}
		return h
	}
	for want, h := range map[string][]descent.Record{
		"converged: over the last 6 epochs the loss changed by 0 ± 0":        history(func(int) float64 { return -3 }),
		"converged: over the last 6 epochs the loss changed by 0 ± 0.18":     history(func(i int) float64 { return 0.28867513459481287 * math.Copysign(1, float64(i%2)-0.5) }), // deviation √(6/5)·0.2887, error √2·0.3162/√6
		"NOT converged: over the last 6 epochs the loss still fell by 12":    history(func(i int) float64 { return 100 - 2*float64(i) }),
		"NOT converged: over the last 6 epochs the loss rose by 12, the fit": history(func(i int) float64 { return 2 * float64(i) }),
		"NOT converged: too few epochs (14) to tell":                         history(func(int) float64 { return 1 })[:14],
	} {
		converged, verdict := descent.Trend(h)
		require.Contains(t, verdict, want)
		require.Equal(t, want[:3] == "con", converged)
	}
}

func TestWriteHistory(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, descent.WriteHistory(&b, []descent.Record{
		{Epoch: 1, Iteration: 5, Loss: -1.5, EffectiveSize: math.NaN(), Errors: []evaluate.Error{{Name: "mean_error", Value: 0.25}}},
		{Epoch: 2, Iteration: 10, Loss: -2, EffectiveSize: 4.5, Errors: []evaluate.Error{{Name: "mean_error", Value: 0.125}}},
	}))
	require.Equal(t, "iteration,epoch,loss,effective_sample_size,mean_error\n5,1,-1.5,,0.25\n10,2,-2,4.5,0.125\n", b.String())
}
