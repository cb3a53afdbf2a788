package cmd

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"missingscore/internal/simd"
)

var update = flag.Bool("update", false, "rewrite the goldens in testdata/golden")

const (
	goldens    = "testdata/golden"
	goldenCut  = 12000 // longer files are kept by their hash and first lines
	goldenHead = 5
	goldenLine = 200
)

// golden is a case: commands run one after the other in a folder of their own. What
// they print and write is kept in testdata/golden/NAME.txtar. Of commands in prepare,
// and of all files in the folder in, only hashes are kept. A command that begins with
// "interrupt" is interrupted at its first line of progress, which must leave most of
// it to do.
type golden struct {
	name    string
	prepare []string
	run     []string
}

// Tables that cases begin with: of a star, with and without a support.
const (
	star       = "simulate star --d 5 --n 80 --missing 0.25 --seed 1 --out in"
	positive5  = "simulate star --d 5 --n 80 --missing 0.25 --lower 0 --seed 2 --out in"
	beyond     = "simulate star --d 5 --n 80 --missing 0.25 --truncate halfspace=0.5 --seed 3 --out in"
	three      = "simulate normal --d 3 --n 40 --missing 0.3 --seed 4 --out in"
	positive3  = "simulate normal --d 3 --n 40 --missing 0.3 --lower 0 --seed 5 --out in"
	moons      = "simulate moons --n 60 --missing 0.3 --seed 6 --out in"
	notRandom  = "simulate normal --d 3 --n 60 --missing-by examples/missingness.json --missing 0.2 --seed 7 --out in"
	few        = "simulate normal --d 3 --n 8 --missing 0.3 --seed 8 --out few"
	fewStar    = "simulate star --d 5 --n 60 --missing 0.45 --seed 11 --out few"
	fewInside  = "simulate normal --d 3 --n 8 --missing 0.3 --lower 0 --seed 9 --out few"
	fewMoons   = "simulate moons --n 8 --missing 0.3 --seed 10 --out few"
	quickly    = " --optimiser adam --epochs 2 --batch 20 --seed 3"
	chains     = " --warm-up 30 --iterations 40"
	levels     = ` --objective denoising --objective-options {"noise":{"levels":4,"least":0.2,"most":3}}`
	fixed      = ` --objective denoising --objective-options {"noise":{"kind":"fixed","least":0.3}}`
	continuous = " --objective denoising"
	sizeSmall  = ` --model-options {"hidden":[4]}`
)

func goldenCases() []golden {
	cases := []golden{
		{"network-truth-json", []string{star}, []string{
			"network in/data.csv --method exact --truth in/truth.csv --json --seed 3 --workers 1 --out truth",
			"network in/data.csv --method iw --truth in/truth.csv --lambdas 12 --select none --seed 3 --workers 2 --out none",
		}},
		{"network-full", []string{star}, []string{
			"network in/complete.csv --method full --truth in/truth.csv --select cv=3 --seed 3 --workers 2 --out full",
			"network in/complete.csv --lower -9 --select density=0.3 --seed 3 --workers 1 --out support",
			"network in/complete.csv --hide 0.2 --lambdas 10 --lambda-max 0.3 --lambda-min 0.03 --seed 3 --workers 1 --out hide",
		}},
		{"network-airquality", nil, []string{
			"network examples/airquality.csv --columns Ozone,Solar.R,Wind,Temp --seed 1 --workers 2 --out air",
			"network examples/airquality.csv --columns Ozone,Solar.R,Wind,Temp --method iw --draws 5 --gamma 0 --lambdas 10 --threshold 0.01 --seed 1 --workers 1 --out iw",
		}},
		{"network-halfspace", []string{beyond}, []string{
			"network in/data.csv --domain in/domain.json --method exact --select stars=0.2 --lambdas 8 --truth in/truth.csv --seed 3 --workers 2 --out exact",
			"network in/data.csv --domain in/domain.json --method var --draws 4 --imputer-steps 2 --lambdas 8 --tolerance 0.5 --seed 3 --workers 2 --out var",
			"network in/data.csv --domain in/domain.json --method exact --no-tangent --lambdas 8 --seed 3 --workers 1 --out no-tangent",
			"network in/data.csv --domain in/domain.json --method iw --g-per-row --lambdas 8 --seed 3 --workers 1 --out row",
			"network in/data.csv --domain in/domain.json --method iw --g-per-row --no-tangent --g-cap 0.5 --lambdas 8 --seed 3 --workers 2 --out paper",
			"network in/complete.csv --domain in/domain.json --method full --lambdas 8 --seed 3 --workers 2 --out full",
		}},
		{"network-missingness", []string{notRandom}, []string{
			"network in/data.csv --missingness in/missingness.json --method variw --draws 4 --imputer-steps 2 --lambdas 8 --tolerance 0.5 --seed 3 --workers 2 --out variw",
			"network in/data.csv --missingness in/missingness.json --method iw --lambdas 8 --select density=0.5 --seed 3 --workers 1 --out iw",
		}},
		{"network-options", []string{star}, []string{
			"network in/data.csv --method variw --draws 4 --imputer-steps 2 --imputer-loss fisher --mask-input --diagonal-sd --lambdas 6 --tolerance 0.5 --seed 3 --workers 1 --out imputer",
			"network in/data.csv --method var --weighting leave-one-out --draws 4 --imputer-steps 2 --dtype float32 --lambdas 6 --tolerance 0.5 --seed 3 --workers 2 --out float32",
			"network in/data.csv --method iw --proposal-sd 2 --dtype float32 --lambdas 6 --seed 3 --workers 2 --out iw",
			"network in/data.csv --method iw --resume --lambdas 6 --seed 3 --workers 2 --out iw",
		}},
		{"network-resumed", []string{star}, []string{
			"interrupt network in/data.csv --method var --draws 4 --imputer-steps 4 --lambdas 20 --tolerance 0.5 --seed 3 --workers 1 --out cut",
			"network in/data.csv --method var --draws 4 --imputer-steps 4 --lambdas 20 --tolerance 0.5 --seed 3 --workers 2 --resume --out cut",
		}},
		{"compare", []string{star, fewStar}, []string{
			"compare in/data.csv few/data.csv --lambdas 8 --permutations 9 --json --seed 3 --workers 2 --out two",
			"compare examples/airquality.csv --by Month --groups 5,8 --columns Ozone,Solar.R,Wind,Temp --lambdas 8 --permutations 19 --seed 3 --workers 1 --out by",
		}},
		{"compare-resumed", []string{star, fewStar}, []string{
			"interrupt compare in/data.csv few/data.csv --method iw --lambdas 20 --permutations 2 --tolerance 0.5 --seed 3 --workers 1 --out cut",
			"compare in/data.csv few/data.csv --method iw --lambdas 20 --permutations 2 --tolerance 0.5 --seed 3 --workers 2 --resume --out cut",
		}},
		{"power", []string{star}, []string{
			"power --d 4 --graph chain --missing 0.2 --rows 20,40,80 --tables 4 --lambdas 8 --seed 3 --workers 2 --out chain",
			"network in/data.csv --lambdas 8 --seed 3 --workers 1 --out net",
			"power --like net --table in/data.csv --rows 40,80 --tables 4 --lambdas 8 --sensitivity 0.5 --json --seed 3 --workers 1 --out like",
		}},
		{"fit-resumed", []string{star}, []string{
			"interrupt fit in/data.csv --method variw --draws 8 --imputer-steps 10 --warm-up 20 --batch 20 --epochs 50 --seed 3 --out cut/",
			"fit in/data.csv --method variw --draws 8 --imputer-steps 10 --warm-up 20 --batch 20 --epochs 50 --seed 3 --resume --out cut/",
		}},
		{"fit-truth", []string{three}, []string{
			"fit in/data.csv --method exact --truth in/truth.json --seed 3 --out exact/",
			"fit in/data.csv --method iw --truth in/truth.csv --epochs 5 --seed 3 --out iw/",
			"fit in/data.csv --method exact --truth in/truth.json --optimiser adam --epochs 400 --validation 0.2 --json --seed 3 --out long/",
		}},
		{"fit-truth-mixture", []string{moons}, []string{
			"fit in/data.csv --model energy --truth in/truth.json" + sizeSmall + quickly + " --out energy/",
		}},
		{"fit-airquality", nil, []string{
			"fit examples/airquality.csv --columns Ozone,Solar.R,Wind,Temp --seed 1 --history passes.csv --out air.json",
			"fit examples/airquality.csv --columns Ozone,Solar.R,Wind,Temp --lower 0 --method iw --epochs 3 --seed 1 --json --out support/",
			"fit examples/airquality.csv --columns Ozone,Wind --keep-units --method em --epochs 3 --hide 0.1 --seed 1 --out units/",
		}},
		{"fit-options", []string{three}, []string{
			"fit in/data.csv --method iw --dtype float32" + quickly + " --out float32/",
			"fit in/data.csv --method variw --dtype float32 --draws 4 --imputer-steps 2 --warm-up 5" + quickly + " --out imputer32/",
			"fit in/data.csv --model energy --method iw --dtype float32" + sizeSmall + quickly + " --out energy32/",
			"fit in/data.csv --method variw --imputer-loss fisher --mask-input --diagonal-sd --imputer-rate 0.01 --warm-up 5 --rate 0.02" + quickly + " --out imputer/",
			"fit in/data.csv --method iw --proposal-sd 4 --draws 5" + quickly + " --out wide/",
			"fit in/data.csv --method var --weighting leave-one-out --draws 5 --warm-up 5" + quickly + " --out loo/",
			"fit in/data.csv --method exact-mc --weighting uniform --draws 5" + quickly + " --out plugin/",
			"fit in/data.csv --method iw" + levels + quickly + " --out refused/",
			`fit in/data.csv --model energy --method iw --model-options {"hidden":[4,3],"activation":"tanh"}` + quickly + " --out tanh/",
			`fit in/data.csv --model energy --method iw --model-options {"hidden":[4],"activation":"silu"}` + quickly + " --out silu/",
			`fit in/data.csv --model energy --method iw --objective sliced --objective-options {"directions":"normal","number":2}` + sizeSmall + quickly + " --out normal/",
			`fit in/data.csv --model energy --method iw --objective sliced --objective-options {"directions":"basis","variance_reduced":true}` + sizeSmall + quickly + " --out basis/",
			`fit in/data.csv --model energy --method iw --objective denoising --objective-options {"noise":{"kind":"preserving"},"weight":"one"}` + sizeSmall + quickly + " --out preserving/",
			`fit in/data.csv --model energy --method variw --warm-up 5` + fixed + sizeSmall + quickly + " --out fixed/",
		}},
		{"fit-halfspace", []string{beyond}, []string{
			"fit in/data.csv --domain in/domain.json --method exact" + quickly + " --out exact/",
			"fit in/data.csv --domain in/domain.json --method iw --no-tangent" + quickly + " --out no-tangent/",
			"fit in/data.csv --domain in/domain.json --model mixture --method iw --g-per-row --g-cap 0.5" + quickly + " --out mixture/",
		}},
		{"fit-missingness", []string{notRandom}, []string{
			"fit in/data.csv --missingness in/missingness.json --draws 4 --imputer-steps 2 --warm-up 5" + quickly + " --out auto/",
			"fit in/data.csv --missingness in/missingness.json --method iw" + quickly + " --out iw/",
			"fit in/data.csv --missingness in/missingness.json --method em" + quickly + " --out em/",
			"fit in/data.csv --missingness in/missingness.json --model energy --method iw" + sizeSmall + quickly + " --out energy/",
			"impute auto/model.json in/data.csv" + chains + " --seed 3 --workers 2 --out completed.csv",
			"score iw/model.json in/data.csv" + chains + " --draws 8 --seed 3 --workers 2 --out scores.csv",
		}},
		{"use-gaussian", []string{three, few}, []string{
			"fit in/data.csv --method exact" + quickly + " --out model.json",
			"impute model.json few/data.csv --seed 3 --workers 1 --out one.csv",
			"impute model.json few/data.csv --draws 3 --seed 3 --workers 2 --json --out three.csv",
			"impute model.json few/data.csv --sampler mcmc --seed 3 --workers 2 --out mcmc.csv" + chains,
			"sample model.json --n 10 --seed 3 --out exact.csv",
			"sample model.json --n 10 --sampler hmc --seed 3 --json --out hmc.csv" + chains,
			"sample model.json --n 10 --sampler mala --seed 3 --out mala.csv" + chains,
			"score model.json few/data.csv --draws 8 --seed 3 --workers 2 --out scores.csv",
			"score model.json few/data.csv --draws 8 --sampler mcmc --seed 3 --workers 1 --json --out mcmc-scores.csv" + chains,
		}},
		{"use-gaussian-support", []string{positive3, fewInside}, []string{
			"fit in/data.csv --lower 0" + quickly + " --out model.json",
			"impute model.json few/data.csv --draws 2 --seed 3 --workers 2 --out completed.csv",
			"sample model.json --n 10 --seed 3 --out exact.csv",
			"sample model.json --n 10 --sampler hmc --seed 3 --out hmc.csv" + chains,
			"score model.json few/data.csv --draws 8 --seed 3 --workers 2 --out scores.csv",
		}},
		{"use-imputer", []string{three, few}, []string{
			"fit in/data.csv --method var --warm-up 20 --draws 4" + quickly + " --out model.json",
			"impute model.json few/data.csv --sampler imputer --seed 3 --workers 1 --out imputer.csv",
			"impute model.json few/data.csv --sampler mcmc --seed 3 --workers 2 --out mcmc.csv" + chains,
			"score model.json few/data.csv --sampler imputer --draws 8 --seed 3 --workers 2 --out scores.csv",
		}},
		{"use-quartic", []string{"simulate quartic --d 3 --n 40 --missing 0.3 --seed 4 --out in", "simulate quartic --d 3 --n 8 --missing 0.3 --seed 8 --out few"}, []string{
			"fit in/data.csv --model quartic" + quickly + " --out model.json",
			"impute model.json few/data.csv --seed 3 --workers 2 --out completed.csv" + chains,
			"sample model.json --n 10 --seed 3 --out hmc.csv" + chains,
			"score model.json few/data.csv --draws 8 --seed 3 --workers 2 --out scores.csv" + chains,
			"score in/truth.json few/data.csv --draws 8 --seed 3 --workers 2 --json --out truth-scores.csv" + chains,
		}},
		{"use-mixture", []string{moons, fewMoons}, []string{
			`fit in/data.csv --model mixture --model-options {"components":3}` + quickly + " --out model.json",
			"impute model.json few/data.csv --seed 3 --workers 2 --out completed.csv" + chains,
			"sample model.json --n 10 --seed 3 --out exact.csv",
			"sample model.json --n 10 --sampler mala --seed 3 --out mala.csv" + chains,
			"score model.json few/complete.csv --seed 3 --workers 2 --out scores.csv",
			"sample in/truth.json --n 10 --seed 3 --out truth.csv",
		}},
		{"use-energy", []string{moons, fewMoons}, []string{
			"fit in/data.csv --model energy --method iw" + sizeSmall + quickly + " --out model.json",
			"impute model.json few/data.csv --seed 3 --workers 2 --out completed.csv" + chains,
			"sample model.json --n 10 --seed 3 --out hmc.csv" + chains,
			"score model.json few/data.csv --draws 8 --seed 3 --workers 2 --out scores.csv" + chains,
			"sample model.json --n 10 --sampler sde --seed 3 --out sde.csv",
		}},
		{"use-energy-levels", []string{moons, fewMoons}, []string{
			"fit in/data.csv --model energy --method iw" + levels + sizeSmall + quickly + " --out model.json",
			"sample model.json --n 10 --corrections 5 --seed 3 --out langevin.csv",
			"sample model.json --n 10 --sampler ode --seed 3 --out ode.csv",
			"sample model.json --n 10 --sampler mala --seed 3 --out mala.csv" + chains,
			"impute model.json few/data.csv --sampler diffusion --corrections 3 --seed 3 --workers 2 --out diffusion.csv",
			"impute model.json few/data.csv --seed 3 --workers 1 --out mcmc.csv" + chains,
			"score model.json few/data.csv --sampler diffusion --corrections 3 --draws 8 --seed 3 --workers 2 --out scores.csv",
		}},
		{"use-energy-continuous", []string{moons, fewMoons}, []string{
			"fit in/data.csv --model energy --method variw --warm-up 20 --draws 4" + continuous + sizeSmall + quickly + " --out model.json",
			"sample model.json --n 10 --steps 30 --seed 3 --out sde.csv",
			"sample model.json --n 10 --sampler sde --steps 30 --corrections 1 --seed 3 --out corrected.csv",
			"sample model.json --n 10 --sampler ode --steps 20 --seed 3 --out ode.csv",
			"sample model.json --n 10 --sampler langevin --steps 6 --corrections 4 --seed 3 --out langevin.csv",
			"impute model.json few/data.csv --sampler imputer --seed 3 --workers 1 --out imputer.csv",
		}},
		{"use-score-network", []string{moons, fewMoons}, []string{
			"fit in/data.csv --model score-network" + continuous + sizeSmall + quickly + " --out model.json",
			"sample model.json --n 10 --steps 30 --seed 3 --out sde.csv",
			"sample model.json --n 10 --sampler ode --steps 20 --seed 3 --out ode.csv",
			"sample model.json --n 10 --sampler langevin --steps 6 --corrections 4 --seed 3 --json --out langevin.csv",
			"sample model.json --n 10 --sampler hmc --seed 3 --out hmc.csv",
			"impute model.json few/data.csv --steps 6 --corrections 3 --seed 3 --workers 2 --out completed.csv",
			"score model.json few/data.csv --steps 6 --corrections 3 --draws 8 --seed 3 --workers 2 --out scores.csv",
		}},
		{"check", []string{strings.Replace(notRandom, "--out in", "--out not", 1)}, []string{
			"check examples/airquality.csv --columns Ozone,Solar.R,Wind,Temp",
			"check not/data.csv --missingness not/missingness.json --json",
		}},
		{"simulate-truncated", nil, []string{
			"simulate normal --d 4 --n 30 --truncate box=0.3 --seed 2 --out box",
			"simulate dense --d 4 --n 30 --truncate halfspace=0.3 --seed 2 --out halfspace",
			"simulate star --d 4 --n 30 --lower 0 --upper x1=2 --seed 2 --out bounds",
			"simulate quartic --d 3 --n 30 --lower x1=0 --seed 2 --out quartic",
		}},
		{"simulate-not-random", nil, []string{
			"simulate normal --d 3 --n 30 --missing-by examples/missingness.json --seed 2 --out alone",
			"simulate normal --d 3 --n 30 --missing-by examples/missingness.json --missing 0.4 --seed 2 --out both",
		}},
		{"simulate-large", nil, []string{"simulate star --d 20 --n 1000 --missing 0.5 --truncate halfspace --seed 1 --out star"}},
	}
	for _, kind := range []string{"normal", "star", "dense", "stars", "quartic", "moons", "ring", "curve", "modes"} {
		cases = append(cases, golden{"simulate-" + kind, nil, []string{"simulate " + kind + " --d 8 --centres 2 --n 30 --missing 0.3 --seed 2 --out " + kind}})
	}
	return slices.Concat(cases, networkGoldens(), fitGoldens())
}

// networkGoldens are all methods, without and with a support, and all selections.
func networkGoldens() (cases []golden) {
	selections := []string{"ebic", "cv=3", "stars", "density=0.4", "none"}
	for i, method := range []string{"auto", "exact", "var", "iw", "variw", "exact-mc", "em", "em-full", "zeroed", "em-exact", "em-exact-mc", "em-var", "em-variw", "em-chains", "chains"} {
		quick := ""
		imputer := method == "var" || method == "variw" || method == "em-var" || method == "em-variw"
		if imputer {
			quick = ` --draws 4 --imputer-steps 2 --imputer-options {"hidden":20}`
		}
		for j, table := range []string{star, positive5} {
			selection := selections[(i+2*j)%len(selections)]
			name, support, lambdas := "network-"+method, "", 10
			if j > 0 {
				name, support = name+"-support", " --lower 0"
			}
			if strings.HasSuffix(method, "mc") || strings.HasSuffix(method, "chains") || imputer || j > 0 {
				lambdas = 4 // these take most of the time
			}
			cases = append(cases, golden{name, []string{table}, []string{fmt.Sprintf("network in/data.csv --method %s%s%s --select %s --lambdas %d --tolerance 0.1 --truth in/truth.csv --seed 3 --workers %d --out out",
				method, support, quick, selection, lambdas, 1+(i+j)%2)}})
		}
	}
	return cases
}

// fitGoldens are all models by all objectives and methods, also those that are refused.
func fitGoldens() (cases []golden) {
	for _, model := range []string{"gaussian", "gaussian-natural", "gaussian-network", "mixture", "quartic", "energy", "score-network"} {
		options := map[string]string{"mixture": ` --model-options {"components":3}`, "energy": sizeSmall, "score-network": sizeSmall}[model]
		noise := fixed
		if model == "energy" || model == "score-network" {
			noise = levels
		}
		for _, objective := range []struct{ name, table, flags string }{
			{"classical", three, ""},
			{"truncated", positive3, " --lower 0"},
			{"sliced", three, " --objective sliced"},
			{"sliced-support", positive3, " --objective sliced --lower 0"},
			{"denoising", three, noise},
		} {
			c := golden{fmt.Sprintf("fit-%s-%s", model, objective.name), []string{objective.table}, nil}
			for _, method := range []string{"auto", "var", "iw", "variw", "exact", "exact-mc", "em", "em-full", "zeroed", "full", "em-exact"} {
				table, more := "in/data.csv", ""
				switch method {
				case "var", "variw":
					more = " --draws 4 --imputer-steps 2 --warm-up 5"
				case "full":
					table = "in/complete.csv"
				}
				c.run = append(c.run, fmt.Sprintf("fit %s --model %s%s%s --method %s%s%s --out %s/", table, model, options, objective.flags, method, more, quickly, method))
			}
			cases = append(cases, c)
		}
	}
	return cases
}

// TestGoldens compares everything that commands print and write with what the program
// printed and wrote before; go test ./cmd -run TestGoldens -update rewrites it.
//
// Results are the same bytes only where processors round alike: other architectures fuse
// multiplications and additions, as AVX2's loops do and those without vectors do not.
// With AVX-512 and without it (GODEBUG=cpu.avx512f=off) they are the same bytes, but for
// the name of the loops; nor do they depend on GOMAXPROCS.
func TestGoldens(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH != "amd64" {
		t.Skipf("the goldens are those of amd64; on %s the last digits are others", runtime.GOARCH)
	}
	if simd.Instructions() == "no vectors" {
		t.Skip("the goldens are those of AVX2 and FMA, which this processor lacks")
	}
	examples, err := filepath.Abs("../examples")
	require.NoError(t, err)
	known := map[string]bool{}
	for k, c := range goldenCases() {
		file := c.name + ".txtar"
		require.False(t, known[file], "two cases have the name %s", c.name)
		known[file] = true
		if testing.Short() && k%10 > 0 {
			continue // a tenth is enough for the detector of races
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.compare(t, filepath.Join(goldens, file), examples)
		})
	}
	entries, err := os.ReadDir(goldens)
	require.NoError(t, err)
	for _, e := range entries {
		if !known[e.Name()] {
			t.Errorf("%s is the golden of no case", filepath.Join(goldens, e.Name()))
		}
	}
}

func (c golden) compare(t *testing.T, file, examples string) {
	dir := t.TempDir()
	require.NoError(t, os.Symlink(examples, filepath.Join(dir, "examples")))
	got := map[string]string{}
	for i, command := range c.prepare {
		o := goldenRun(t, dir, command)
		require.Equal(t, exitDone, o.code, "%s: %s", command, o.stderr)
		got[fmt.Sprintf("prepare %d", i+1)] = fmt.Sprintf("missingscore %s\nstdout %s\nstderr %s\n", command, hash(o.stdout), hash(o.stderr))
	}
	for i, command := range c.run {
		o := goldenRun(t, dir, command)
		name := fmt.Sprintf("command %02d", i+1)
		got[name] = fmt.Sprintf("missingscore %s\nexit code %d\n", command, o.code)
		if len(o.stdout) > 0 {
			got[name+" stdout"] = kept("stdout", o.stdout)
		}
		if len(o.stderr) > 0 {
			got[name+" stderr"] = kept("stderr", o.stderr)
		}
	}
	require.NoError(t, filepath.WalkDir(dir, func(at string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		got["file "+name] = kept(name, content)
		return nil
	}))

	if *update {
		archive := &txtar.Archive{}
		for _, name := range slices.Sorted(maps.Keys(got)) {
			archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(got[name])})
		}
		require.NoError(t, os.WriteFile(file, txtar.Format(archive), 0o644))
	}
	archive, err := txtar.ParseFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("there is no golden %s: -update writes it", file)
	}
	require.NoError(t, err)
	want := map[string]string{}
	for _, f := range archive.Files {
		want[f.Name] = string(f.Data)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if _, ok := got[name]; !ok {
			t.Errorf("%s: %q is no more", file, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		old, ok := want[name]
		switch {
		case !ok:
			t.Errorf("%s: %q is new", file, name)
		case old != got[name]:
			lines := strings.SplitAfter(string(diff.Diff("golden", []byte(old), "now", []byte(got[name]))), "\n")
			t.Errorf("%s: %q differs:\n%s", file, name, strings.Join(lines[:min(len(lines), 40)], ""))
		}
	}
}

// goldenOutput is what a command did.
type goldenOutput struct {
	code           int
	stdout, stderr []byte
}

// goldenRun runs a command in a folder, with this process's GOMAXPROCS.
func goldenRun(t *testing.T, dir, command string) (o goldenOutput) {
	t.Helper()
	args := strings.Fields(command)
	interrupt := args[0] == "interrupt"
	if interrupt {
		args = args[1:]
	}
	var stdout, stderr bytes.Buffer
	c := exec.CommandContext(t.Context(), "missingscore", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "MISSINGSCORE_BLAS=gonum", "GOMAXPROCS="+strconv.Itoa(runtime.GOMAXPROCS(0)))
	c.Stdout = &stdout
	pipe, err := c.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	lines := bufio.NewReader(pipe)
	for {
		line, err := lines.ReadString('\n')
		if progressLine.MatchString(line) {
			if interrupt {
				require.NoError(t, c.Process.Signal(os.Interrupt))
				interrupt = false
			}
		} else {
			stderr.WriteString(line)
		}
		if err != nil {
			break
		}
	}
	err = c.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		require.NoError(t, err, command)
	}
	return goldenOutput{c.ProcessState.ExitCode(), stdout.Bytes(), stderr.Bytes()}
}

// Progress depends on the clock where it tells the time that is left, and is no result;
// --json gives the seconds that a command took.
var (
	progressLine = regexp.MustCompile(`^\S+: (\S+ )?\d+ of \d+(, .*loss|, paths on| \w+, about) `)
	clock        = regexp.MustCompile(`"seconds":[0-9.e+-]+`)
	vectors      = regexp.MustCompile(`loops with AVX2( and AVX-512)?"`)
)

// kept is what a golden holds of a file.
func kept(name string, content []byte) string {
	if path.Base(name) == "stdout" {
		content = clock.ReplaceAll(content, []byte(`"seconds":"…"`))
	}
	content = vectors.ReplaceAll(content, []byte(`loops with …"`))
	switch {
	case slices.Contains([]string{"in", "few", "not"}, strings.Split(name, "/")[0]), path.Ext(name) == ".svg", path.Ext(name) == ".png", path.Base(name) == "report.html":
		return hash(content) + "\n"
	case len(content) > goldenCut:
		lines := strings.SplitAfter(string(content), "\n")
		head := lines[:min(len(lines), goldenHead)]
		for i, line := range head {
			if len(line) > goldenLine {
				head[i] = strings.ToValidUTF8(line[:goldenLine], "") + "…\n"
			}
		}
		return hash(content) + ", begins\n" + strings.Join(head, "")
	case len(content) > 0 && !bytes.HasSuffix(content, []byte("\n")):
		return string(content) + "\n(no end of line)\n"
	}
	return string(content)
}

func hash(content []byte) string {
	return fmt.Sprintf("sha256 %x, %d bytes", sha256.Sum256(content), len(content))
}
