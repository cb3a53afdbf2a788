package cmd

import (
	"context"
	"time"
)

// saveShare is how many times as long as a save takes passes until the next, at least: a run
// then spends less than a twentieth of its time on saves.
const saveShare = 20

// saveEach is how often a run saves; tests of runs that are cut save more often.
var saveEach = time.Second

// savePace says when a run that may be cut saves what it has: once a second, or less often
// where that takes long, and when the run is cut.
type savePace struct {
	last time.Time     // when the last save ended, or the run began
	took time.Duration // the last save
}

// newSavePace is that of a run that begins.
func newSavePace() savePace { return savePace{last: time.Now()} }

// save saves, if it is time.
func (p *savePace) save(ctx context.Context, save func() error) error {
	if ctx.Err() == nil && time.Since(p.last) < max(saveEach, saveShare*p.took) {
		return nil
	}
	start := time.Now()
	err := save()
	p.last = time.Now()
	p.took = p.last.Sub(start)
	return err
}
