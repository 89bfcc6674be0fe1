"""K + e I for a strong and a weak e, with the steps of both kinds: see ``regularized_newton``."""

import numpy as np

from .line_search import dot


class RegularizedHessian:
    """K + e I for either e, factorized anew only where D has changed by much; ``before``: the last
    weakly regularized step since then."""

    def __init__(self, network, stats, settings):
        self.network, self.stats, self.settings = network, stats, settings
        self.D, self.systems, self.before = None, {}, None

    def update(self, D: np.ndarray):
        """Take D (m,) over."""
        self.now = D
        if self.D is None or not self._serves(D):
            self.D, self.systems, self.before = D, {}, None

    def _serves(self, D):
        low, high = self.settings.reuse
        least = self.settings.negligible * float(D.max())
        now, known = np.maximum(D, least), np.maximum(self.D, least)
        same = ((D > 0) == (self.D > 0)).all()
        return bool(same and (now >= low * known).all() and (now <= high * known).all())

    def solve(self, rhs: np.ndarray, part: float) -> np.ndarray:
        """(K + e I)^-1 rhs, e = part max D."""
        if part not in self.systems:
            self.systems[part] = self.network.system(self.D, part * float(self.D.max()))
        return self.systems[part].solve_directly(rhs, self.stats)

    def step(self, g: np.ndarray, weak: bool) -> tuple[np.ndarray, np.ndarray]:
        """(d (n,), -B d (m,)), strongly or weakly regularized."""
        settings = self.settings
        d = -self.solve(g, settings.strong)
        if not weak:
            return d, -(self.network.B @ d)
        d = self.solve(settings.strong * float(self.D.max()) * d, settings.weak)
        dc = -(self.network.B @ d)
        if self.before is not None:
            before, change = self.before
            forces = self.now * change
            stiffness = dot(forces, change)
            part = dot(forces, dc) / stiffness if stiffness > 0.0 else 0.0
            rest = d - part * before
            # of a single motion whose stiffness has changed nothing is left
            if dot(g, rest) < settings.conjugate * dot(g, d):
                d, dc = rest, dc - part * change
        self.before = d, dc
        return d, dc
