# Partial correlations by R's package mantar (Nehler & Schultze 2025) from a covariance.
#
#   Rscript mantar.R covariance.csv out.csv neighborhood|glasso|atan pairs n1 n2 …
#
# pairs is the mean number of rows that show a pair, n1 n2 … the rows that show each column. Writes
# one line: I − R, R the partial correlations, packed by rows of the upper triangle.
suppressPackageStartupMessages(library(mantar))
arguments <- commandArgs(trailingOnly = TRUE)
s <- as.matrix(read.csv(arguments[1]))
s <- cov2cor((s + t(s)) / 2)
dimnames(s) <- list(colnames(s), colnames(s))
fit <- if (arguments[3] == "neighborhood") {
  neighborhood_net(mat = s, ns = as.numeric(arguments[-(1:4)]))
} else {
  suppressWarnings(regularization_net(mat = s, ns = as.numeric(arguments[4]), penalty = arguments[3], likelihood = "mat_based"))
}
p <- -fit$pcor
diag(p) <- 1
write.table(t(t(p)[lower.tri(p, diag = TRUE)]), arguments[2], sep = ",", row.names = FALSE, col.names = FALSE)
