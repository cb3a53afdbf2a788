# Multiple imputation by chained equations (van Buuren & Groothuis-Oudshoorn 2011,
# package mice), five iterations, every column regressed on all others.
#
#   Rscript mice.R table.csv out.csv method m seed
#
# method is mice's: pmm or norm. Writes a line for each missing cell, row by row, of its m
# draws; NA where mice leaves one empty.
suppressPackageStartupMessages(library(mice))
arguments <- commandArgs(trailingOnly = TRUE)
x <- read.csv(arguments[1], check.names = FALSE)
x[] <- lapply(x, as.numeric)
colnames(x) <- paste0("v", seq_len(ncol(x)))
m <- as.integer(arguments[4])
made <- mice(x, m = m, method = arguments[3], maxit = 5, seed = as.integer(arguments[5]), printFlag = FALSE)
draws <- array(NA, c(ncol(x), nrow(x), m)) # columns first: missing cells come out row by row
for (k in seq_len(m)) draws[, , k] <- t(as.matrix(complete(made, k)))
gaps <- t(is.na(as.matrix(x)))
values <- sapply(seq_len(m), function(k) draws[, , k][gaps])
write.table(matrix(values, ncol = m), arguments[2], sep = ",", row.names = FALSE, col.names = FALSE)
