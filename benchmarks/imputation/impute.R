# Imputes a mixed table.
#
#   Rscript impute.R table.csv out.csv kinds method train m seed
#
# kinds lists the kind of each column: number, whole, ordered, binary or nominal. The first train rows
# fit the method; the others are imputed only. method is
#   mice    chained equations (van Buuren and Groothuis-Oudshoorn 2011) with the defaults of package
#           mice: pmm, logreg, polyreg and polr, five iterations; m draws
#   norm    the same with Bayesian linear regression of numbers
#   forest  missForest (Stekhoven and Bühlmann 2012) with ranger: a forest of 100 trees for each column,
#           until the imputations change more than before, at most 10 times
#   margin  m draws from the observed cells of the column
# Writes a line with the draws (forest: one value) for each missing cell, row by row. Prints the seconds
# of processor time.
arguments <- commandArgs(trailingOnly = TRUE)
x <- read.csv(arguments[1])
kinds <- strsplit(arguments[3], ",")[[1]]
fitted <- seq_len(nrow(x)) <= as.integer(arguments[5])
m <- as.integer(arguments[6])
seed <- as.integer(arguments[7])
for (j in which(kinds %in% c("binary", "nominal"))) x[[j]] <- factor(x[[j]])
for (j in which(kinds == "ordered")) x[[j]] <- factor(x[[j]], ordered = TRUE)
gap <- is.na(x)
set.seed(seed)

chained <- function(method) {
  made <- mice::mice(x, m = m, seed = seed, printFlag = FALSE, ignore = !fitted, defaultMethod = c(method, "logreg", "polyreg", "polr"))
  lapply(seq_len(m), function(k) mice::complete(made, k))
}
margin <- function() {
  for (j in seq_along(x)) x[[j]][gap[, j]] <- sample(x[[j]][!gap[, j] & fitted], sum(gap[, j]), replace = TRUE)
  x
}
forest <- function() {
  y <- margin()
  for (j in seq_along(x)) { # start at the mean or the most frequent level
    known <- x[[j]][!gap[, j] & fitted]
    y[gap[, j], j] <- if (is.factor(x[[j]])) names(which.max(table(known))) else mean(known)
  }
  numbers <- !sapply(x, is.factor)
  before <- c(Inf, Inf)
  for (iteration in 1:10) {
    z <- y
    for (j in order(colSums(gap))) if (any(gap[, j])) {
      known <- !gap[, j] & fitted
      fit <- ranger::ranger(x = z[known, -j, drop = FALSE], y = z[known, j], num.trees = 100, seed = seed + 100 * iteration + j, num.threads = 1)
      z[gap[, j], j] <- predict(fit, z[gap[, j], -j, drop = FALSE], num.threads = 1)$predictions
    }
    a <- as.matrix(z[fitted, numbers]); b <- as.matrix(y[fitted, numbers])
    moved <- c(if (any(numbers)) sum((a - b)^2) / sum(a^2) else 0,
      sum(z[fitted, !numbers] != y[fitted, !numbers]) / max(1, sum(gap[fitted, !numbers])))
    if (all(moved >= before)) break
    y <- z
    before <- moved
  }
  y
}
tables <- switch(arguments[4],
  mice = chained("pmm"),
  norm = chained("norm"),
  forest = list(forest()),
  margin = lapply(seq_len(m), function(k) margin()))
values <- sapply(tables, function(y) {
  y <- sapply(y, function(v) as.numeric(as.character(v)))
  t(y)[t(gap)]
})
spent <- proc.time()
cat(sprintf("%.2f", spent[1] + spent[2]))
write.table(matrix(values, ncol = length(tables)), arguments[2], sep = ",", row.names = FALSE, col.names = FALSE)
