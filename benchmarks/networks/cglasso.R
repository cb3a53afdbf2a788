# Gaussian graphical model of a table with missing cells by R's package cglasso (Augugliaro,
# Sottile, Wit & Vinciotti 2023): 'points' values of rho from the one that empties the
# graph down to 'ratio' times it, diagonal not penalised.
#
#   Rscript cglasso.R table.csv out.csv points ratio
#
# Writes a line for each rho: the mean, and the precision packed by rows of the upper triangle.
suppressPackageStartupMessages(library(cglasso))
arguments <- commandArgs(trailingOnly = TRUE)
y <- as.matrix(read.csv(arguments[1]))
y <- y[rowSums(!is.na(y)) > 0, , drop = FALSE]
fit <- cglasso(. ~ ., data = datacggm(Y = y), nrho = as.integer(arguments[3]), rho.min.ratio = as.numeric(arguments[4]))
path <- t(sapply(seq_len(dim(fit$Tht)[4]), function(k) {
  p <- fit$Tht[, , 1, k]
  p <- (p + t(p)) / 2
  c(fit$B[1, , 1, k], t(p)[lower.tri(p, diag = TRUE)])
}))
write.table(path, arguments[2], sep = ",", row.names = FALSE, col.names = FALSE)
