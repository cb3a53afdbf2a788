package trainers

// free draws the missing cells of rows that no domain cuts.
type free struct {
	gaps        []int
	mean, sd, z []float64 // of the gaps; of all their draws
}

// row fills the gaps of each of x's rows, as many as logs, and gives log densities.
func (f *free) row(x, logs, mask, mean, sd, logSD []float64, rng *Stream) {
	d, r := len(mask), len(logs)
	if len(f.z) < r*d {
		f.gaps, f.mean, f.sd, f.z = make([]int, d), make([]float64, d), make([]float64, d), make([]float64, r*d)
	}
	n, constant := 0, 0.0
	for j, m := range mask { // a branch on random gaps costs more than all the rest
		f.gaps[n] = j
		one := 0
		if m == 0 {
			one = 1
		}
		n += one
	}
	gaps, means, sds := f.gaps[:n], f.mean[:n], f.sd[:n]
	for t, j := range gaps {
		means[t], sds[t] = mean[j], sd[j]
		constant -= logSD[j]
	}
	z := f.z[:r*n]
	rng.Normals(z)
	for k := range logs {
		row, log := x[k*d:k*d+d], constant
		for t, v := range z[k*n : k*n+n] {
			row[gaps[t]] = means[t] + sds[t]*v
			log -= 0.5 * v * v
		}
		logs[k] = log
	}
}
