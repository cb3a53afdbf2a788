# Data frames as files for the program, and its files as data frames.

write_table <- function(table, file) {
  table[] <- lapply(table, function(x) enc2utf8(as_text(x)))
  con <- file(file, "w", encoding = "UTF-8")
  on.exit(close(con))
  write.table(table, con, sep = ",", dec = ".", na = "", qmethod = "double", row.names = FALSE)
}

# read_table reads a CSV file of the program.
read_table <- function(file, ...) read.csv(file, check.names = FALSE, encoding = "UTF-8", ...)

# hand_over writes a data frame to folder; it returns the program's words that read it. Factors and
# logicals are levels for the program, too.
hand_over <- function(data, folder, kinds = TRUE, stem = "table") {
  if (!is.data.frame(data)) data <- as.data.frame(data)
  if (anyDuplicated(names(data))) stop("two columns are called ", names(data)[anyDuplicated(names(data))], call. = FALSE)
  file <- file.path(folder, paste0(stem, ".csv"))
  write_table(data, file)
  words <- c(file, "--sep=,", "--dec=.", "--na=")
  listed <- data.frame(column = character(), kind = character(), levels = character())
  for (name in names(data)) {
    x <- data[[name]]
    levels <- if (is.factor(x)) levels(droplevels(x)) else if (is.logical(x)) c("FALSE", "TRUE")[c(FALSE, TRUE) %in% x]
    if (length(levels) < 2) next
    kind <- if (is.ordered(x)) "ordered" else if (length(levels) == 2) "binary" else "nominal"
    quoted <- ifelse(grepl("[\",\n]", levels), paste0("\"", gsub("\"", "\"\"", levels), "\""), levels)
    listed[nrow(listed) + 1, ] <- c(name, kind, paste(quoted, collapse = ","))
  }
  if (kinds && nrow(listed)) {
    write_table(listed, file.path(folder, paste0(stem, ".kinds.csv")))
    words <- c(words, paste0("--kinds=", file.path(folder, paste0(stem, ".kinds.csv"))))
  }
  words
}

# completed are the tables of a completed file below each other: copies of data with their gaps
# filled, columns as they were.
completed <- function(file, data) {
  read <- read_table(file, colClasses = "character", na.strings = c("", "NA"))
  blocks <- if (is.null(read$.imp)) list(seq_len(nrow(data))) else split(seq_len(nrow(read)), as.integer(read$.imp))
  lapply(blocks, function(rows) {
    out <- data
    for (name in intersect(names(data), names(read))) {
      gap <- is.na(data[[name]]) & !is.na(read[rows, name])
      if (!any(gap)) next
      new <- read[rows, name][gap]
      old <- data[[name]]
      if (is.logical(old)) new <- as.logical(new) else if (is.numeric(old)) new <- as.numeric(new)
      if (is.integer(old) && all(new == round(new))) new <- as.integer(new)
      out[[name]][gap] <- new
    }
    out
  })
}
