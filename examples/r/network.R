# From a table with gaps to its network and to an analysis of imputed tables.
#
#     Rscript examples/r/network.R [FOLDER]
#
# runs missingscore (of the PATH, or what the variable MISSINGSCORE names) on a simulated
# table and goes on in qgraph, igraph and mice. Without them it says what they would have
# added; the pooled analysis is then done by hand. Results go to FOLDER, by default a
# temporary one.

program <- Sys.getenv("MISSINGSCORE", "missingscore")
folder <- c(commandArgs(trailingOnly = TRUE), tempfile("missingscore"))[1]
dir.create(folder, showWarnings = FALSE, recursive = TRUE)
at <- function(...) file.path(folder, ...)
here <- function(package) {
  found <- requireNamespace(package, quietly = TRUE)
  if (!found) cat(package, "is not here\n")
  found
}

# Runs a command and stops if it has no result; 3 is a result that has to be looked at.
missingscore <- function(...) {
  code <- system2(program, shQuote(c(..., "--quiet")))
  if (code == 3) cat("look before use: see the verdict\n")
  if (!code %in% c(0, 3)) stop("missingscore failed with exit code ", code)
}

missingscore("simulate", "star", "--d", "8", "--n", "400", "--missing", "0.2", "--seed", "1", "--out", at("in"))
table <- read.csv(at("in", "data.csv"), check.names = FALSE)
cat(nrow(table), "rows,", ncol(table), "columns,", sum(is.na(table)), "cells missing\n")

# The network: its edges with intervals at 95 %.
missingscore("network", at("in", "data.csv"), "--inference", "robust", "--out", at("network"))
edges <- read.csv(at("network", "edges.csv"), check.names = FALSE)
cat(nrow(edges), "edges\n")
cat(sprintf("%s - %s: %.3f [%.3f, %.3f]\n", edges$from, edges$to, edges$estimate, edges$low, edges$high), sep = "")

# The picture that qgraph makes of it.
if (here("qgraph")) {
  weights <- matrix(0, ncol(table), ncol(table), dimnames = list(names(table), names(table)))
  weights[cbind(edges$from, edges$to)] <- weights[cbind(edges$to, edges$from)] <- edges$partial_correlation
  pdf(at("qgraph.pdf"))
  qgraph::qgraph(weights, layout = "spring", labels = names(table))
  invisible(dev.off())
}

# Centralities by igraph; the weight is a size, so strong edges are short.
if (here("igraph")) {
  graph <- igraph::read_graph(at("network", "network.graphml"), format = "graphml")
  strength <- igraph::strength(graph)
  between <- igraph::betweenness(graph, weights = 1 / igraph::E(graph)$weight)
  for (k in head(order(strength, decreasing = TRUE), 3)) {
    cat(sprintf("%s: strength %.3f, betweenness %.0f\n", igraph::V(graph)$label[k], strength[k], between[k]))
  }
}

# A regression in every imputed table, combined by Rubin's rules (Rubin 1987, ch. 3).
missingscore("impute", at("in", "data.csv"), "--draws", "20", "--out", at("completed.csv"))
long <- read.csv(at("completed.csv"), check.names = FALSE)
if (here("mice")) {
  pooled <- summary(mice::pool(with(mice::as.mids(long), lm(x2 ~ x1))))[2, ]
  slope <- pooled$estimate
  error <- pooled$std.error
} else {
  fits <- lapply(split(long, long$.imp)[-1], function(one) coef(summary(lm(x2 ~ x1, one)))[2, 1:2])
  fits <- do.call(rbind, fits)
  slope <- mean(fits[, 1])
  error <- sqrt(mean(fits[, 2]^2) + (1 + 1 / nrow(fits)) * var(fits[, 1]))
}
cat(sprintf("x2 ~ x1: slope %.4f, standard error %.4f\n", slope, error))
