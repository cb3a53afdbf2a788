# Gaussian graphical model of a table with missing cells by penalised likelihood:
# EM around the graphical lasso (Staedler & Buehlmann 2012), 'points' values of rho
# from the one that empties the graph down to 'ratio' times it, warm starts.
#
#   Rscript emglasso.R table.csv precisions.csv points ratio
#
# Writes the precisions (standardised columns), one row a rho, packed by rows of the
# upper triangle, and prints the seconds of the path and its EM iterations.
suppressPackageStartupMessages(library(glasso))
arguments <- commandArgs(trailingOnly = TRUE)
x <- scale(as.matrix(read.csv(arguments[1])))
points <- as.integer(arguments[3])
ratio <- as.numeric(arguments[4])
n <- nrow(x)
d <- ncol(x)

# Rows of one pattern share their factor.
key <- apply(is.na(x), 1, function(m) paste(which(!m), collapse = " "))
groups <- lapply(split(seq_len(n), key), function(rows) {
  o <- which(!is.na(x[rows[1], ]))
  list(rows = length(rows), o = o, m = setdiff(seq_len(d), o), x = t(x[rows, o, drop = FALSE]))
})

# E step: the expected second moments given the observed cells, under N(0, sigma).
expected <- function(sigma) {
  s <- matrix(0, d, d)
  for (g in groups) {
    full <- matrix(0, d, g$rows)
    full[g$o, ] <- g$x
    if (length(g$m) > 0) {
      if (length(g$o) > 0) {
        k <- t(chol2inv(chol(sigma[g$o, g$o, drop = FALSE])) %*% sigma[g$o, g$m, drop = FALSE])
        full[g$m, ] <- k %*% g$x
        s[g$m, g$m] <- s[g$m, g$m] + g$rows * (sigma[g$m, g$m] - k %*% sigma[g$o, g$m, drop = FALSE])
      } else {
        s <- s + g$rows * sigma
      }
    }
    s <- s + tcrossprod(full)
  }
  s / n
}

started <- proc.time()[["elapsed"]]
w <- diag(colMeans(x^2, na.rm = TRUE))
wi <- diag(1 / diag(w))
s <- expected(w)
top <- max(abs(s[upper.tri(s)]))
em <- 0
path <- matrix(0, points, d * (d + 1) / 2)
for (i in seq_len(points)) {
  rho <- top * ratio^((i - 1) / max(points - 1, 1))
  for (iteration in 1:200) {
    fit <- glasso(s, rho, thr = 1e-4, penalize.diagonal = FALSE, start = "warm", w.init = w, wi.init = wi)
    change <- max(abs(fit$wi - wi))
    w <- (fit$w + t(fit$w)) / 2
    wi <- fit$wi
    s <- expected(w)
    em <- em + 1
    if (change < 1e-3) break
  }
  path[i, ] <- t((wi + t(wi)) / 2)[lower.tri(wi, diag = TRUE)]
}
cat(proc.time()[["elapsed"]] - started, em, "\n")
write.table(path, arguments[2], sep = ",", row.names = FALSE, col.names = FALSE)
