# Traces and their diagnostics by R's posterior and coda. Rscript chains.R
library(posterior); library(coda)
set.seed(20)
sets <- list(independent=c(0,0), correlated=c(0.7,0), apart=c(0.4,1.5), negative=c(-0.5,0))
n <- 100; m <- 4
all <- NULL; out <- NULL
for (name in names(sets)) { rho <- sets[[name]][1]; apart <- sets[[name]][2]
  x <- sapply(1:m, function(k) { e <- rnorm(n); v <- numeric(n); v[1] <- e[1]; for (t in 2:n) v[t] <- rho*v[t-1] + sqrt(1-rho^2)*e[t]; v + apart*(k %% 2) })
  x <- round(x, 4)
  for (k in 1:m) all <- rbind(all, c(name, k, x[,k]))
  h <- rbind(x[1:50,1], x[51:100,1], x[1:50,2], x[51:100,2], x[1:50,3], x[51:100,3], x[1:50,4], x[51:100,4])
  halves <- t(h)
  g <- gelman.diag(mcmc.list(lapply(1:8, function(k) mcmc(halves[,k]))), autoburnin=FALSE)
  out <- rbind(out, data.frame(set=name, rhat=sprintf("%.15g", rhat_basic(x, split=TRUE)), ess=sprintf("%.12g", ess_basic(x, split=TRUE)), coda_psrf=sprintf("%.12g", g$psrf[1,1]), coda_size=sprintf("%.12g", sum(effectiveSize(mcmc.list(lapply(1:m, function(k) mcmc(x[,k]))))))))
}
write.table(all, "chains.csv", sep=",", row.names=FALSE, col.names=FALSE, quote=FALSE)
write.csv(out, "reference.csv", row.names=FALSE, quote=FALSE)
print(out); cat(R.version.string, as.character(packageVersion("posterior")), as.character(packageVersion("coda")), "\n")
