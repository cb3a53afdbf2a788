# Methods of results.

print.ms_result <- function(x, ...) {
  info <- if (is.null(x$info)) x else x$info
  if (!is.null(info$verdict)) cat(info$verdict, "\n", sep = "")
  if (!is.null(x$edges)) {
    cat(nrow(x$edges), "edges between", nrow(x$graph), "nodes, cells taken as", info$assumption, "\n")
    shown <- intersect(c("from", "to", "partial_correlation", "estimate", "low", "high", "q"), names(x$edges))
    print(head(x$edges[shown], 10), digits = 2, row.names = FALSE)
  }
  if (inherits(x, "ms_description")) {
    cat(info$rows, "rows,", info$missing, "cells missing,", info$complete_rows, "rows complete\n")
    print(x$columns, digits = 4, row.names = FALSE)
    for (finding in x$findings) cat(finding$severity, ": ", finding$message, "\n", sep = "")
  }
  for (table in c("differences", "table")) if (!is.null(x[[table]])) print(head(x[[table]], 10), digits = 2, row.names = FALSE)
  if (!is.null(x$folder) && file.exists(file.path(x$folder, "report.html"))) {
    cat("report: ", file.path(x$folder, "report.html"), "\n", sep = "")
  }
  invisible(x)
}

print.ms_imputed <- function(x, ...) {
  info <- attr(x, "info")
  cat(max(x$.imp), " draws of ", info$cells, " missing cells in ", max(x$.id), " rows\n", sep = "")
  print(head(as.data.frame(unclass_imputed(x[x$.imp == 1, ]))), ...)
  invisible(x)
}

unclass_imputed <- function(x) {
  class(x) <- "data.frame"
  x
}

summary.ms_network <- function(object, ...) {
  print(object)
  cat("\n")
  print(object$centrality, digits = 3, row.names = FALSE)
  invisible(object$centrality)
}

confint.ms_network <- function(object, parm, level = 0.95, ...) {
  pairs <- if (is.null(object$pairs)) object$edges else object$pairs
  if (is.null(pairs$low)) stop("the network has no intervals: estimate it with inference = \"robust\"", call. = FALSE)
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
  } else {
    browseURL(file.path(x$folder, "network.svg"))
  }
  invisible(x)
}

plot.ms_comparison <- function(x, ...) {
  browseURL(file.path(x$folder, "networks.svg"))
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
