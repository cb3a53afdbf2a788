# A network of ordered categories as R users make it: polychoric correlations of pairs (lavaan,
# rows that have both items), smoothed where they are not positive definite, a graphical lasso
# along 100 values of rho, and of its networks the one with the least extended BIC (gamma 0.25, as
# many rows as a pair has on average).
#
#   Rscript lavaan.R table.csv partials.csv
#
# Writes a line: the partial correlations of pairs (1,2), (1,3), ...
suppressPackageStartupMessages({library(lavaan); library(glasso)})
arguments <- commandArgs(trailingOnly = TRUE)
x <- read.csv(arguments[1])
d <- ncol(x)
x[] <- lapply(x, ordered)
r <- unclass(lavCor(x, ordered = names(x), missing = "pairwise", output = "cor"))
attributes(r) <- list(dim = c(d, d))
e <- eigen(r, symmetric = TRUE)
if (min(e$values) < 1e-6) {
  r <- cov2cor(e$vectors %*% diag(pmax(e$values, 1e-6)) %*% t(e$vectors))
}
seen <- !is.na(as.matrix(x))
n <- mean(crossprod(seen)[upper.tri(r)])
top <- max(abs(r[upper.tri(r)]))
best <- Inf
for (rho in top * 0.01^((0:99) / 99)) {
  p <- glasso(r, rho, penalize.diagonal = FALSE)$wi
  p <- (p + t(p)) / 2
  edges <- sum(p[upper.tri(p)] != 0)
  likelihood <- n / 2 * (as.numeric(determinant(p)$modulus) - sum(r * p))
  score <- -2 * likelihood + edges * (log(n) + 4 * 0.25 * log(d))
  if (score < best) {
    best <- score
    found <- -cov2cor(p)
  }
}
write.table(t(t(found)[lower.tri(found)]), arguments[2], sep = ",", row.names = FALSE, col.names = FALSE)
