package source

// Memory is what a source keeps from one step to the next, one for all workers of a fit. It
// is a part of the fit's state: a fit that is cut and taken up again goes on with it.
type Memory interface {
	// Capture copies it, Restore puts it back to what Capture gave.
	Capture() []float64
	Restore([]float64)
}
