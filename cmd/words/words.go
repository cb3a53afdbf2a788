// Package words replaces names of the library's settings (Spec.Steps.Method) by flags (--method).
package words

import (
	"io"
	"regexp"

	"missingscore/internal/memory"
)

var Flags = map[string]string{
	"ReadOptions.Columns": "--columns", "ReadOptions.Exclude": "--exclude", "ReadOptions.Numbers": "--numbers",
	"ReadOptions.Decimal": "--dec", "ReadOptions.NA": "--na", "ReadOptions.Comma": "--sep",
	"ReadOptions.Kinds": "--kinds", "ReadOptions.Nominal": "--nominal", "ReadOptions.Strict": "--strict",
	"Table.Weights": "--weights", "ReadGroups": "--groups", "moments.Options.Pairs": "--pairs-only", "PrepareFile": "--stream",
	"MatchConfig.Donors": "--pmm",

	"Spec.Model.Kind": "--model", "Spec.Model.Options": "--model-options", "Spec.Objective.Kind": "--objective",
	"Spec.Transform": "--transform", "Spec.Transform=ordinal": "--ordinal", "Spec.Missingness": "--missingness", "Spec.KeepUnits": "--keep-units",
	"Spec.Domain": "--domain", "Spec.Domain.Lower": "--lower", "Spec.Domain.Upper": "--upper",
	"Spec.Steps.Method": "--method", "Spec.Steps.Draws": "--draws", "Spec.Steps.Seed": "--seed", "Spec.Steps.Workers": "--workers",
	"Spec.Steps.ImputerLoss": "--config steps.imputer_loss", "Spec.Steps.ImputerRate": "--config steps.imputer_rate",
	"Spec.Descent.Penalty": "--penalty", "Spec.Descent.Optimiser": "--optimiser", "Spec.Descent.Epochs": "--epochs", "Spec.Descent.Rate": "--rate",
	"Spec.Descent.Validation": "--validation", "Spec.Descent.Patience": "--config descent.patience",
	"Spec.Descent.Iterations": "--iterations", "Spec.Descent.Tolerance": "--tolerance",
	"Spec.Network.Iterations": "--iterations", "Spec.Network.Tolerance": "--tolerance", "Spec.Network.Rate": "--rate",
	"Spec.Network.Select": "--select", "Spec.Network.Penalty": "--penalty", "Spec.Network.Covariates": "--covariates",
	"Spec.Network.Lambdas": "--lambdas", "Spec.Network.LambdaMax": "--lambda-max", "Spec.Network.LambdaMin": "--lambda-min",
	"Spec.Network.Refit": "--refit", "Spec.Network.Refit=false": "--refit=false",
	"Spec.Inference": "--inference",

	memory.Variable + " where": "--memory or " + memory.Variable + " where",
}

// Name matches a type and fields, and a value behind it where the flag stands for one.
var Name = regexp.MustCompile(`\b(?:(?:Spec|ReadOptions|Table|MatchConfig|moments\.Options)(?:\.[A-Z]\w*)+(?:=(?:ordinal|false))?|ReadGroups|PrepareFile|` + memory.Variable + ` where)\b`)

func Text(message string) string {
	return Name.ReplaceAllStringFunc(message, func(name string) string {
		if flag, ok := Flags[name]; ok {
			return flag
		}
		return name
	})
}

// Writer writes the Text of each message; a message must not be cut in two.
type Writer struct{ W io.Writer }

func (t Writer) Write(text []byte) (int, error) {
	if _, err := io.WriteString(t.W, Text(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}
