# Data frames as files for the program, and its files as data frames.

# write_table writes CSV in UTF-8 whatever the locale is: texts in quotation marks, gaps empty.
write_table <- function(table, file) {
  quote <- function(x) paste0("\"", gsub("\"", "\"\"", enc2utf8(x), fixed = TRUE), "\"")
  cells <- lapply(table, function(x) {
    gap <- is.na(x)
    text <- as_text(x)
    ifelse(gap, "", if (is.numeric(x)) text else quote(text))
  })
  lines <- c(paste(quote(names(table)), collapse = ","), if (nrow(table)) do.call(paste, c(unname(cells), sep = ",")))
  con <- file(file, "wb")
  on.exit(close(con))
  writeLines(lines, con, useBytes = TRUE)
}

# read_table reads a CSV file of the program.
read_table <- function(file, ...) read.csv(file, check.names = FALSE, encoding = "UTF-8", ...)

# csv_line is texts as a line of CSV.
csv_line <- function(x) {
  x <- enc2utf8(x)
  paste(ifelse(grepl("[\",\n]", x), paste0("\"", gsub("\"", "\"\"", x, fixed = TRUE), "\""), x), collapse = ",")
}

# hand_over writes a data frame to folder; it returns the program's words that read it. Factors and
# logicals are levels for the program, too.
hand_over <- function(data, folder, kinds = TRUE, stem = "table") {
  if (is.null(dim(data)) && !is.list(data)) stop("data is no data frame: read a file by read.csv(), or make a table by data.frame()", call. = FALSE)
  if (!is.data.frame(data)) data <- as.data.frame(data)
  if (anyDuplicated(names(data))) stop("two columns are called ", names(data)[anyDuplicated(names(data))], call. = FALSE)
  for (name in names(data)) {
    if (NCOL(data[[name]]) > 1) stop("column ", name, " is a matrix or data frame: make columns of it by cbind()", call. = FALSE)
  }
  file <- file.path(folder, paste0(stem, ".csv"))
  write_table(data, file)
  words <- c(file, "--sep=,", "--dec=.", "--na=")
  listed <- data.frame(column = character(), kind = character(), levels = character())
  for (name in names(data)) {
    x <- data[[name]]
    levels <- if (is.factor(x)) setdiff(levels(droplevels(x)), "") else if (is.logical(x)) c("FALSE", "TRUE")[c(FALSE, TRUE) %in% x]
    if (length(levels) < 2 || length(levels) > 50) next # more are texts, such as names of rows
    kind <- if (is.ordered(x)) "ordered" else if (length(levels) == 2) "binary" else "nominal"
    listed[nrow(listed) + 1, ] <- c(name, kind, csv_line(levels))
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
  read <- read_table(file, colClasses = "character", na.strings = "")
  blocks <- if (is.null(read$.imp)) list(seq_len(nrow(data))) else split(seq_len(nrow(read)), as.integer(read$.imp))
  lapply(blocks, function(rows) {
    out <- data
    for (name in intersect(names(data), names(read))) {
      old <- data[[name]]
      new <- read[rows, name]
      if (!"NA" %in% as.character(old)) new[new == "NA"] <- NA # a gap that is left, unless it is a level
      gap <- is.na(old) & !is.na(new)
      if (!any(gap)) next
      new <- new[gap]
      if (is.logical(old)) new <- as.logical(new) else if (is.numeric(old)) new <- as.numeric(new)
      if (is.integer(old) && all(new == round(new) & abs(new) <= .Machine$integer.max)) new <- as.integer(new)
      out[[name]][gap] <- new
    }
    out
  })
}
