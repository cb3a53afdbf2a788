# Methods of results.

print.ms_result <- function(x, ...) show(x, 10)

summary.ms_result <- function(object, ...) show(object, Inf)

# show prints a result, of its tables the first rows.
show <- function(x, rows) {
  info <- if (is.null(x$info)) x else x$info
  if (isTRUE(info$converged)) cat("Converged.\n") else if (!is.null(info$verdict)) cat(info$verdict, "\n", sep = "")
  table <- function(t) {
    t <- t[colSums(!is.na(t)) > 0]
    print(head(t, rows), digits = 2, row.names = FALSE)
    if (nrow(t) > rows) cat("... and ", nrow(t) - rows, " more rows\n", sep = "")
  }
  if (inherits(x, "ms_network")) {
    cat(nrow(x$edges), "edges between", nrow(x$graph), "nodes, cells taken as", info$assumption, "\n")
    shown <- intersect(c("from", "to", "partial_correlation", "estimate", "low", "high", "q"), names(x$edges))
    if (nrow(x$edges)) table(x$edges[shown])
    if (is.null(x$pairs)) cat("no intervals: ", how_to_have(x), "\n", sep = "")
  }
  if (inherits(x, "ms_description")) {
    cat(info$rows, "rows,", info$missing, "cells missing,", info$complete_rows, "rows complete\n")
    print(x$columns, digits = 4, row.names = FALSE)
    for (finding in x$findings) cat(finding$severity, ": ", finding$message, "\n", sep = "")
  }
  if (inherits(x, "ms_comparison")) {
    for (group in info$groups) cat(group$name, ": ", group$rows, " rows, ", group$edges, " edges\n", sep = "")
    for (test in c("structure", "strength")) {
      cat("same ", test, ": ", info[[test]]$statistic, " = ", format(info[[test]]$value, digits = 2), ", p = ", format(info[[test]]$p, digits = 2), "\n", sep = "")
    }
    table(x$differences)
  }
  if (inherits(x, "ms_power")) table(x$table)
  if (inherits(x, "ms_model")) cat("density ", info$model, " of ", paste(x$model$names, collapse = ", "), "\n", sep = "")
  if (!is.null(x$folder) && file.exists(file.path(x$folder, "report.html"))) {
    cat("report: ", file.path(x$folder, "report.html"), "\n", sep = "")
  }
  invisible(x)
}

# how_to_have tells how a network without intervals gets them.
how_to_have <- function(net) {
  kind <- if (grepl("^(em-exact|exact|full)$", net$info$method)) "robust" else "bootstrap=200"
  paste0("estimate the network with inference = \"", kind, "\"")
}

summary.ms_network <- function(object, ...) {
  show(object, Inf)
  print(object$centrality, digits = 3, row.names = FALSE)
  invisible(object$centrality)
}

print.ms_imputed <- function(x, ...) {
  if (is.null(x$.imp) || !all(c(0, 1) %in% x$.imp)) return(print(plain(x), ...)) # rows or columns of it
  cat(max(x$.imp), " draws of ", attr(x, "info")$cells, " missing cells in ", max(x$.id), " rows; the first:\n", sep = "")
  print(head(plain(x[x$.imp == 1, ])), row.names = FALSE, ...)
  invisible(x)
}

# summary compares observed and imputed values of each column with gaps, of levels their shares.
summary.ms_imputed <- function(object, ...) {
  row <- function(name, level, missing, at, observed, imputed) {
    data.frame(column = name, level = level, missing = missing, what = at, observed = observed, imputed = imputed)
  }
  do.call(rbind, lapply(attr(object, "info")$columns, function(column) {
    if (is.null(column$levels)) {
      return(row(column$column, "", column$missing, c("mean", "sd"), c(column$observed$mean, column$observed$sd), c(column$imputed$mean, column$imputed$sd)))
    }
    do.call(rbind, lapply(column$levels, function(l) row(column$column, l$level, column$missing, "share", l$observed, l$imputed)))
  }))
}

str.ms_imputed <- function(object, ...) utils::str(plain(object), ...)

plain <- function(x) {
  attr(x, "info") <- NULL
  class(x) <- "data.frame"
  x
}

confint.ms_network <- function(object, parm, level = 0.95, ...) {
  pairs <- if (is.null(object$pairs)) object$edges else object$pairs
  if (is.null(pairs$low)) stop("no intervals: ", how_to_have(object), call. = FALSE)
  if (!isTRUE(all.equal(level, object$info$inference$level))) {
    stop("the intervals were made for level = ", object$info$inference$level, ": estimate the network with level = ", level, call. = FALSE)
  }
  out <- cbind(pairs$low, pairs$high)
  dimnames(out) <- list(paste(pairs$from, pairs$to, sep = " -- "), paste(format(100 * c((1 - level) / 2, (1 + level) / 2), trim = TRUE), "%"))
  if (missing(parm)) out else out[parm, , drop = FALSE]
}

plot.ms_network <- function(x, ...) {
  if (requireNamespace("qgraph", quietly = TRUE)) {
    return(invisible(qgraph::qgraph(x$graph - diag(nrow(x$graph)), labels = rownames(x$graph), ...)))
  }
  if (requireNamespace("igraph", quietly = TRUE)) {
    g <- as_igraph(x)
    plot(g, edge.width = 10 * igraph::E(g)$weight, edge.color = ifelse(igraph::E(g)$partial_correlation > 0, "steelblue", "firebrick"), ...)
    return(invisible(x))
  }
  plot.ms_result(x)
}

# The other results show the program's picture.
plot.ms_result <- function(x, ...) {
  pictures <- file.path(x$folder, c("network.svg", "networks.svg", "power.svg"))
  pictures <- pictures[file.exists(pictures)]
  if (!length(pictures)) stop("there is no picture of this result", call. = FALSE)
  browseURL(pictures[1])
  invisible(x)
}

as_igraph <- function(x) {
  columns <- c("from", "to", "weight", "partial_correlation")
  igraph::graph_from_data_frame(x$edges[columns], directed = FALSE, vertices = data.frame(name = rownames(x$graph)))
}

as.igraph.ms_network <- function(x, ...) as_igraph(x)

# predict fills the gaps of new rows given the model: expectations, or with draws a long table.
predict.ms_model <- function(object, newdata, draws = NULL, ..., verbose = FALSE) {
  impute(file.path(object$folder, "model.json"), as.data.frame(newdata), draws, list(...), verbose)
}

simulate.ms_model <- function(object, nsim = 1, seed = NULL, ..., verbose = FALSE) {
  folder <- scratch()
  on.exit(unlink(folder, recursive = TRUE))
  file <- file.path(folder, "rows.csv")
  words <- c("sample", file.path(object$folder, "model.json"), paste0("--n=", nsim), paste0("--out=", file))
  run(c(words, flags(c(list(seed = seed), list(...)), folder)), verbose)
  rows <- read_table(file)
  for (name in intersect(names(rows), names(object$columns))) {
    old <- object$columns[[name]]
    if (is.factor(old)) rows[[name]] <- factor(rows[[name]], levels(old), ordered = is.ordered(old))
  }
  rows
}
