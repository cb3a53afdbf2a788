# One call of the program: words and files in, one JSON object out (docs/reference/clients.md).

protocol <- 1L

#' The path of the program
#'
#' It is `options(missingscore.path = )`, or `missingscore` on the PATH.
ms_program <- function() {
  named <- getOption("missingscore.path")
  path <- if (is.null(named)) Sys.which("missingscore") else Sys.which(path.expand(named))
  if (!nzchar(path)) {
    stop(if (is.null(named)) {
      paste0(
        "the program missingscore is not on the PATH: install it ",
        "(go install missingscore/cmd/missingscore), or set options(missingscore.path = \"FILE\")"
      )
    } else {
      paste0("options(missingscore.path) is ", named, ", which is no program")
    }, call. = FALSE)
  }
  path <- unname(path)
  if (is.null(known$speaks[[path]])) {
    said <- suppressWarnings(system2(path, "--version", stdout = TRUE, stderr = FALSE))
    known$speaks[[path]] <- paste("protocol", protocol) %in% said
  }
  if (!known$speaks[[path]]) {
    stop(path, " does not speak version ", protocol, " of the protocol: install the version of missingscore that this package belongs to", call. = FALSE)
  }
  path
}

known <- new.env(parent = emptyenv()) # programs that were asked for their protocol
known$speaks <- list()

# run runs the program with --json and returns its object, with the exit code in exit. Errors and
# warnings of the program are conditions of class missingscore_error and missingscore_warning.
run <- function(words, verbose, call = sys.call(-2)) {
  out <- tempfile()
  err <- tempfile()
  on.exit(unlink(c(out, err)))
  words <- enc2utf8(c(words, "--json", if (!verbose) "--quiet"))
  Encoding(words) <- "unknown" # not for the shell to translate
  code <- suppressWarnings(system2(ms_program(), shQuote(words), stdout = out, stderr = if (verbose) "" else err))
  text <- paste(readLines(out, warn = FALSE, encoding = "UTF-8"), collapse = "\n")
  answer <- tryCatch(parse_json(text), error = function(e) {
    said <- if (file.exists(err)) paste(readLines(err, warn = FALSE), collapse = "\n") else ""
    list(error = if (nzchar(said)) said else paste("the program ended with code", code), code = "failed")
  })
  if (!is.null(answer$error)) {
    place <- answer[intersect(names(answer), c("code", "field", "file", "line", "column", "cell"))]
    stop(structure(
      class = c(paste0("missingscore_", answer$code), "missingscore_error", "error", "condition"),
      c(list(message = of_data(answer$error), call = call), place)
    ))
  }
  answer$exit <- code
  for (column in answer$left_out) {
    warn(paste0("left out: ", if (nzchar(column$name)) column$name else "the first column", ": ", column$left_out), call)
  }
  for (text in answer$warnings) warn(text, call)
  if (code == 3) {
    warn(if (is.null(answer$verdict)) "the result is not reliable" else answer$verdict, call, "missingscore_not_reliable")
  }
  answer
}

# of_data is a message about a file of hand_over as one about the data frame: its line 2 is row 1.
of_data <- function(text) {
  parts <- regmatches(text, regexec("^.*/missingscore[0-9a-f]+/table[0-9]?\\.csv:(?:([0-9]+):)? ", text, perl = TRUE))[[1]]
  if (!length(parts)) return(text)
  row <- suppressWarnings(as.integer(parts[2])) - 1L
  paste0(if (is.na(row) || row < 1) "data: " else paste0("row ", row, ": "), substring(text, nchar(parts[1]) + 1))
}

warn <- function(text, call, class = NULL) {
  warning(structure(class = c(class, "missingscore_warning", "warning", "condition"), list(message = text, call = call)))
}

# flags are settings as words: gamma = 0.5 is --gamma=0.5, refit = FALSE is --refit=false, vectors are
# lists, named vectors are names and values; files that they need are written to folder.
flags <- function(settings, folder) {
  words <- character()
  if (length(settings) && (is.null(names(settings)) || any(names(settings) == ""))) stop("an argument has no name: flags are named, as in gamma = 0.5", call. = FALSE)
  for (key in names(settings)) {
    name <- gsub("[._]", "-", sub("[._]+$", "", key))
    value <- settings[[key]]
    if (is.null(value)) next
    if (name %in% c("groups", "labels") && !is.null(names(value))) {
      file <- file.path(folder, paste0(name, ".csv"))
      if (is.data.frame(value)) value <- stats::setNames(value[[2]], value[[1]]) # name and group
      if (is.list(value)) value <- stats::setNames(rep(names(value), lengths(value)), unlist(value)) # columns of each group
      write_table(stats::setNames(data.frame(names(value), as.character(value)), c("name", sub("s$", "", name))), file)
      value <- file
    } else if (length(value) != 1 || !is.null(names(value))) {
      value <- if (is.null(names(value))) as_text(value) else paste0(names(value), "=", as_text(value))
      value <- csv_line(value)
    }
    words <- c(words, if (isTRUE(value)) {
      paste0("--", name)
    } else {
      paste0("--", name, "=", if (isFALSE(value)) "false" else as_text(value))
    })
  }
  words
}

# as_text are values as the program reads them, numbers to the last digit.
as_text <- function(x) {
  out <- as.character(x)
  if (is.double(x) && is.null(attr(x, "class"))) {
    seen <- which(!is.na(x))
    short <- sprintf("%.15g", x[seen])
    out[seen] <- ifelse(as.numeric(short) == x[seen], short, sprintf("%.17g", x[seen]))
  }
  out
}

# parse_json is a JSON text as lists, with vectors for arrays of numbers and of texts.
parse_json <- function(text) {
  token <- "\"(?:[^\"\\\\]|\\\\.)*\"|[][{}:,]|true|false|null|-?[0-9][-+.0-9eE]*"
  tokens <- regmatches(text, gregexpr(token, text, perl = TRUE))[[1]]
  at <- 0L
  take <- function() tokens[[at <<- at + 1L]]
  value <- function() {
    first <- take()
    switch(substr(first, 1, 1),
      "{" = {
        out <- list()
        while (tokens[[at + 1L]] != "}") {
          name <- string(take())
          at <<- at + 1L # the colon
          out[name] <- list(value())
          if (tokens[[at + 1L]] == ",") at <<- at + 1L
        }
        at <<- at + 1L
        out
      },
      "[" = {
        out <- list()
        while (tokens[[at + 1L]] != "]") {
          out[length(out) + 1L] <- list(value())
          if (tokens[[at + 1L]] == ",") at <<- at + 1L
        }
        at <<- at + 1L
        simple <- length(out) > 0 && all(vapply(out, function(x) length(x) == 1 && !is.list(x), TRUE))
        if (simple) unlist(out) else out
      },
      "\"" = string(first),
      t = TRUE, f = FALSE, n = NULL,
      as.numeric(first)
    )
  }
  value()
}

string <- function(token) {
  text <- substr(token, 2, nchar(token) - 1)
  if (!grepl("\\", text, fixed = TRUE)) return(text)
  parts <- regmatches(text, gregexpr("\\\\u[0-9a-fA-F]{4}|\\\\.|[^\\\\]+", text))[[1]]
  plain <- c(n = "\n", t = "\t", r = "\r", b = "\b", f = "\f")
  for (k in grep("^\\\\", parts)) {
    key <- substr(parts[k], 2, 2)
    parts[k] <- if (key == "u") {
      intToUtf8(strtoi(substr(parts[k], 3, 6), 16L))
    } else if (key %in% names(plain)) plain[[key]] else key
  }
  paste(parts, collapse = "")
}
