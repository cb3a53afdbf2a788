package sandwich

import (
	"fmt"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/memory"
	"missingscore/internal/setting"
	"missingscore/losses"
	"missingscore/trainers/estimator"
	"missingscore/trainers/inference"
)

// Fit is what a fit is to be, before it is made.
type Fit struct {
	Estimator estimator.Estimator
	Model     model.Model
	Kind      string // the model's name
	Objective losses.Objective
	Table     *data.Table
	Draws     int  // of a row
	Law       bool // of missing cells is known
	KeepUnits bool
}

// mostParameters is what differences of gradients are made for.
const mostParameters = 2000

const leaveOut = "leave --inference out"

// Check refuses, as an error of the setting inference or stability, what has no standard errors.
func Check(c inference.Config, f Fit) error {
	if c.Stability != 0 {
		return setting.Errorf("stability", c.Stability, "it is of networks; leave it out")
	}
	refuse := func(why string) error { return setting.Errorf("inference", c.Kind, "%s", why) }
	if c.Kind != Kind {
		return refuse("for the parameters of a fit it is none or robust; the others are of networks")
	}
	if _, ok := f.Model.(model.Identified); !ok {
		return refuse("the parameters of model " + f.Kind + " are not determined by its density, and errors of them mean nothing: it is for gaussian, quartic and mixture; " + leaveOut)
	}
	switch {
	case f.Law:
		return refuse("it is not for tables whose cells are missing by a known law; " + leaveOut)
	case f.KeepUnits:
		return refuse("its differences are of standardised columns; leave --keep-units out")
	case losses.Draws(f.Objective):
		return refuse("the objective draws at random, and its draws cannot be held fixed; take --objective auto")
	}
	if _, ok := f.Objective.(losses.Noising); ok {
		return refuse("the model is of rows with noise added; take --objective auto")
	}
	if err := f.method(refuse); err != nil {
		return err
	}
	size := len(values(f.Model))
	if size > mostParameters {
		return refuse(fmt.Sprintf("the model has %d parameters, and it is for %d at most; choose columns (--columns)", size, mostParameters))
	}
	return f.room(float64(size))
}

// room asks for the memory: of draws, what they are moved to and what they come from; of
// matrices of parameters and scales.
func (f Fit) room(size float64) error {
	t := f.Table
	r := number(f.Estimator, t.N, f.Draws)
	drawn := float64(t.N) * float64(r) * float64(t.D+1)
	wide := size + 2*float64(t.D)
	return memory.Check(8*(3*drawn+8*wide*wide), "leave --inference out, choose columns (--columns) or fewer --draws",
		"standard errors of %.0f parameters from %d rows with %d draws each", size, t.N, r)
}

// method refuses estimators whose draws are not those of a density that is known: there is no
// derivative of what their distribution does as the parameters move.
func (f Fit) method(refuse func(string) error) error {
	e := f.Estimator
	switch {
	case e.Assumption() == losses.NoneHolds && !f.Table.Complete():
		return refuse("method " + e.Name + " is biased, and intervals around its estimate would miss the truth; take --method em-full, or iw")
	case e.Draws() && !e.Source.Normal && !e.Weighting.Needs().Proposal:
		instead := "variw"
		if e.Assumption() == losses.MAR {
			instead = "em-variw"
		}
		return refuse("the draws of method " + e.Name + " have no density that weights could follow; take --method " + instead + ", or em-full")
	}
	return nil
}
