package diagnose

import (
	"fmt"

	"missingscore/data/transform"
)

const (
	manyCategories = 12 // of an ordinal column: as a number it says as much
	leastCategory  = 5  // cells of a category
)

// categories notes ordinal columns that have many categories or some of a few cells.
func categories(e *examined) (found []Finding) {
	var many, thin []int
	for _, j := range e.Transform.Ordinal() {
		c := e.columns[j]
		if c.levels > manyCategories {
			many = append(many, j)
		}
		if c.fewest < leastCategory {
			thin = append(thin, j)
		}
	}
	if many != nil {
		names := e.names(many)
		found = append(found, Finding{Severity: Note, Columns: names, Message: fmt.Sprintf("%s %s more than %d categories (at most %d are taken): as %s (without --ordinal) %s much the same at less cost",
			columnsText(names), plural(len(names), "has", "have"), manyCategories, transform.MostCategories, plural(len(names), "a number", "numbers"), plural(len(names), "it gives", "they give"))})
	}
	if thin != nil {
		names := e.names(thin)
		found = append(found, Finding{Severity: Note, Columns: names, Message: fmt.Sprintf("%s %s a category with fewer than %d cells: the threshold there, and correlations that rest on it, are not well known; join it with the category beside it in the table",
			columnsText(names), plural(len(names), "has", "have"), leastCategory)})
	}
	return found
}
