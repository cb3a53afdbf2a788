# The commands of the program as functions of data frames.

ms_describe <- function(data, ..., verbose = FALSE) {
  folder <- scratch()
  on.exit(unlink(folder, recursive = TRUE))
  info <- run(c(hand_over(data, folder), flags(list(...), folder)), verbose)
  number <- function(column, name) if (is.null(column[[name]])) NA_real_ else column[[name]]
  info$columns <- do.call(rbind, lapply(info$columns, function(column) {
    data.frame(
      column = column$name, kind = column$kind, missing = column$missing, mean = number(column, "mean"),
      sd = number(column, "sd"), min = number(column, "min"), max = number(column, "max"),
      levels = paste(column$levels, collapse = ", ")
    )
  }))
  structure(info, class = c("ms_description", "ms_result"))
}

ms_network <- function(data, ..., out = NULL, verbose = interactive()) {
  force(data)
  result <- in_folder("network", list(data), list(...), out, verbose, "ms_network")
  folder <- result$folder
  for (name in c("edges", "pairs", "centrality", "levels")) {
    file <- file.path(folder, paste0(name, ".csv"))
    if (file.exists(file)) result[[name]] <- read_table(file)
  }
  nodes <- result$centrality$node
  r <- diag(length(nodes))
  dimnames(r) <- list(nodes, nodes)
  r[cbind(result$edges$from, result$edges$to)] <- r[cbind(result$edges$to, result$edges$from)] <- result$edges$partial_correlation
  result$graph <- r
  result
}

ms_compare <- function(data, other = NULL, ..., by = NULL, out = NULL, verbose = interactive()) {
  force(data)
  tables <- if (is.null(other)) list(data) else list(data, other)
  result <- in_folder("compare", tables, c(list(by = by), list(...)), out, verbose, "ms_comparison")
  result$differences <- read_table(file.path(result$folder, "differences.csv"))
  result
}

ms_power <- function(like = NULL, ..., out = NULL, verbose = interactive()) {
  if (inherits(like, "ms_network")) like <- like$folder
  result <- in_folder("power", list(), c(list(like = like), list(...)), out, verbose, "ms_power")
  result$table <- read_table(file.path(result$folder, "power.csv"))
  result
}

ms_fit <- function(data, ..., out = NULL, verbose = interactive()) {
  data <- if (is.null(dim(data))) data else as.data.frame(data)
  result <- in_folder("fit", list(data), list(...), out, verbose, "ms_model")
  result$model <- parse_json(paste(readLines(file.path(result$folder, "model.json"), warn = FALSE), collapse = "\n"))
  result$columns <- data[0, , drop = FALSE]
  result
}

ms_impute <- function(data, draws = 20, ..., verbose = interactive()) {
  impute(character(), as.data.frame(data), draws, list(...), verbose)
}

impute <- function(model, data, draws, settings, verbose) {
  for (name in names(data)) { # empty texts are gaps
    if (is.factor(data[[name]]) || is.character(data[[name]])) data[[name]][data[[name]] %in% ""] <- NA
  }
  folder <- scratch()
  on.exit(unlink(folder, recursive = TRUE))
  file <- file.path(folder, "completed.csv")
  how <- if (is.null(draws)) "--point" else paste0("--draws=", draws)
  table <- hand_over(data, folder, kinds = !length(model))
  info <- run(c("impute", model, table, how, paste0("--out=", file), flags(settings, folder)), verbose, sys.call(-1))
  tables <- completed(file, data)
  if (is.null(draws)) return(tables[[1]])
  if (length(tables) == 1) tables <- c(list(data), tables) # one draw comes alone
  long <- do.call(rbind, lapply(seq_along(tables), function(k) {
    cbind(.imp = k - 1L, .id = seq_len(nrow(data)), tables[[k]])
  }))
  rownames(long) <- NULL
  structure(long, class = c("ms_imputed", "data.frame"), info = info)
}

in_folder <- function(command, tables, settings, out, verbose, class) {
  kept <- !is.null(out)
  folder <- if (kept) out else scratch()
  dir.create(folder, showWarnings = FALSE, recursive = TRUE)
  files <- scratch()
  on.exit(unlink(files, recursive = TRUE))
  words <- command
  for (k in seq_along(tables)) {
    table <- hand_over(tables[[k]], files, stem = paste0("table", k))
    words <- c(words, if (k == 1) table else table[1])
  }
  info <- run(c(words, paste0("--out=", folder, "/"), flags(settings, files)), verbose, sys.call(-1))
  structure(list(info = info, folder = normalizePath(folder)), class = c(class, "ms_result"))
}

scratch <- function() {
  folder <- tempfile("missingscore")
  dir.create(folder)
  folder
}
