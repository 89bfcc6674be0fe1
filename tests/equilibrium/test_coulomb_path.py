"""Interior path of Coulomb's law: closed forms at its end, the path itself, what needs it."""

import numpy as np
import pytest

from benchmarks.corpus.rough import captured_step
from rigidlimit.equilibrium.coulomb_path import CoulombPath
from rigidlimit.equilibrium.dense import Dense

ROWS = np.eye(3)
"""One ball on a plane: normal, two tangents."""


def to_the_end(path):
    """At most 60 steps; it ends by rounding."""
    for _ in range(60):
        try:
            path.advance()
        except np.linalg.LinAlgError:
            break
    return path.force


@pytest.mark.parametrize(
    ("pull", "friction", "force"),
    [
        ((0.3, 0.4), 0.6, (2.0, -0.3, -0.4)),  # stuck: holds all of it
        ((0.6, 0.8), 0.25, (2.0, -0.3, -0.4)),  # slides: mu f_n against the slip
        ((0.6, 0.8), 0.0, (2.0, 0.0, 0.0)),
    ],
)
@pytest.mark.parametrize("weight", [1.0, 3.0])
def test_ball_on_a_plane(pull, friction, force, weight):
    """Closed form: unit mass, velocity (-2, pull) without contact. 1e-7: t has fallen to below
    1e-14 of its start, and forces near a cone's boundary go with its square root."""
    mechanics = Dense(ROWS, np.array([-2.0, *pull]), 3, rows=ROWS)
    path = CoulombPath(
        mechanics, np.array([friction]), np.ones(1), scale=2.0, weight=np.array([weight])
    )
    np.testing.assert_allclose(to_the_end(path)[0], force, rtol=0.0, atol=1e-7)


def test_it_comes_to_an_answer_where_the_other_methods_go_in_circles():
    """A step of 50 balls that settle, of the corpus: with 2,000 linear systems the other methods
    end at a residual of 6e-8. 1e-10: the default tolerance."""
    (problem,) = captured_step("step1-balls-90")
    found = problem.solve()
    assert found.converged and found.residual <= 1e-10
    assert "interior path" in found.routes
