package source

// The kinds that are here.
var (
	Zeros    = Kind{Name: "zeros", Note: "zeros in the gaps", New: NewZeros}
	Complete = Kind{Name: "complete", Note: "no gaps", New: NewZeros, CompleteRows: true}
	Proposal = Kind{Name: "proposal", Note: "independent draws from N(0, sd²)", New: NewProposal, Random: true, LogDensity: true, ProposalSD: true}
	Imputer  = Kind{Name: "imputer", Note: "draws of a trained imputer", New: NewImputer, Random: true, LogDensity: true, Imputer: true, Definite: true}
	Chains   = Kind{Name: "chains", Note: "persistent Markov chains towards the model's conditional", New: NewChains, Memory: NewChainMemory, Random: true}
	Exact    = Kind{Name: "exact", Note: "draws from a normal model's own conditional", New: NewExact, Random: true, LogDensity: true, Normal: true, Definite: true}
)

// Kinds are the kinds of sources by name. A new one is a line here, or an assignment in
// the init function of the package that has it.
var Kinds = map[string]Kind{Zeros.Name: Zeros, Complete.Name: Complete, Proposal.Name: Proposal, Imputer.Name: Imputer, Exact.Name: Exact, Chains.Name: Chains}
