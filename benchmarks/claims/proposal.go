package claims

import "strings"

// Proposal is what Marg-IW and EM draw missing cells from. The paper states N(0, 16 I), for
// its normal experiment, and none for the others: with it about two of ten draws count.
type Proposal struct {
	Words  string
	suffix string // of the methods' names
}

// Proposals are the two readings: the one stated, and the standard normal.
var Proposals = []Proposal{{"proposal N(0, 16 I)", ""}, {"proposal N(0, I)", "-unit"}}

// Methods are the names of the methods' runs with it, which differ for iw and em.
func (p Proposal) Methods(names ...string) []string {
	var out []string
	for _, name := range names {
		if name == "iw" || name == "em" {
			name += p.suffix
		}
		out = append(out, name)
	}
	return out
}

// WithEach is a reading for each proposal.
func WithEach(words string, test func(Proposal) Test) (readings []Reading) {
	for _, p := range Proposals {
		readings = append(readings, Reading{joined(words, p.Words), test(p)})
	}
	return readings
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + ", " + b
}

// withoutProposal are the words of a reading without those of its proposal.
func withoutProposal(words string) string {
	for _, p := range Proposals {
		for _, text := range []string{", " + p.Words, p.Words + ", ", p.Words} {
			words = strings.ReplaceAll(words, text, "")
		}
	}
	return words
}
