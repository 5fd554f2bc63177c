"""The Taylor series in time of the enstrophy of Taylor and Green's vortex, in exact arithmetic from the equations alone.

As a program it prints the coefficients of t^0 to t^N (5): polynomials in the viscosity, as parts of the first one.
"""

import fractions
import itertools
import sys

ZERO = fractions.Fraction(0)


class Mode:
    """A complex number of two fractions."""

    __slots__ = ("re", "im")

    def __init__(self, re=ZERO, im=ZERO):
        self.re = re
        self.im = im

    def __add__(self, other):
        return Mode(self.re + other.re, self.im + other.im)

    def __mul__(self, other):
        return Mode(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)

    def times(self, real):
        return Mode(self.re * real, self.im * real)

    def __bool__(self):
        return bool(self.re or self.im)


def first_velocity():
    """The modes of (sin x cos y cos z, -cos x sin y cos z, 0): {wavenumber: vector}."""
    eighth = fractions.Fraction(1, 8)
    return {k: [Mode(ZERO, -k[0] * eighth), Mode(ZERO, k[1] * eighth), Mode()] for k in itertools.product((1, -1), repeat=3)}


def add(field, k, vector):
    old = field.get(k, (Mode(), Mode(), Mode()))
    field[k] = [a + b for a, b in zip(old, vector)]


def dot(k, vector):
    return vector[0].times(k[0]) + vector[1].times(k[1]) + vector[2].times(k[2])


def square(k):
    return k[0] ** 2 + k[1] ** 2 + k[2] ** 2


def carry(by, what, into):
    """Adds -(by . grad) what."""
    for k1, u in by.items():
        for k2, v in what.items():
            speed = dot(k2, u)
            if speed:
                factor = Mode(speed.im, -speed.re)
                add(into, (k1[0] + k2[0], k1[1] + k2[1], k1[2] + k2[2]), [factor * component for component in v])


def take_pressure(field):
    for k, vector in field.items():
        if any(k):
            share = dot(k, vector).times(fractions.Fraction(-1, square(k)))
            field[k] = [component + share.times(k[c]) for c, component in enumerate(vector)]


def next_terms(terms, n):
    """The terms of t^(n+1) by the power of the viscosity, of a velocity whose terms up to t^n are known."""
    for power in range(n + 2):
        rate = {}
        for a in range(n + 1):
            for p in range(power + 1):
                carry(terms.get((a, p), {}), terms.get((n - a, power - p), {}), rate)
        take_pressure(rate)
        for k, vector in terms.get((n, power - 1), {}).items():
            add(rate, k, [component.times(-square(k)) for component in vector])
        share = fractions.Fraction(1, n + 1)
        rate = {k: [component.times(share) for component in vector] for k, vector in rate.items() if any(vector)}
        if rate:
            yield power, rate


def enstrophy(last):
    """{(n, power): coefficient of t^n nu^power} of the mean of |curl u|^2 / 2, for n up to `last`."""
    terms = {(0, 0): first_velocity()}
    for n in range(last):
        terms.update({(n + 1, power): rate for power, rate in next_terms(terms, n)})
    sums = {}
    for (a, p), u in terms.items():
        for (b, q), v in terms.items():
            if a + b <= last:
                both = sum(square(k) * (x.re * y.re + x.im * y.im) for k in u.keys() & v.keys() for x, y in zip(u[k], v[k]))
                sums[a + b, p + q] = sums.get((a + b, p + q), ZERO) + both / 2
    return {key: value for key, value in sums.items() if value}


def evaluate(coefficients, viscosity, time):
    return sum(float(value) * time**n * viscosity**power for (n, power), value in coefficients.items())


def main():
    coefficients = enstrophy(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
    for (n, power), value in sorted(coefficients.items()):
        print(f"t^{n} nu^{power}: {value / coefficients[0, 0]}")


if __name__ == "__main__":
    main()
