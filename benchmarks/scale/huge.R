# Path of Gaussian networks of a complete table by the graphical lasso of the R package huge
# (Zhao, Liu, Roeder, Lafferty & Wasserman 2012).
#
#   Rscript huge.R table.csv out.csv points ratio threshold
suppressPackageStartupMessages(library(huge))
arguments <- commandArgs(trailingOnly = TRUE)
y <- as.matrix(read.csv(arguments[1]))
threshold <- as.numeric(arguments[5])
resident <- function(line) {
  status <- grep(line, readLines("/proc/self/status"), value = TRUE)
  as.numeric(sub("[^0-9]*([0-9]+).*", "\\1", status)) / 1024
}
invisible(gc(full = TRUE))
before <- resident("^VmRSS")
took <- system.time(fit <- huge(y, method = "glasso", nlambda = as.integer(arguments[3]), lambda.min.ratio = as.numeric(arguments[4]), verbose = FALSE))
most <- resident("^VmHWM") - before
points <- length(fit$icov)
edges <- do.call(rbind, lapply(seq_len(points), function(k) {
  p <- as.matrix(fit$icov[[k]])
  at <- which(abs(p) > threshold & upper.tri(p), arr.ind = TRUE)
  if (nrow(at) == 0) NULL else cbind(k, at[, 1], at[, 2]) - 1
}))
write.table(rbind(c(took[["elapsed"]], most, points), edges), arguments[2], sep = ",", row.names = FALSE, col.names = FALSE)
