package trainers

import (
	"fmt"
	"strings"

	"missingscore/data/diagnose"
	"missingscore/graph/model"
)

// Findings say what is wrong with the table for this estimate, or worth knowing: the
// warnings among them are the first of a Result's.
func (p *Prepared) Findings() ([]diagnose.Finding, error) {
	if p.findings != nil {
		return p.findings, nil
	}
	if p.original.Counted != nil {
		p.findings = p.countedFindings()
		return p.findings, nil
	}
	_, normal := model.AsNormal(p.Model)
	found, err := diagnose.Table(p.original, diagnose.Setting{
		Domain: p.Spec.Domain, Transform: p.Transform, Unpenalised: normal && p.Spec.Network == nil, Workers: p.Spec.Steps.Workers,
	})
	if err != nil {
		return nil, err
	}
	if released := p.Transform.Released(p.Spec.Domain, p.Table.Names); released != nil {
		found = append(found, diagnose.Finding{Kind: "released", Severity: diagnose.Note, Columns: released,
			Message: fmt.Sprintf("after %s the model needs no bounds of %s: what it draws keeps to them by itself", p.Transform.Describe(p.Table.Names), strings.Join(released, ", "))})
	}
	if p.original.Weights != nil {
		found = append(found, p.weightFinding())
	}
	if f, ok := p.zeroedFinding(); ok {
		found = append(found, f)
	}
	p.findings = append([]diagnose.Finding{}, found...)
	return p.findings, nil
}

// zeroedFinding warns that zeros in the gaps of standardised columns are their means, which is not
// the paper's Zeroed where columns have other means than 0. It is silent of a model that no other
// method can fit.
func (p *Prepared) zeroedFinding() (f diagnose.Finding, ok bool) {
	by, _ := p.scaling()
	has, err := model.CapabilitiesOf(p.Model)
	if p.Spec.Steps.Method != "zeroed" || by != standardised || p.Table.Complete() || err != nil || !has.Density {
		return f, false
	}
	advice := ""
	if p.Spec.Network == nil {
		advice = "; for zeros in the table's units, as in the paper, add --keep-units"
	}
	return diagnose.Finding{Kind: "zeroed", Severity: diagnose.Warning, Columns: []string{},
		Message: "zeroed sets missing cells to 0 after columns are standardised, which fills them with the column's mean" + advice}, true
}

// exactDependence says by what columns determine another but for rounding, "" where none do. It is
// for after the warnings.
func (p *Prepared) exactDependence() string {
	for _, f := range p.findings {
		if f.Exact != "" {
			return f.Exact + " (exact but for rounding)"
		}
	}
	return ""
}

// warnings are the sentences of those findings that are warnings.
func (p *Prepared) warnings() (warnings []string, err error) {
	found, err := p.Findings()
	for _, f := range found {
		if f.Severity == diagnose.Warning {
			warnings = append(warnings, f.Message)
		}
	}
	return warnings, err
}
