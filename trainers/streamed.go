package trainers

import (
	"context"
	"math"

	"missingscore/data"
	"missingscore/internal/data/survey"
	"missingscore/internal/trainers/descent"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/rows"
)

type streamed struct {
	file    *data.RowFile
	options survey.Options
	survey  *survey.Survey
	columns []data.ColumnSums // modelled columns
	asked   descent.Config
}

// PrepareFile is Prepare for a file of rows that are not held in memory
// (docs/explanation/streaming.md). The file must stay open and unchanged until the estimate is
// done. Features that need all rows at once give a *SettingError of stream. progress is of each
// pass; it may be nil.
func PrepareFile(ctx context.Context, f *data.RowFile, s Spec, progress func(read, size int64)) (*Prepared, error) {
	if s.Network != nil {
		return nil, notStreamed("a network needs all rows in memory; compute moments by missingscore moments and use them")
	}
	o := survey.Options{Seed: s.Steps.Seed, Workers: s.Steps.Workers, Progress: progress}
	taken, err := survey.Take(ctx, f, o)
	if err != nil {
		return nil, err
	}
	p, err := prepare(taken.Sample, s, &streamed{file: f, options: o, survey: taken, columns: taken.Columns, asked: s.Descent})
	if err != nil {
		return nil, err
	}
	return p, sumColumns(ctx, p)
}

// It fails for rows outside the support.
func sumColumns(ctx context.Context, p *Prepared) (err error) {
	raw := p.Spec.Missingness.Support(p.Spec.Domain)
	if p.Transform == nil && !raw.Bounded() && !p.Support.Bounded() {
		return nil
	}
	p.file.columns, err = survey.Columns(ctx, p.file.file, p.file.options, func(t *data.Table) (*data.Table, error) {
		if err := t.Inside(raw); err != nil {
			return nil, err
		}
		t, err := p.Transform.Table(t)
		if err != nil {
			return nil, err
		}
		return t, t.Inside(p.Support)
	})
	if err != nil {
		return err
	}
	for j, c := range p.file.columns {
		if err := c.Fault(p.Table.Names[j]); err != nil {
			return err
		}
	}
	return nil
}

func rowsOf(ctx context.Context, p *Prepared, e *engine.Engine, scale data.Scale) (*rows.File, error) {
	if p.file == nil {
		return nil, nil
	}
	source := rows.Source{File: p.file.file, Before: p.file.survey.Before, Rows: p.Table.Sampled.Rows,
		Model: func(t *data.Table) (*data.Table, error) {
			t, err := p.Transform.Table(t)
			if err != nil {
				return nil, err
			}
			return scale.Standardised(t), nil
		},
		Hold: func(done, total int) {
			e.Report(engine.Progress{Stage: "reading", Unit: "block", Iteration: done, Total: total, Loss: math.NaN(), EffectiveSize: math.NaN()})
		}}
	return rows.NewFile(ctx, source, e.Config.Seed, e.Config.Batch, *p.Spec.Descent.Validation, 0)
}
