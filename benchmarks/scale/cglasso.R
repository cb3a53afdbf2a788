# Path of Gaussian networks of a table with missing cells by the R package cglasso (Augugliaro,
# Sottile, Wit & Vinciotti 2023), diagonal not penalised.
#
#   Rscript cglasso.R table.csv out.csv points ratio threshold thr.em thr.bcd [thr.em thr.bcd]
#
# The second pair of tolerances defines the limit: the script prints the largest difference of a
# partial correlation from it.
suppressPackageStartupMessages(library(cglasso))
arguments <- commandArgs(trailingOnly = TRUE)
y <- as.matrix(read.csv(arguments[1]))
threshold <- as.numeric(arguments[5])
resident <- function(line) {
  status <- grep(line, readLines("/proc/self/status"), value = TRUE)
  as.numeric(sub("[^0-9]*([0-9]+).*", "\\1", status)) / 1024
}
invisible(gc(full = TRUE))
before <- resident("^VmRSS")
path <- function(thr) {
  cglasso(. ~ ., data = datacggm(Y = y), nrho = as.integer(arguments[3]), rho.min.ratio = as.numeric(arguments[4]), thr.em = thr[1], thr.bcd = thr[2])
}
took <- system.time(fit <- path(as.numeric(arguments[6:7])))
most <- resident("^VmHWM") - before
points <- dim(fit$Tht)[4]
edges <- do.call(rbind, lapply(seq_len(points), function(k) {
  p <- fit$Tht[, , 1, k]
  at <- which(abs(p) > threshold & upper.tri(p), arr.ind = TRUE)
  if (nrow(at) == 0) NULL else cbind(k, at[, 1], at[, 2]) - 1
}))
write.table(rbind(c(took[["elapsed"]], most, points), edges), arguments[2], sep = ",", row.names = FALSE, col.names = FALSE)
if (length(arguments) > 7) {
  limit <- path(as.numeric(arguments[8:9]))
  partial <- function(fit, k) {
    r <- cov2cor(fit$Tht[, , 1, k])
    r[upper.tri(r)]
  }
  cat(max(sapply(seq_len(min(points, dim(limit$Tht)[4])), function(k) abs(partial(fit, k) - partial(limit, k)))), "\n")
}
