# They need the program on the PATH, or options(missingscore.path = ) by the variable MISSINGSCORE.
library(missingscore)
if (nzchar(Sys.getenv("MISSINGSCORE"))) options(missingscore.path = Sys.getenv("MISSINGSCORE"))
if (inherits(try(ms_program(), silent = TRUE), "try-error")) {
  message("skipped: the program missingscore is not here")
  quit()
}

# A chain with partial correlations .6 and -.5.
set.seed(1)
p <- matrix(c(1, -.6, 0, -.6, 1, .5, 0, .5, 1), 3)
x <- as.data.frame(matrix(rnorm(1200), 400) %*% chol(solve(p)))
names(x) <- c("a", "b c", "\u00fc")
net <- ms_network(x, inference = "model", verbose = FALSE)
free <- -cov2cor(solve(cov(x)))
stopifnot(
  nrow(net$edges) == 2, all.equal(net$pairs$estimate, free[cbind(net$pairs$from, net$pairs$to)], tolerance = 1e-6),
  identical(dimnames(net$graph), list(names(x), names(x))), net$graph["a", "b c"] == net$graph["b c", "a"],
  all(confint(net)[, 1] < net$pairs$estimate), file.exists(file.path(net$folder, "report.html"))
)

# Gaps are filled by conditional means of the model; observed cells stay to the last digit.
gaps <- x
gaps[1:40, 1] <- NA
model <- ms_fit(gaps, verbose = FALSE)
mu <- unlist(model$model$mean)
q <- do.call(rbind, model$model$precision)
filled <- predict(model, gaps)
by_hand <- mu[1] - as.matrix(sweep(x[1:40, 2:3], 2, mu[2:3])) %*% q[1, 2:3] / q[1, 1]
stopifnot(all.equal(filled[1:40, 1], c(by_hand), tolerance = 1e-9), identical(filled[-(1:40), ], gaps[-(1:40), ]))
stopifnot(nrow(simulate(model, 7, seed = 2)) == 7)

# Factors come back as the same factors.
people <- data.frame(
  size = rnorm(200), town = factor(sample(c("Zürich", "Bath, UK", "the \"Hague\""), 200, TRUE)),
  grade = factor(sample(c("low", "mid", "high"), 200, TRUE), c("low", "mid", "high"), ordered = TRUE),
  smokes = sample(c(TRUE, FALSE), 200, TRUE), visits = sample(0:40, 200, TRUE), name = paste("person", 1:200)
)
for (name in names(people)[1:5]) people[sample(200, 20), name] <- NA
heard <- character()
imp <- withCallingHandlers(ms_impute(people, draws = 3, verbose = FALSE), missingscore_warning = function(w) {
  heard <<- c(heard, conditionMessage(w))
  invokeRestart("muffleWarning")
})
stopifnot(any(grepl("left out: name", heard)), identical(imp$.imp, rep(0:3, each = 200)))
first <- imp[imp$.imp == 1, ]
for (name in names(people)) {
  seen <- !is.na(people[[name]])
  stopifnot(!anyNA(first[[name]]), all(first[[name]][seen] == people[[name]][seen]))
  stopifnot(identical(levels(first[[name]]), levels(people[[name]])), is.ordered(first[[name]]) == is.ordered(people[[name]]))
}
stopifnot(is.logical(first$smokes))
if (requireNamespace("mice", quietly = TRUE)) {
  mids <- mice::as.mids(imp)
  stopifnot(mids$m == 3, identical(levels(mids$data$town), levels(people$town)), is.ordered(mids$data$grade))
}

# Frames that people have: a factor has intervals by resamples, gaps of other kinds, columns that cannot be used.
e <- tryCatch(confint(suppressWarnings(ms_network(people[1:4], verbose = FALSE))), error = conditionMessage)
stopifnot(grepl("inference = \"bootstrap=200\"", e))
odd <- x
odd[1, 1] <- NaN
odd$day <- Sys.Date() + seq_len(nrow(x))
odd$list <- I(as.list(seq_len(nrow(x))))
odd$text <- rep(c("", "NA", "u", "v"), 100)
odd$count <- .Machine$integer.max - 0:399
odd$count[2] <- NA
odd$none <- NA
odd$who <- factor(sprintf("P%03d", seq_len(nrow(x)))) # as read.csv(stringsAsFactors = TRUE) reads it
imp <- suppressWarnings(ms_impute(odd, draws = 1, verbose = FALSE))
first <- imp[imp$.imp == 1, ]
stopifnot(
  identical(names(imp)[-(1:2)], names(odd)), !anyNA(first[[3]]), all(first$text %in% c("NA", "u", "v")), identical(first$day, odd$day), identical(first$who, odd$who),
  all(is.na(first$none)), !is.na(first$count[2]), all(is.na(imp$text[imp$.imp == 0]) == (odd$text == "")), is.data.frame(summary(imp))
)
message_of <- function(expr) tryCatch(expr, error = conditionMessage)
odd <- x
odd[3, 2] <- Inf
stopifnot(startsWith(message_of(ms_network(odd, verbose = FALSE)), "row 3: column \"b c\": "))
stopifnot(startsWith(message_of(ms_network(x[0, ], verbose = FALSE)), "data: "))
stopifnot(grepl("two columns are called a", message_of(ms_network(stats::setNames(x, c("a", "b", "a"))))))
stopifnot(grepl("read.csv", message_of(ms_network("file.csv"))), grepl("no name", message_of(ms_network(x, 3))))
local({ # names reach the program in a locale without them
  old <- Sys.getlocale("LC_CTYPE")
  on.exit(Sys.setlocale("LC_CTYPE", old))
  Sys.setlocale("LC_CTYPE", "C")
  net <- ms_network(x, covariates = "\u00fc", verbose = FALSE)
  stopifnot(setequal(rownames(net$graph), c("a", "b c")))
})
local({ # a folder with a space
  old <- options(missingscore.path = file.path(tempdir(), "a folder", "missingscore"))
  on.exit(options(old))
  stopifnot(grepl("no program", message_of(ms_program())))
  dir.create(dirname(getOption("missingscore.path")))
  file.symlink(if (is.null(old[[1]])) Sys.which("missingscore") else old[[1]], getOption("missingscore.path"))
  stopifnot(nrow(ms_network(x, out = file.path(tempdir(), "my results"), verbose = FALSE)$edges) == 2)
})

# Groups as a named vector, a data frame or a list.
by <- c(a = "one", "b c" = "two", "\u00fc" = "two")
folder <- tempfile()
dir.create(folder)
written <- lapply(list(by, data.frame(name = names(by), group = by), list(one = "a", two = c("b c", "\u00fc"))), function(g) {
  missingscore:::flags(list(groups = g), folder)
  readLines(file.path(folder, "groups.csv"), encoding = "UTF-8")
})
stopifnot(length(written[[1]]) == 4, identical(written[[1]], written[[2]]), identical(written[[1]], written[[3]]))

# Mistakes name the flag.
e <- tryCatch(ms_network(x, gamma = -1, verbose = FALSE), missingscore_usage = identity)
stopifnot(inherits(e, "missingscore_error"), e$field == "gamma", grepl("from 0 to 1", conditionMessage(e)))

# JSON as its grammar has it.
json <- missingscore:::parse_json("{\"a\":[1,-2.5e3],\"b\":{},\"c\":[],\"d\":\"x\\\"\\u00e9\\n\\\\\",\"e\":null,\"f\":[{\"g\":true}]}")
stopifnot(identical(json$a, c(1, -2500)), identical(json$b, list()), identical(json$d, "x\"\u00e9\n\\"), is.null(json$e), isTRUE(json$f[[1]]$g))
