package cmd

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// Settings of a file are those of the flags; a flag that is given wins.
func TestConfig(t *testing.T) {
	dir := t.TempDir()
	for command, c := range map[string]struct {
		settings string
		with, by []string // flags beside the file, and in place of it
	}{
		"network": {`{"steps":{"seed":5,"draws":4,"method":"iw"},"network":{"lambdas":8,"tolerance":0.05,"select":{"kind":"density","density":0.4},"penalty":{"kind":"l1"}},"inference":{"level":0.9}}`,
			[]string{"--draws=6", "--columns=Ozone,Wind,Temp"},
			[]string{"--seed=5", "--draws=6", "--method=iw", "--lambdas=8", "--tolerance=0.05", "--select=density=0.4", "--penalty=l1", "--columns=Ozone,Wind,Temp"}},
		"fit": {`{"model":{"kind":"mixture","options":{"components":2}},"steps":{"method":"iw","draws":3,"dtype":"float32"},"descent":{"epochs":3,"validation":0.2},"transform":{"columns":{"Ozone":"log"}}}`,
			[]string{"--epochs=2", "--columns=Ozone,Wind"},
			[]string{"--model=mixture", `--model-options={"components":2}`, "--method=iw", "--draws=3", "--dtype=float32", "--epochs=2", "--validation=0.2", "--transform=Ozone=log", "--columns=Ozone,Wind"}},
	} {
		file := filepath.Join(dir, command+".json")
		require.NoError(t, os.WriteFile(file, []byte(c.settings), 0o600))
		var models [2]string
		for i, flags := range [][]string{append(c.with, "--config="+file), c.by} {
			var text bytes.Buffer
			out := filepath.Join(dir, command, string(rune('a'+i))) + "/"
			require.Contains(t, []int{exitDone, exitUnconverged}, run(append([]string{command, "../examples/airquality.csv", "--out", out}, flags...), &text, &text), text.String())
			model, err := os.ReadFile(out + "model.json")
			require.NoError(t, err)
			models[i] = strings.ReplaceAll(string(model), `"level": 0.9`, `"level": 0.95`) // network has no intervals here
		}
		require.Equal(t, models[1], models[0], command)
	}
}

// What a file of settings has wrong is said with its file and field.
func TestConfigErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.json")
	for _, c := range []struct{ command, settings, flag, want string }{
		{"network", `{"network":{"lamda":3}}`, "", `--config FILE: unknown field "lamda"; it should look like`},
		{"network", `{"network":{"lambdas":"x"}}`, "", `--config FILE: "network.lambdas" takes no string`},
		{"network", `{"network":{"lambdas":null}}`, "", `--config FILE: network.lambdas is null`},
		{"network", `{"network":{"floor":-1}}`, "", "--config FILE: network.floor -1: it must not be negative"},
		{"network", `{"network":{"select":{"kind":"bic"}}}`, "", "--config FILE: network.select.kind bic: it is one of ebic"},
		{"network", `{"steps":{"method":"vae"}}`, "", `--config FILE: steps.method: there is no method "vae"`},
		{"network", `{"network":{"threshold":0.1}}`, "--threshold=-1", "--threshold -1: it must be positive"},
		{"network", `{"domain":{}}`, "", "--config FILE: domain: bounds are of columns by name"},
		{"network", `{"model":{"kind":"energy"}}`, "", "--config FILE: model: it is of the command fit"},
		{"fit", `{"network":{}}`, "", "--config FILE: network: it is of the commands network, compare and power"},
		{"fit", `{"descent":{"epochs":-3}}`, "", "--config FILE: descent.epochs -3: it must be positive"},
		{"fit", `{`, "", "--config FILE: it ends too early"},
		{"fit", `{}`, "--config=none.json", "--config open none.json: no such file"},
	} {
		require.NoError(t, os.WriteFile(file, []byte(c.settings), 0o600))
		args := []string{c.command, "../examples/airquality.csv", "--columns=Ozone,Wind", "--out", filepath.Join(t.TempDir(), "o"), "--config", file}
		if c.flag != "" {
			args = append(args, c.flag)
		}
		var text bytes.Buffer
		require.Equal(t, exitUsage, run(args, &text, &text), "%v: %s", c, &text)
		require.Contains(t, strings.ReplaceAll(text.String(), file, "FILE"), c.want)
	}
}

// --help shows the flags that matter, --help-all all of them, and every flag has a heading.
func TestHelp(t *testing.T) {
	flags := func(args ...string) map[string]bool {
		var stdout, stderr bytes.Buffer
		require.Zero(t, run(args, &stdout, &stderr), stderr.String())
		shown := map[string]bool{}
		for _, found := range regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)`).FindAllStringSubmatch(stdout.String(), -1) {
			shown[found[1]] = true
		}
		return shown
	}
	for _, c := range newRoot().Commands() {
		if c.Name() == "man" || c.Name() == "help" {
			continue
		}
		few, all := flags(c.Name(), "--help"), flags(c.Name(), "--help-all")
		require.LessOrEqual(t, len(few), 25, c.Name())
		require.Contains(t, few, "quiet")
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" && f.Name != "help-all" {
				require.Contains(t, all, f.Name, c.Name())
			}
		})
	}
}
