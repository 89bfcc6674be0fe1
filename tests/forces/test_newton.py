"""Choices of the Newton solver for compatible forces."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.forces import newton
from tests.problems import static_pyramid


@pytest.mark.parametrize(("small", "paths"), [(10**9, 1), (10, 0)])
def test_patience_with_a_start_grows_with_the_network(monkeypatch, small, paths):
    """Property: with three Newton steps a start is given up, which then costs a central path; in a
    network that counts as large the same start is followed to the same forces."""
    called = []
    follow = newton.follow

    def counted(*args, **options):
        called.append(1)
        return follow(*args, **options)

    B, load = static_pyramid(12)
    known = rl.compatible_forces(B, load).force  # six Newton steps, no path
    monkeypatch.setattr(newton, "follow", counted)
    monkeypatch.setattr(newton, "WANDERING", 3)
    monkeypatch.setattr(newton, "SMALL", small)
    answer = rl.compatible_forces(B, load)
    assert len(called) == paths
    # both converged to 1e-10 of the load; forces are unique, a few times the load
    assert np.abs(answer.force - known).max() < 1e-8


def test_patience():
    """Closed form: as before up to SMALL degrees of freedom, then with the linear size."""
    assert newton.patience(1) == newton.patience(newton.SMALL) == newton.WANDERING
    assert newton.patience(8 * newton.SMALL) == 2 * newton.WANDERING
