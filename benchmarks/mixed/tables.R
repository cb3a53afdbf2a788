# Writes a table of the R packages mice, psych, psychTools, MASS or lavaan.
#
#   Rscript tables.R ignored out.csv name columns factors rows
#
# columns (empty: all) and factors (numbers that are levels) are lists a,b,c. rows > 0 draws that number
# of rows. Levels are written as 0, 1, … Prints a line for each column: name, kind (number, binary,
# ordered, nominal) and levels, separated by tabs.
arguments <- commandArgs(trailingOnly = TRUE)
parts <- function(text) strsplit(text, ",")[[1]]
name <- arguments[3]
for (package in c("mice", "psych", "psychTools", "MASS", "lavaan")) if (requireNamespace(package, quietly = TRUE)) {
  suppressWarnings(data(list = name, package = package))
}
if (!exists(name)) stop("no package has the table ", name)
x <- get(name)
if (arguments[4] != "") x <- x[parts(arguments[4])]
for (j in parts(arguments[5])) x[[j]] <- factor(ifelse(is.na(x[[j]]), NA, paste0(j, x[[j]])))
rows <- as.integer(arguments[6])
set.seed(1)
if (rows > 0 && rows < nrow(x)) x <- x[sort(sample(nrow(x), rows)), ]
for (j in seq_along(x)) {
  if (is.logical(x[[j]])) x[[j]] <- factor(x[[j]])
  kind <- "number"
  if (is.factor(x[[j]])) {
    x[[j]] <- droplevels(x[[j]])
    kind <- if (is.ordered(x[[j]])) "ordered" else if (nlevels(x[[j]]) == 2) "binary" else "nominal"
  }
  cat(c(names(x)[j], kind, levels(x[[j]])), sep = "\t")
  cat("\n")
  if (is.factor(x[[j]])) x[[j]] <- as.integer(x[[j]]) - 1
}
write.table(x, arguments[2], sep = ",", row.names = FALSE, col.names = FALSE)
