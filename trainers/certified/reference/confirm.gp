\\ The second route: the optima of certify.py again, by PARI/GP and by other algorithms.
\\
\\     gp -q -f confirm.gp > confirmed.json
\\
\\ - Quadratic losses of a model linear in its parameters: score and derivatives symbolically from
\\   log q, row by row, and the linear system in exact fractions.
\\ - Likelihood of observed cells: for the monotone table the factored one's closed form in exact
\\   fractions (Anderson 1957), otherwise plain EM in the precision, until a turn moves nothing by
\\   1e-40 of its size.
\\ - Marginal loss: Newton's method in mean and precision, with second derivatives by hand.
\\ - Networks by a quadratic loss: each of the 3^(d(d-1)/2) patterns of signs, until one fulfils
\\   the conditions of Karush, Kuhn and Tucker. Others: proximal steps find the signs, Newton's
\\   method goes to the end, and these conditions are checked.
\\ README.md has the formulas. Cells are rounded to float64, and from there on nothing is rounded
\\ but to 80 digits. 20 are printed.

default(realprecision, 80);
default(parisizemax, 2000000000);
default(recover, 0);
END = 1e-40;

\\ ---- tables

\\ The float64 nearest to a fraction, as a fraction.
nearest(r) =
{
  my(a = abs(r), e, m, f);
  if (r == 0, return(0));
  e = #binary(numerator(a)) - #binary(denominator(a));
  while (2^e > a, e--);
  while (2^(e+1) <= a, e++);
  m = a * 2^(52-e); f = floor(m);
  if (m - f > 1/2 || (m - f == 1/2 && f % 2), f++);
  sign(r) * f * 2^(e-52);
}

number(text) =
{
  my(parts = strsplit(text, "."));
  if (#parts == 1, return(nearest(eval(text))));
  nearest(eval(concat(parts[1], parts[2])) / 10^(#parts[2]));
}

\\ [rows, weights of mean 1]; a missing cell is "NA".
table(name, weighted = "") =
{
  my(lines = readstr(concat(name, ".csv")), head = strsplit(lines[1], ","), at = 0, rows = List(), w = List(), cells);
  for (j = 1, #head, if (head[j] == weighted, at = j));
  for (i = 2, #lines,
    if (lines[i] == "", next);
    cells = [if (c == "NA", c, number(c)) | c <- strsplit(lines[i], ",")];
    listput(w, if (at, cells[at], 1));
    listput(rows, [cells[j] | j <- [1..#cells], j != at]));
  w = Vec(w);
  [Vec(rows), w * #w / vecsum(w)];
}

here(row) = [j | j <- [1..#row], row[j] != "NA"];
gone(row) = [j | j <- [1..#row], row[j] == "NA"];
pairs(d) = concat([[[j, k] | k <- [j..d]] | j <- [1..d]]);

\\ Columns less their means, over their deviations, of the cells that are there.
standardised(t) =
{
  my(rows = t[1], w = t[2], d = #rows[1], mean = vector(d), dev = vector(d), n, seen);
  for (j = 1, d,
    seen = [i | i <- [1..#rows], rows[i][j] != "NA"];
    n = vecsum([w[i] | i <- seen]);
    mean[j] = vecsum([w[i] * rows[i][j] | i <- seen]) / n;
    dev[j] = sqrt(vecsum([w[i] * (rows[i][j] - mean[j])^2 | i <- seen]) / n));
  [mean, dev, [vector(d, j, if (r[j] == "NA", "NA", (r[j] - mean[j]) / dev[j])) | r <- rows]];
}

\\ ---- quadratic losses, symbolically

cell(j) = eval(Str("x", j));
parameter(i) = eval(Str("t", i));

\\ A polynomial at a row, whose gaps are 0.
filled(x) = if (x == "NA", 0, x);
value(row, g) = for (k = 1, #row, g = subst(g, cell(k), filled(row[k]))); g;

\\ Where (1/n) sum of w g (s^2 + 2 D) + 2 g' s over the cells that are there is least; gaps are 0.
\\ logq is a polynomial in the cells and, linearly, in m parameters; weight(row, j) is g as a
\\ polynomial in the cells, right near the row. It gives [loss, parameters].
quadratic(t, logq, m, weight) =
{
  my(rows = t[1], w = t[2], d = #rows[1], n = #rows, loss = 0, s, curve, g, by, h, b, best);
  for (j = 1, d,
    s = deriv(logq, cell(j));
    curve = deriv(s, cell(j));
    for (i = 1, n,
      if (rows[i][j] == "NA", next);
      g = weight(rows[i], j);
      loss += w[i] / n * value(rows[i], g * (s^2 + 2 * curve) + 2 * deriv(g, cell(j)) * s)));
  by = vector(m, i, deriv(loss, parameter(i)));
  h = matrix(m, m, i, k, deriv(by[i], parameter(k)));
  b = vector(m, i, my(v = by[i]); for (k = 1, m, v = subst(v, parameter(k), 0)); v)~;
  best = matsolve(h, -b);
  for (k = 1, m, loss = subst(loss, parameter(k), best[k]));
  [loss, best];
}

gaussian(d) =
{
  my(at = pairs(d), q = sum(j = 1, d, parameter(j) * cell(j)));
  for (i = 1, #at,
    q -= parameter(d + i) * cell(at[i][1]) * cell(at[i][2]) * if (at[i][1] == at[i][2], 1/2, 1));
  q;
}

symmetric(d, values) =
{
  my(at = pairs(d), p = matrix(d, d));
  for (i = 1, #at, p[at[i][1], at[i][2]] = p[at[i][2], at[i][1]] = values[i]);
  p;
}

one(row, j) = 1 + 0 * cell(1);

\\ The least of polynomials at a row.
lowest(row, list) =
{
  my(at = [value(row, g) | g <- list], best = 1);
  for (i = 2, #at, if (at[i] < at[best], best = i));
  list[best];
}

\\ g within bounds, each [lower, upper] with "" for none.
bounded(row, j, bounds) =
{
  my(list = [one(row, j)]);
  if (bounds[j][1] != "", list = concat(list, cell(j) - bounds[j][1]));
  if (bounds[j][2] != "", list = concat(list, bounds[j][2] - cell(j)));
  lowest(row, list);
}

\\ g at a'x <= b, of rows without gaps; every a_j is other than 0 and a'a is a square.
halved(row, j, a, b) =
{
  my(length);
  if (!issquare(a * a~, &length), error("the length of a is no whole number"));
  lowest(row, [one(row, j), (b - sum(k = 1, #row, a[k] * cell(k))) / length]);
}

linear(t, weight) =
{
  my(d = #t[1][1], found = quadratic(t, gaussian(d), d + d * (d + 1) / 2, weight), p);
  p = symmetric(d, found[2][d+1..-1]);
  [found[1], Vec(matsolve(p, found[2][1..d])), p];
}

quartic(t) =
{
  my(d = #t[1][1], at = pairs(d), q = 0, found);
  for (i = 1, #at, q += parameter(i) * cell(at[i][1])^2 * cell(at[i][2])^2 * if (at[i][1] == at[i][2], 1, 2));
  found = quadratic(t, q, #at, one);
  [found[1], found[2]];
}

\\ ---- patterns of gaps: [columns there, columns missing, weight, row numbers]

patterns(t) =
{
  my(of = Map(), o, rest);
  for (i = 1, #t[1],
    o = here(t[1][i]);
    mapput(of, o, concat(if (mapisdefined(of, o, &rest), rest, []), [i])));
  [[o, gone(t[1][mapget(of, o)[1]]), vecsum([t[2][i] | i <- mapget(of, o)]), mapget(of, o)] | o <- Vec(of)];
}

sub(p, a, b) = matrix(#a, #b, i, k, p[a[i], b[k]]);
embed(d, a, c) = my(n = matrix(d, d)); for (i = 1, #a, for (k = 1, #a, n[a[i], a[k]] = c[i, k])); n;

\\ A with E[x - mean | cells there] = A (x - mean)_o, and the inverse of the missing block, in d columns.
along(p, o, m) =
{
  my(d = #p, a = matrix(d, #o), c, b);
  for (i = 1, #o, a[o[i], i] = 1);
  if (#m == 0, return([a, matrix(d, d)]));
  c = sub(p, m, m)^-1;
  b = -c * sub(p, m, o);
  for (i = 1, #m, for (k = 1, #o, a[m[i], k] = b[i, k]));
  [a, embed(d, m, c)];
}

\\ Sums of r and r r' over a pattern's rows, r = (x - mean)_o.
about(t, pattern, mean) =
{
  my(o = pattern[1], first = vectorv(#o), second = matrix(#o, #o), r);
  foreach (pattern[4], i,
    r = vectorv(#o, k, t[1][i][o[k]] - mean[o[k]]);
    first += t[2][i] * r;
    second += t[2][i] * r * r~);
  [first, second];
}

\\ ---- likelihood by EM

\\ One turn: means of the completed x - mean and of it times its transpose.
turn(t, groups, mean, p) =
{
  my(d = #p, n = #t[1], first = vectorv(d), second = matrix(d, d), a, r);
  foreach (groups, g,
    a = along(p, g[1], g[2]);
    r = about(t, g, mean);
    first += a[1] * r[1] / n;
    second += (a[1] * r[2] * a[1]~ + g[3] * a[2]) / n);
  [first, second];
}

likelihood_loss(t, mean, p) =
{
  my(n = #t[1], loss = 0, a, q, r);
  foreach (patterns(t), g,
    a = along(p, g[1], g[2])[1];
    q = a~ * p * a;
    r = about(t, g, mean)[2];
    loss += (trace(q * r) + g[3] * (#g[1] * log(2 * Pi) - log(matdet(q)))) / 2 / n);
  loss;
}

begin(t) = my(s = standardised(t)); [s[1] * 1., matdiagonal([v^-2 | v <- s[2]])];

turns(t, most, end) =
{
  my(s = begin(t), mean = s[1], p = s[2], groups = patterns(t), f, new, moved);
  for (i = 1, most,
    f = turn(t, groups, mean, p);
    mean += f[1]~;
    new = (f[2] - f[1] * f[1]~)^-1;
    new = (new + new~) / 2;
    moved = vecmax(vector(#p, j, abs(f[1][j]) * sqrt(new[j, j])));
    for (j = 1, #p, for (k = 1, #p, moved = max(moved, abs(new[j, k] - p[j, k]) / sqrt(new[j, j] * new[k, k]))));
    p = new;
    if (moved < end, return([mean, p])));
  if (end > 0, error("EM did not end"));
  [mean, p];
}

likelihood(t) = my(f = turns(t, 10^6, END)); [likelihood_loss(t, f[1], f[2]), f[1], f[2]];

\\ Two columns, the second with gaps: a normal x, and a regression of y on it.
factored(t) =
{
  my(rows = t[1], n = #rows, x = [r[1] | r <- rows], both = [r | r <- rows, r[2] != "NA"], m = #both, mx, vx, ax, ay, sxx, b, rest, mean, p);
  mx = vecsum(x) / n;
  vx = vecsum([(v - mx)^2 | v <- x]) / n;
  ax = vecsum([r[1] | r <- both]) / m;
  ay = vecsum([r[2] | r <- both]) / m;
  sxx = vecsum([(r[1] - ax)^2 | r <- both]);
  b = vecsum([(r[1] - ax) * (r[2] - ay) | r <- both]) / sxx;
  rest = vecsum([(r[2] - ay - b * (r[1] - ax))^2 | r <- both]) / m;
  mean = [mx, ay + b * (mx - ax)];
  p = [1/vx + b^2/rest, -b/rest; -b/rest, 1/rest];
  [likelihood_loss(t, mean * 1., p * 1.), mean, p];
}

\\ ---- the marginal loss by Newton's method

pair(d, b) = my(e = matrix(d, d)); e[b[1], b[2]] = e[b[2], b[1]] = 1; e;

\\ Mean over rows of -2 tr Q + |Q r|^2, and its first and second derivatives by the mean (where
\\ free) and the pairs of P given: Q = A'PA, dQ = A'dP A, d2Q = -A'(E N F + F N E)A.
marginal_at(t, groups, mean, p, at, free) =
{
  my(d = #p, n = #t[1], m = if (free, d, 0), loss = 0, by = vectorv(m + #at), second = matrix(m + #at, m + #at));
  my(basis = [pair(d, b) | b <- at], a, q, r, dq, twice, v);
  foreach (groups, g,
    a = along(p, g[1], g[2]);
    q = a[1]~ * p * a[1];
    r = about(t, g, mean);
    loss += (trace(q^2 * r[2]) - 2 * g[3] * trace(q)) / n;
    dq = [a[1]~ * e * a[1] | e <- basis];
    if (free,
      v = -2 * q^2 * r[1] / n;
      for (i = 1, #g[1],
        by[g[1][i]] += v[i];
        for (k = 1, #g[1], second[g[1][i], g[1][k]] += 2 * g[3] * (q^2)[i, k] / n)));
    for (i = 1, #at,
      by[m+i] += (trace((q * dq[i] + dq[i] * q) * r[2]) - 2 * g[3] * trace(dq[i])) / n;
      if (free,
        v = -2 * (dq[i] * q + q * dq[i]) * r[1] / n;
        for (k = 1, #g[1], second[g[1][k], m+i] += v[k]; second[m+i, g[1][k]] += v[k]));
      for (k = i, #at,
        twice = -a[1]~ * (basis[i] * a[2] * basis[k] + basis[k] * a[2] * basis[i]) * a[1];
        v = (trace((dq[i] * dq[k] + dq[k] * dq[i] + q * twice + twice * q) * r[2]) - 2 * g[3] * trace(twice)) / n;
        second[m+i, m+k] += v;
        if (k > i, second[m+k, m+i] += v))));
  [loss, by, second];
}

definite(p) = for (j = 1, #p, if (matdet(p[1..j, 1..j]) <= 0, return(0))); 1;

\\ Newton's method from (mean, p) for the marginal loss plus slope times the pairs given, damped
\\ until a whole step is small.
newton(t, mean, p, at, free, slope) =
{
  my(d = #p, m = if (free, d, 0), groups = patterns(t), damping = 0, f, step, scale, next_mean, next_p, total, new, moved);
  f = marginal_at(t, groups, mean, p, at, free);
  total = ((f, p) -> f[1] + sum(i = 1, #at, slope[i] * p[at[i][1], at[i][2]]));
  for (i = 1, 500,
    \\ in units in which every parameter has size one
    scale = vector(m + #at, k, if (k <= m, 1/sqrt(p[k, k]), sqrt(p[at[k-m][1], at[k-m][1]] * p[at[k-m][2], at[k-m][2]])));
    my(c = matdiagonal(scale), h = c * f[3] * c, b = c * (f[2] + concat(vectorv(m), slope~)));
    if (damping, h += damping * matdiagonal(vector(#h, k, abs(h[k, k]))));
    step = -matsolve(h, b);
    moved = vecmax(abs(step));
    step = c * step;
    next_mean = vector(d, j, mean[j] + if (free, step[j], 0));
    next_p = p;
    for (k = 1, #at, next_p[at[k][1], at[k][2]] += step[m+k]; if (at[k][1] != at[k][2], next_p[at[k][2], at[k][1]] += step[m+k]));
    new = 0;
    if (definite(next_p), new = marginal_at(t, groups, next_mean, next_p, at, free));
    if (new && (moved < 1e-25 || total(new, next_p) < total(f, p)),
      mean = next_mean; p = next_p; f = new;
      if (!damping && moved < END, return([f[1], mean, p]));
      damping = if (damping < 1e-6, 0, damping / 10),
      damping = max(10 * damping, 1e-3);
      if (damping > 1e12, error("Newton's method found no way down"))));
  error("Newton's method did not end");
}

marginal(t) =
{
  my(s = turns(t, 50, 0), at = pairs(#s[2]));
  newton(t, s[1], s[2], at, 1, vector(#at));
}

\\ ---- networks

off(d) = [b | b <- pairs(d), b[1] < b[2]];

result(loss, s, mean, p) = [loss, mean, matrix(#p, #p, j, k, p[j, k] / s[2][j] / s[2][k])];

\\ (tr(PSP) - 2 tr P)/d + penalty sum of |P_jk|: all patterns of signs.
signs(c, penalty) =
{
  my(d = #c, at = pairs(d), m = #at, h = matrix(m, m), b = vectorv(m), own = [i | i <- [1..m], at[i][1] == at[i][2]], rest = [i | i <- [1..m], at[i][1] < at[i][2]], e, v, word, sign, free, x, by, p);
  \\ derivatives are h P - b
  for (i = 1, m,
    e = pair(d, at[i]);
    v = e * c + c * e;
    for (k = 1, m, h[k, i] = if (at[k][1] == at[k][2], v[at[k][1], at[k][1]], 2 * v[at[k][1], at[k][2]]) / d);
    if (at[i][1] == at[i][2], b[i] = 2 / d));
  for (n = 0, 3^#rest - 1,
    sign = vectorv(m);
    word = n;
    foreach (rest, i, sign[i] = [0, 1, -1][word % 3 + 1]; word \= 3);
    free = vecsort(concat(own, [i | i <- rest, sign[i] != 0]));
    x = matsolve(sub(h, free, free), vectorv(#free, i, b[free[i]] - penalty * sign[free[i]]));
    v = vectorv(m);
    for (i = 1, #free, v[free[i]] = x[i]);
    if (#[i | i <- rest, sign[i] * v[i] < 0], next);
    by = h * v - b;
    if (#[i | i <- rest, sign[i] == 0 && abs(by[i]) > penalty], next);
    p = symmetric(d, v);
    return([(trace(p * c * p) - 2 * trace(p)) / d + penalty * sum(i = 1, #rest, abs(v[rest[i]])), p]));
  error("no pattern of signs fulfils the conditions");
}

full_network(t, penalty) =
{
  my(s = standardised(t), n = #t[1], f);
  f = signs(sum(i = 1, n, t[2][i] * s[3][i]~ * s[3][i]) / n, penalty);
  result(f[1], s, s[1], f[2]);
}

pairwise_network(t, penalty) =
{
  my(s = standardised(t), z = s[3], n = #z, d = #z[1], c = matid(d), noise = 0, square = 0, both, low, alpha, f);
  foreach (off(d), b,
    both = [r[b[1]] * r[b[2]] | r <- z, r[b[1]] != "NA" && r[b[2]] != "NA"];
    c[b[1], b[2]] = c[b[2], b[1]] = vecsum(both) / #both;
    noise += (1 - c[b[1], b[2]]^2)^2 * (1 / #both - 1 / n);
    square += c[b[1], b[2]]^2);
  low = vecmin(real(polroots(charpoly(c))));
  alpha = max(min(19/20, noise / square), max(0, -low) / (1 - low));
  f = signs((1 - alpha) * c + alpha * matid(d), penalty);
  result(f[1], s, s[1], f[2]);
}

soft(v, by) = if (v > by, v - by, v < -by, v + by, 0);

\\ Some proximal gradient steps, of size step by P's elements, with gradient(P).
proximal(p, gradient, penalty, step, number) =
{
  my(by);
  for (i = 1, number,
    by = gradient(p);
    p = matrix(#p, #p, j, k, if (j == k, p[j, j] - step * by[j, j], soft(p[j, k] - step * by[j, k], step * penalty / 2))));
  p;
}

\\ The conditions for pairs: derivatives of the loss by P_jk, twice the element's of its gradient.
conditions(p, by, penalty) =
{
  foreach (off(#p), b,
    if (p[b[1], b[2]] == 0,
      if (abs(by[b[1], b[2]]) >= penalty, error("a pair that is 0 breaks its condition")),
      if (abs(by[b[1], b[2]] + sign(p[b[1], b[2]]) * penalty) > 1e-35, error("a pair breaks its condition"))));
}

\\ d times the loss' derivatives, by elements of P.
marginal_gradient(t, groups, p) =
{
  my(d = #p, by = marginal_at(t, groups, vector(d), p, pairs(d), 0)[2]);
  symmetric(d, by);
}

exact_network(t, penalty) =
{
  my(s = standardised(t), z = [s[3], t[2]], d = #s[1], groups = patterns(z), p, at, by, f);
  p = proximal(matid(d), q -> my(g = marginal_gradient(z, groups, q) / d); matrix(d, d, j, k, if (j == k, g[j, j], g[j, k] / 2)), penalty, 0.3, 150);
  at = [b | b <- pairs(d), p[b[1], b[2]] != 0];
  f = newton(z, vector(d), p, at, 0, [if (b[1] == b[2], 0, d * penalty * sign(p[b[1], b[2]])) | b <- at]);
  p = f[3];
  by = marginal_gradient(z, groups, p) / d;
  conditions(p, by, penalty);
  result(f[1] / d + penalty * vecsum([abs(p[b[1], b[2]]) | b <- off(d)]), s, s[1], p);
}

\\ The equation of em-exact: at the moments which P fills gaps to itself P is the penalised
\\ optimum, and the mean is that of the completed rows.
em_network(t, penalty) =
{
  my(s = standardised(t), z = [s[3], t[2]], d = #s[1], groups = patterns(z), mean = vector(d), p = matid(d), f, c, at, now, jacobian, step, h = 1e-30, moved, gradient);
  gradient = ((p, c) -> (p * c + c * p - 2 * matid(d)) / d);
  for (i = 1, 60,
    f = turn(z, groups, mean, p);
    c = f[2] - f[1] * f[1]~;
    mean += f[1]~;
    p = proximal(p, q -> gradient(q, c), penalty, 0.5, 30));
  at = [b | b <- pairs(d), p[b[1], b[2]] != 0];
  my(slope = [if (b[1] == b[2], 0, penalty * sign(p[b[1], b[2]])) | b <- at]);
  my(equation = (mean, p) ->
    my(f = turn(z, groups, mean, p), g = gradient(p, f[2] - f[1] * f[1]~));
    concat(f[1], vectorv(#at, i, if (at[i][1] == at[i][2], 1, 2) * g[at[i][1], at[i][2]] + slope[i])));
  my(moving = (mean, p, x) ->
    my(q = p); for (i = 1, #at, q[at[i][1], at[i][2]] += x[d+i]; if (at[i][1] != at[i][2], q[at[i][2], at[i][1]] += x[d+i]));
    [mean + x[1..d]~, q]);
  for (i = 1, 100,
    now = equation(mean, p);
    jacobian = matconcat(vector(d + #at, k,
      my(x = vectorv(d + #at)); x[k] = h;
      my(up = moving(mean, p, x), down = moving(mean, p, -x)); (equation(up[1], up[2]) - equation(down[1], down[2])) / (2 * h)));
    step = -matsolve(jacobian, now);
    f = moving(mean, p, step);
    mean = f[1]; p = f[2];
    moved = vecmax(abs(step));
    if (moved < END, break));
  if (moved >= END, error("Newton's method did not end"));
  f = turn(z, groups, mean, p);
  conditions(p, 2 * gradient(p, f[2] - f[1] * f[1]~), penalty);
  result("", s, vector(d, j, s[1][j] + s[2][j] * mean[j]), p);
}

\\ ---- the cases, in the order of certify.py

text(v) = if (v == 0, "0.0", strjoin(strsplit(strprintf("%.20g", v * 1.), " ")));  \\ "1 e-5" is 1e-5
listed(v) = strjoin([Str("\"", text(x), "\"") | x <- v], ",\n    ");

first_case = 1;
write_case(name, method, loss, parts) =
{
  print(if (first_case, "", ","));
  first_case = 0;
  print1("  {\n   \"table\": \"", name, "\",\n   \"method\": \"", method, "\"");
  if (loss != "", print1(",\n   \"loss\": \"", text(loss), "\""));
  foreach (parts, part, print1(",\n   \"", part[1], "\": [\n    ", listed(part[2]), "\n   ]"));
  print1("\n  }");
}

normal_case(name, method, f) = write_case(name, method, f[1], [["mean", f[2]], ["precision", [f[3][b[1], b[2]] | b <- pairs(#f[3])]]]);

print("{\n \"tool\": \"PARI/GP ", strjoin([Str(v) | v <- version()[1..3]], "."), ", exact fractions and 80 digits\",\n \"cases\": [");

foreach (["plain", "far", "near-singular"], name, normal_case(name, "full", linear(table(name), one)));
normal_case("gaps", "em-exact", likelihood(table("gaps")));
normal_case("gaps", "exact", marginal(table("gaps")));
normal_case("gaps", "zeroed", linear(table("gaps"), one));
normal_case("monotone", "em-exact", factored(table("monotone")));
normal_case("monotone", "exact", marginal(table("monotone")));
both(name) = normal_case(name, "em-exact", likelihood(table(name))); normal_case(name, "exact", marginal(table(name)));
both("mar");
normal_case("near-singular-gaps", "em-exact", likelihood(table("near-singular-gaps")));
foreach (["collinear-gaps", "half-missing", "few-pairs", "blocks", "six", "far-gaps"], name, both(name));
normal_case("scales", "em-exact", likelihood(table("scales")));
normal_case("weighted", "em-exact", likelihood(table("weighted", "w")));
normal_case("weighted", "exact", marginal(table("weighted", "w")));
normal_case("weighted", "zeroed", linear(table("weighted", "w"), one));
box = [[-1/2, ""], [-1, nearest(6/5)]];
normal_case("positive", "full", linear(table("positive"), (row, j) -> bounded(row, j, [[0, ""], [0, ""]])));
normal_case("box", "full", linear(table("box"), (row, j) -> bounded(row, j, box)));
normal_case("box-gaps", "zeroed", linear(table("box-gaps"), (row, j) -> bounded(row, j, box)));
normal_case("half-space", "full", linear(table("half-space"), (row, j) -> halved(row, j, [3, 4], 5)));
foreach ([["square", "full"], ["square-gaps", "zeroed"]], of, f = quartic(table(of[1])); write_case(of[1], of[2], f[1], [["theta", f[2]]]));
normal_case("path", "full", full_network(table("path"), nearest(1/20)));
normal_case("path-gaps", "em-exact", em_network(table("path-gaps"), nearest(1/10)));
normal_case("path-gaps", "exact", exact_network(table("path-gaps"), nearest(1/10)));
normal_case("path-gaps", "pairwise", pairwise_network(table("path-gaps"), nearest(1/10)));
print("\n ]\n}");
quit;
