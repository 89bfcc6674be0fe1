"""Contact problems of this library as captured ones, to be written for other programs."""

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..._support.arrays import MatrixLike
from ...bodies import Bodies, State
from ...bodies.mass import mass_matrix
from ...equilibrium.rows import contact_rows
from .problem import CapturedProblem

if TYPE_CHECKING:
    from ...step import StepResult


def capture(
    B: MatrixLike,
    M: MatrixLike,
    gap: ArrayLike,
    impulse: ArrayLike,
    *,
    tangential: MatrixLike | None = None,
    friction: ArrayLike = 0.0,
    slip: ArrayLike | None = None,
    title: str = "",
    description: str = "",
) -> CapturedProblem:
    """A problem of this library as a global one, to be written.

    Parameters
    ----------
    B : (m, n)
        Gap gradient.
    M : (n, n) [kg, kg m^2]
        Mass.
    gap : (m,) [m/s]
        Phi/dt.
    impulse : (n,) [N s, N m s]
        M v + dt F_ext.
    tangential : ((d-1) m, n), optional
        Rows T; without them there are three rows a contact, zero along the tangents.
    friction : float or (m,)
        mu.
    slip : (m, d-1) [m/s], optional
        What driven bodies add to T v.
    title, description : str
        Free text.

    Raises
    ------
    ValueError
        For shapes that do not go together.

    Examples
    --------
    >>> from rigidlimit.adapters import capture
    >>> ball = capture([[1.0]], [[1.0]], [0.0], [-2.0])  # 1 kg falls on a floor with 2 m/s
    >>> ball.solve().reaction  # N s
    array([[2., 0., 0.]])
    """
    B = sp.csr_array(B)
    m, n = B.shape
    if tangential is None:
        tangential = sp.csr_array((2 * m, n))
    rows, d = contact_rows(B, tangential)
    w = np.zeros((m, d))
    w[:, 0] = gap
    if slip is not None:
        w[:, 1:] = slip
    return CapturedProblem(
        kind="global",
        dim=d,
        mu=np.broadcast_to(np.asarray(friction, float), (m,)).copy(),
        M=sp.csr_array(M),
        H=sp.csr_array(rows.T),
        f=np.asarray(impulse, float),
        w=w.ravel(),
        title=title,
        description=description,
    )


def capture_step(
    bodies: Bodies,
    state: State,
    external_force: np.ndarray,
    result: "StepResult",
    *,
    title: str = "",
) -> CapturedProblem:
    """The contact problem of one step, on the degrees of freedom that are free, to be written.

    Parameters
    ----------
    bodies : Bodies
    state : State
        At the start of the step.
    external_force : (6 n,) [N, N m]
    result : StepResult
        The step.
    title : str
        Free text.

    Raises
    ------
    ValueError
        For a state and forces of other bodies.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> simulation = rl.Simulation("beam")
    >>> state, pushed = simulation.state, simulation.external_force
    >>> problem = rl.adapters.capture_step(simulation.bodies, state, pushed, simulation.step())
    >>> problem.contacts, round(float(problem.solve().reaction[:, 0].sum()), 6)  # 10 N for 1 ms
    (3, 0.01)
    """
    free = np.flatnonzero(bodies.free.ravel())
    M = mass_matrix(bodies, state)
    B = sp.csr_array(sp.csc_array(result.B)[:, free])
    M = sp.csr_array(M[free][:, free])
    moving = result.classic.velocity[free]
    impulse = M @ state.velocity.ravel()[free] + result.dt * external_force[free]
    # Phi/dt or e_n B v, and what driven bodies add
    bias = result.classic.slack - B @ moving
    rough = {}
    if result.T is not None:
        T = sp.csr_array(sp.csc_array(result.T)[:, free])
        along = result.classic.tangential_velocity
        slip = along - (T @ moving).reshape(along.shape)
        rough = dict(tangential=T, friction=result.friction, slip=slip)
    return capture(B, M, bias, impulse, title=title, description=result.message, **rough)
