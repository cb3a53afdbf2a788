# A table of R's package psychTools: bfi, 25 items of personality, or msqR, 18 of its items of mood, five of them missing in 39 % of rows.
#
#   Rscript questionnaire.R ignored.csv out.csv bfi|msqR
suppressPackageStartupMessages(library(psychTools))
arguments <- commandArgs(trailingOnly = TRUE)
x <- switch(arguments[3], bfi = psychTools::bfi[1:25], msqR = psychTools::msqR[c("anxious", "cheerful", "idle", "inactive", "tranquil", "active", "alert", "angry", "bored", "calm", "happy", "nervous", "relaxed", "sad", "sleepy", "tense", "upset", "wide.awake")])
write.table(x, arguments[2], sep = ",", row.names = FALSE, col.names = FALSE)
