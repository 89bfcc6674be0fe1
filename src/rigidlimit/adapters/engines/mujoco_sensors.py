"""User sensors of a MuJoCo model, filled with mended forces by MuJoCo's sensor callback.

MuJoCo calls one function for all models of a process, once in each stage of a step for which a
model has user sensors. Contact forces are known in the last of them.
"""

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from ...errors import InputError
from .arguments import expect
from .mender import Mender
from .mujoco import library
from .result import MendedForces
from .sensor_readings import Readings

if TYPE_CHECKING:
    from mujoco import MjData, MjModel


class MendedSensors:
    """User sensors of a MuJoCo model that read mended forces in every step.

    A sensor of type ``user`` whose name ends in ``mended_`` and a quantity reads that of the geom,
    body or site which it is attached to, in the frame of a site and else in world axes::

        <user name="FL_mended_force" objtype="geom" objname="foot_FL" dim="3" needstage="acc"/>

    - ``force`` (dim 3), ``torque`` (3), ``wrench`` (6): of all contacts on the part [N, N m]; the
      torque about the geom's centre, the body's frame (``xbody``) or centre of mass (``body``), or
      the site. The part of a site is its body.
    - ``normal_force`` (1): the sum of its normal forces [N].
    - ``friction_margin`` (1): the least of its contacts (``MendedForces.friction_margin``); nan
      where none of them presses and rubs.
    - ``centre_of_pressure`` (3): in the world, or from a site in its axes [m].
    - ``converged`` (1): of no part; 1 where the forces are an equilibrium of stiff elastic bodies.

    Sensors are read between ``install()`` and ``remove()``, or in a ``with``. A callback that was
    installed before is called first, and put back at the end.

    Parameters
    ----------
    model : mujoco.MjModel
        The callback leaves other models alone.
    sensors : dict, optional
        In place of names, {sensor: (part, quantity)} or {sensor: (part, quantity, by)}, with part
        and by as ``MendedForces.on`` takes them: only contacts with ``by`` count then.
    remember : bool
        Whether contacts remember, as along ``Mender.along``. Each MjData has a memory of its own,
        which is cleared where its time goes back.
    **options
        Keywords of ``Mender``.

    Attributes
    ----------
    error : Exception or None
        First error in a thread that is not Python's own. An exception there would end the process
        (``mujoco.rollout`` steps in such threads), so that all sensors of that step are nan and
        ``remove()`` raises it. Elsewhere ``mj_step`` raises errors at once.

    Raises
    ------
    InputError
        For no sensor that reads mended forces, one of a wrong dimension, stage or name, and what
        ``Mender`` and ``Mender.mend`` refuse.

    Examples
    --------
    >>> import mujoco
    >>> from rigidlimit.adapters import MendedSensors
    >>> model = mujoco.MjModel.from_xml_string('''<mujoco><worldbody>
    ...   <geom type="plane" size="5 5 .1"/>
    ...   <body name="box" pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
    ... </worldbody><sensor>
    ...   <user name="box_mended_force" objtype="xbody" objname="box" dim="3" needstage="acc"/>
    ... </sensor></mujoco>''')
    >>> data = mujoco.MjData(model)
    >>> with MendedSensors(model):
    ...     for _ in range(300):
    ...         mujoco.mj_step(model, data)
    >>> data.sensor("box_mended_force").data.round(2) + 0.0
    array([ 0.  ,  0.  , 78.48])
    """

    def __init__(
        self,
        model: "MjModel",
        sensors: Mapping[str, Sequence[str]] | None = None,
        *,
        remember: bool = False,
        **options: Any,
    ):
        self.mujoco = library()
        expect("MendedSensors", model=(model, self.mujoco.MjModel))
        self.model, self.remember, self.options = model, remember, options
        self._local = threading.local()
        self.readings = Readings(self.mujoco, model, self._mender().made, sensors)
        self._stage = int(self.mujoco.mjtStage.mjSTAGE_ACC)
        self._memory: WeakKeyDictionary = WeakKeyDictionary()
        self._installed: Any = None
        self._before: Any = None
        self.error: Exception | None = None

    def __repr__(self) -> str:
        how = "not installed" if self._installed is None else "installed"
        return f"<MendedSensors of {len(self.readings.every)} sensors, {how}>"

    def __enter__(self) -> "MendedSensors":
        return self.install()

    def __exit__(self, kind: Any, *raised: Any) -> None:
        try:
            self.remove()
        except Exception:
            if kind is None:  # else the error of the block itself is the one to see
                raise

    def install(self) -> "MendedSensors":
        """MuJoCo calls these sensors from the next step on.

        Raises InputError where they are installed.
        """
        if self._installed is not None:
            raise InputError("the sensors are installed already; expected remove() before")
        self._before, self._installed = self.mujoco.get_mjcb_sensor(), self._called
        self.error = None
        self.mujoco.set_mjcb_sensor(self._installed)
        return self

    def remove(self) -> None:
        """Put back what MuJoCo called before; nothing where these are not installed.

        Raises the ``error`` that was kept, once the callback is put back.
        """
        if self._installed is None:
            return
        if self.mujoco.get_mjcb_sensor() == self._installed:
            self.mujoco.set_mjcb_sensor(self._before)
        self._installed = None  # one that was set later may go on calling this
        if self.error is not None:
            raise self.error

    def read(self, data: "MjData") -> MendedForces:
        """Fill the sensors from a state, without a callback; returns its mended forces.

        Parameters
        ----------
        data : MjData
            After ``mj_step`` or ``mj_forward``.

        Raises
        ------
        InputError
            As ``Mender.mend``.
        """
        mended = self._mended(data)
        self.readings.fill(mended, data)
        return mended

    def _called(self, model, data, stage):
        if self._before is not None:
            self._before(model, data, stage)
        if self._installed is None or model is not self.model or stage != self._stage:
            return
        try:
            self.read(data)
        except Exception as wrong:
            self.readings.fill_with(np.nan, data)
            if isinstance(wrong, InputError):
                wrong = InputError(f"mended sensors, time {data.time:.6g}: {wrong}")
            if isinstance(threading.current_thread(), threading._DummyThread):
                self.error = self.error or wrong
                return
            raise wrong from None

    def _mender(self) -> Mender:
        """One for each thread: it keeps arrays of the state that it reads."""
        if not hasattr(self._local, "mender"):
            self._local.mender = Mender(self.model, **self.options)
        return self._local.mender

    def _mended(self, data) -> MendedForces:
        mender = self._mender()
        if not self.remember:
            return mender.mend(data)
        time, earlier, now = self._memory.get(data, (np.inf, None, None))
        if data.time != time:  # else the same step again
            earlier = now if data.time > time else None
        (mended,) = mender.along([data], springs=earlier)
        self._memory[data] = data.time, earlier, mended.springs
        return mended
