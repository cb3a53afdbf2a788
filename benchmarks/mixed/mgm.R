# Mixed graphical models by neighbourhood regression (Haslbeck and Waldorp 2020, package mgm) with EBIC
# and the other defaults. Ordered columns count as numbers.
#
#   Rscript mgm.R table.csv out.csv kinds rows seed
#
# kinds lists the kind of each column: number, whole, ordered, binary or nominal. rows is "complete"
# (drop rows with a gap) or "mice" (impute once first). Writes a line j,k for each edge, columns from 1,
# or NA if mgm fails on the table. Prints the seconds of processor time.
suppressPackageStartupMessages(library(mgm))
arguments <- commandArgs(trailingOnly = TRUE)
x <- read.csv(arguments[1])
kinds <- strsplit(arguments[3], ",")[[1]]
levels <- kinds %in% c("binary", "nominal")
set.seed(as.integer(arguments[5]))
begin <- proc.time()
edges <- try(silent = TRUE, {
  if (arguments[4] == "mice") {
    for (j in which(levels)) x[[j]] <- factor(x[[j]])
    for (j in which(kinds == "ordered")) x[[j]] <- factor(x[[j]], ordered = TRUE)
    x <- mice::complete(mice::mice(x, m = 1, seed = as.integer(arguments[5]), printFlag = FALSE))
    for (j in which(levels | kinds == "ordered")) x[[j]] <- as.numeric(as.character(x[[j]]))
  }
  x <- as.matrix(na.omit(x))
  invisible(capture.output(fit <- suppressWarnings(mgm(x, type = ifelse(levels, "c", "g"),
    level = ifelse(levels, apply(x, 2, function(v) length(unique(v))), 1),
    lambdaSel = "EBIC", pbar = FALSE, warnings = FALSE, signInfo = FALSE))))
  w <- fit$pairwise$wadj
  which(w != 0 & upper.tri(w), arr.ind = TRUE)
})
if (inherits(edges, "try-error")) {
  message(edges)
  edges <- matrix(NA, 1, 1)
}
spent <- proc.time() - begin
cat(sprintf("%.2f", spent[1] + spent[2]))
write.table(edges, arguments[2], sep = ",", row.names = FALSE, col.names = FALSE)
