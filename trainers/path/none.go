package path

import "context"

// none chooses the smallest λ.
type none struct{ plain }

func (none) name() string { return "none" }

func (none) form() string { return "none (the smallest)" }

func (none) parse(value string) (Selection, error) { return Selection{Kind: "none"}, noValue(value) }

func (none) resolve(s Selection, _ int) (Selection, error) { return s, nil }

func (none) judges() bool { return false }

func (none) describe(Selection, bool, bool) string { return "none: the smallest λ" }

func (none) choose(_ context.Context, r *Run) (choice, error) {
	ok := r.choosable()
	chosen := len(ok) - 1
	for ; !ok[chosen]; chosen-- {
	}
	return choice{point: chosen}, nil
}
