package posterior

// cells draws, row by row, the component given the observed cells, the missing ones
// integrated out, and the missing cells given component and observed ones, for given
// parameters:
//
//	p(k | z_o) ∝ w_k N(z_o; μ_k,o, Σ_k,oo),   Σ_k = P_k⁻¹
//	z_m | z_o, k ~ N(μ_m − P_mm⁻¹P_mo(z_o − μ_o), P_mm⁻¹)
//
// It is not ok where a matrix is not positive definite in float64.
func (s *chain) cells() (ok bool) {
	for _, p := range s.patterns {
		for k := range s.components {
			c := &s.components[k]
			c.drawing = false
			if len(s.components) > 1 && !c.given.of(c.covariance, s.d, p.observed) {
				return false
			}
		}
		for _, i := range p.rows {
			if len(s.components) > 1 {
				s.of[i] = s.component(p, i)
			}
			if len(p.missing) > 0 && !s.complete(p, i, &s.components[s.of[i]]) {
				return false
			}
		}
	}
	return true
}

// component draws that of row i.
func (s *chain) component(p pattern, i int) int {
	for k := range s.components {
		c := &s.components[k]
		v := s.deviations[:len(p.observed)]
		for a, j := range p.observed {
			v[a] = s.z[i*s.d+j] - c.mean[j]
		}
		c.given.forward(v)
		square := 0.0
		for _, x := range v {
			square += x * x
		}
		s.weighted[k] = c.log - square/2 - c.given.logDet
	}
	return s.pick(s.weighted)
}

// complete draws the missing cells of row i, of component c.
func (s *chain) complete(p pattern, i int, c *component) (ok bool) {
	if !c.drawing {
		if !c.gaps.of(c.precision, s.d, p.missing) {
			return false
		}
		c.drawing = true
	}
	row, v := s.z[i*s.d:i*s.d+s.d], s.deviations[:len(p.missing)]
	for a, j := range p.missing {
		v[a] = 0
		for _, l := range p.observed {
			v[a] -= c.precision[j*s.d+l] * (row[l] - c.mean[l])
		}
	}
	c.gaps.forward(v)
	for a := range v {
		v[a] += s.rng.NormFloat64()
	}
	c.gaps.backward(v)
	for a, j := range p.missing {
		row[j] = c.mean[j] + v[a]
	}
	return true
}
