package picture

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"
)

func numbered(format string, n int) []string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf(format, i+1))
	}
	return names
}

func TestArrange(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  placement
	}{
		{[]string{"Ozone"}, inside},
		{[]string{"a name of 24 characters."}, beside},
		{numbered("V%d", 4), inside},
		{numbered("Systolic pressure %d", 2), beside},
		{numbered("Systolic pressure %d", 4), beside},
		{numbered("Systolic pressure %d", 5), beside},
		{numbered("Systolic pressure %d", 8), beside},
		{numbered("Systolic pressure %d", 12), beside},
		{numbered("Systolic pressure %d", 13), radial},
		{numbered("V%d", 20), inside},
		{numbered("measurement %d", 20), radial},
		{numbered("gene%03d", 100), radial},
		{numbered("gene number %04d", 1000), radial},
	} {
		for _, half := range []vg.Point{{X: 200, Y: 200}, {X: 300, Y: 150}} {
			t.Run(fmt.Sprintf("%d %s %v", len(c.names), c.names[0], half), func(t *testing.T) {
				l := arrange(c.names, half)
				require.Equal(t, c.want, l.names)
				if l.n > 1 {
					apart := 2 * float64(l.radius) * math.Sin(math.Pi/float64(l.n))
					require.Greater(t, apart, 2*float64(l.node), "circles overlap")
				}
				for i, name := range c.names {
					node := l.at(i, l.radius)
					require.LessOrEqual(t, math.Abs(float64(node.X))+float64(l.node), float64(half.X)+1e-9)
					require.LessOrEqual(t, math.Abs(float64(node.Y))+float64(l.node), float64(half.Y)+1e-9)

					style, distance := l.label(i)
					box := style.Rectangle(name).Add(l.at(i, distance))
					require.LessOrEqual(t, max(-box.Min.X, box.Max.X), half.X+1e-9, name)
					require.LessOrEqual(t, max(-box.Min.Y, box.Max.Y), half.Y+1e-9, name)
					if l.names == inside {
						require.Less(t, style.Width(name), 2*l.node, name)
						require.GreaterOrEqual(t, l.font, smallest)
					}
					if l.names == beside && l.n > 1 {
						next, far := l.label((i + 1) % l.n)
						other := next.Rectangle(c.names[(i+1)%l.n]).Add(l.at(i+1, far))
						require.False(t, box.Min.X < other.Max.X && other.Min.X < box.Max.X &&
							box.Min.Y+1 < other.Max.Y && other.Min.Y+1 < box.Max.Y, "%s runs into its neighbour", name)
					}
				}
			})
		}
	}
}

func TestNodesGoClockwiseFromTheTop(t *testing.T) {
	l := arrange(numbered("V%d", 4), vg.Point{X: 100, Y: 100})
	for i, want := range []vg.Point{{Y: 1}, {X: 1}, {Y: -1}, {X: -1}} {
		got := l.at(i, 1)
		require.InDelta(t, float64(want.X), float64(got.X), 1e-12)
		require.InDelta(t, float64(want.Y), float64(got.Y), 1e-12)
	}
}

func TestRadialNamesAreNeverUpsideDown(t *testing.T) {
	l := arrange(numbered("gene%03d", 100), vg.Point{X: 200, Y: 200})
	for i := range l.n {
		style, _ := l.label(i)
		require.GreaterOrEqual(t, math.Cos(style.Rotation), -1e-9)
	}
}

func TestEdgesKeepClearOfOtherNodes(t *testing.T) {
	for _, names := range [][]string{
		numbered("V%d", 4), numbered("V%d", 7), numbered("V%d", 12), numbered("V%d", 20), numbered("V%d", 28),
		numbered("measurement %d", 12), numbered("measurement %d", 20), numbered("gene%03d", 100),
	} {
		l := arrange(names, vg.Point{X: 200, Y: 190})
		for to := 1; to < l.n; to++ {
			from, control, end := l.at(0, l.radius), l.control(0, to), l.at(to, l.radius)
			nearest := math.Inf(1)
			for step := range 201 {
				f := vg.Length(step) / 200
				on := from.Scale((1 - f) * (1 - f)).Add(control.Scale(2 * f * (1 - f))).Add(end.Scale(f * f))
				for other := 1; other < l.n; other++ {
					if other != to {
						gap := l.at(other, l.radius).Sub(on)
						nearest = min(nearest, math.Hypot(float64(gap.X), float64(gap.Y)))
					}
				}
			}
			require.Greater(t, nearest, 1.1*float64(l.node), "%s: 0 – %d runs through another node", names[0], to)
		}
	}
}

func TestLongEdgesAreStraight(t *testing.T) {
	l := arrange(numbered("V%d", 20), vg.Point{X: 200, Y: 200})
	require.Equal(t, l.at(0, l.radius).Add(l.at(7, l.radius)).Scale(0.5), l.control(0, 7))
	require.Equal(t, l.control(0, 18), l.control(18, 0), "the short way round")
	require.NotEqual(t, l.at(0, l.radius).Add(l.at(18, l.radius)).Scale(0.5), l.control(0, 18))
}
