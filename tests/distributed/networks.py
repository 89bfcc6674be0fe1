"""Networks for the tests of ``rigidlimit.distributed``, and the program on some processes."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import h5py
import numpy as np
import pytest
import scipy.sparse as sp

import rigidlimit as rl
from rigidlimit.distributed import ContactNetwork
from rigidlimit.pose import forces_at_pose

LAUNCHER = shutil.which("mpiexec.openmpi")
"""The mpiexec of Debian's PETSc, whatever else comes first in the path."""

MISSING = importlib.util.find_spec("petsc4py") is None or LAUNCHER is None
needs_petsc = pytest.mark.skipif(
    MISSING and ("CI" not in os.environ or "WITHOUT_PETSC" in os.environ),
    reason="needs petsc4py and Open MPI (docs: clusters)",
)
"""In CI, which installs them where the system has them, these tests fail without."""

ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    # processes share the cores of the tests
    "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1",
    # else Open MPI binds one or two processes to the first cores, whatever else runs there
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    # where one process ends with an error the others are not given two seconds to end
    "OMPI_MCA_odls_base_sigkill_timeout": "0",
}  # fmt: skip


def launched(ranks: int, *arguments, folder: Path | None = None) -> subprocess.CompletedProcess:
    """Python on so many processes, in a folder."""
    command = [LAUNCHER, "--oversubscribe", "-n", str(ranks), sys.executable, *map(str, arguments)]
    # ranks that wait leave the core to the one that they wait for
    environment = os.environ | ENVIRONMENT | {"OMPI_MCA_mpi_yield_when_idle": f"{ranks > 1:d}"}
    return subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=300, cwd=folder
    )


@dataclass(frozen=True)
class Command:
    """Words of a command of ``rigidlimit`` that so many ranks run; the name of a case before it is
    the file of its forces."""

    words: tuple
    ranks: int


@dataclass(frozen=True)
class Said:
    """Exit codes and streams of a command on each rank."""

    codes: list[int]
    out: list[str]
    err: list[str]

    @property
    def stdout(self) -> str:
        return "".join(self.out)

    @property
    def stderr(self) -> str:
        return "".join(self.err)


@dataclass(frozen=True)
class Case:
    """A network file to be solved on so many ranks. write: makes the file. options: of
    ``forces_of_file``; start and history name an earlier case, of as many ranks or fewer."""

    write: Callable[[Path], None]
    ranks: int
    options: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Dump:
    """A dump that so many ranks make a network file of. friction: of each type. options: of
    ``network_of_dump``."""

    path: Path
    ranks: int
    friction: dict[int, float]
    options: dict = field(default_factory=dict)


def solved(folder: Path, cases: dict[str, Case | Command | Dump]) -> dict[str, dict | Said]:
    """Arrays and attributes of the forces of each case, and their file as ``out``, by one start for
    each number of ranks; of one that is refused the errors of all ranks; what a command said; of a
    dump its network file as ``out``."""
    out = {name: folder / f"{name}-forces.h5" for name in cases}
    for ranks in sorted({case.ranks for case in cases.values()}):
        jobs = [
            dict(out=str(out[name])) | _job(case, folder / f"{name}.h5", out)
            for name, case in cases.items()
            if case.ranks == ranks
        ]
        todo = folder / f"jobs-{ranks}.json"
        todo.write_text(json.dumps(jobs))
        done = launched(ranks, Path(__file__).with_name("many.py"), todo)
        assert done.returncode == 0, done.stdout + done.stderr
    return {name: _found(out[name], case) for name, case in cases.items()}


def _job(case: Case | Command | Dump, path: Path, out: dict[str, Path]) -> dict:
    """What ``many.py`` is to do, and the network file ``path`` if it needs one."""
    if isinstance(case, Dump):
        return {"dump": str(case.path), "friction": case.friction} | case.options
    if isinstance(case, Command):
        return {"command": [str(out.get(word, word)) for word in case.words]}
    case.write(path)
    earlier = {k: str(out[v]) for k, v in case.options.items() if k in ("start", "history")}
    return dict(path=str(path)) | case.options | earlier


def _found(out: Path, case: Case | Command | Dump) -> dict | Said:
    if isinstance(case, Command):
        said = [json.loads(Path(f"{out}.{rank}.json").read_text()) for rank in range(case.ranks)]
        return Said(*map(list, zip(*said, strict=True)))
    said = [Path(f"{out}.{rank}.txt") for rank in range(case.ranks)]
    if any(path.exists() for path in said):
        return {"errors": sorted(path.read_text() for path in said)}
    if isinstance(case, Dump):
        return {"out": out}
    with h5py.File(out) as file:
        return {name: file[name][:] for name in file} | dict(file.attrs) | {"out": out}


def found_force(found: dict) -> np.ndarray:
    """Forces (m,) of a case that has converged."""
    assert found["status"] == "converged" and found["residual"] <= 1e-10
    return found["force"]


def reference(network: ContactNetwork) -> np.ndarray:
    """The same by ``compatible_forces`` in one process."""
    answer = one_process(network)
    assert answer.converged
    return answer.force


def one_process(network: ContactNetwork, **options) -> rl.CompatibleForces:
    """The answer of ``compatible_forces``."""
    d, w, m, n = network.components, network.width, len(network.body), len(network.load)
    columns = (w * network.body[:, :, None] + np.arange(w)).reshape(m, 1, 2 * w)
    rows = network.rows.reshape(m, 2, d, w).swapaxes(1, 2)
    index = np.broadcast_to(columns, (m, d, 2 * w)).ravel()
    B = sp.csr_array((rows.ravel(), index, np.arange(m * d + 1) * 2 * w), shape=(m * d, w * n))
    rough = {}
    if network.friction is not None:
        rough = dict(
            tangential=d, friction=network.friction, tangential_law=network.tangential_law,
            tangential_stiffness=network.tangential_stiffness, history=network.history,
        )  # fmt: skip
    answer = rl.compatible_forces(
        B, network.load.ravel(), stiffness=network.stiffness, exponent=network.exponent,
        fixed=~network.free.ravel(), gap_error=network.gap, **rough, **options,
    )  # fmt: skip
    return answer


def off(found: np.ndarray, wanted: np.ndarray) -> float:
    """Largest difference over the largest force."""
    return float(np.abs(found - wanted).max() / wanted.max())


def network_of(scene: rl.Scene, exponent: float, stiffness=1e5) -> ContactNetwork:
    """That of a scene's pose."""
    law = {2.0: "hooke", 2.5: "hertz"}.get(exponent, exponent)
    return ContactNetwork.of_pose(
        forces_at_pose(scene, stiffness=stiffness, law=law), exponent=exponent
    )


def crystal(
    layers: int = 4, side: int = 4, *, noise: float = 0.02, seed: int = 0,
    material: rl.Material | None = None,
) -> rl.Scene:  # fmt: skip
    """Balls of radius 0.52 about a face-centred lattice of neighbours at distance 1, in a cell that
    is periodic along x and y, between held layers: overlaps press, and each ball weighs 1."""
    rng = np.random.default_rng(seed)
    scene = rl.Scene(
        gravity=(0, 0, -1), cell=rl.Cell((side, side, 2 * layers), periodic=(True, True, False))
    )
    for i, j, layer in np.ndindex(side, side, layers):
        lattice = np.array([i + 0.5 * (layer % 2), j + 0.5 * (layer % 2), layer * np.sqrt(0.5)])
        at = lattice + noise * rng.standard_normal(3)
        held = layer in (0, layers - 1)
        scene.add(rl.Sphere(0.52), position=at, mass=1.0, fixed=held, material=material)
    return scene


def boxes(
    courses: int = 4, length: int = 3, material: rl.Material | None = None
) -> rl.Scene:  # fmt: skip
    """A wall of boxes, which turn, on a floor: eight contacts and more a box."""
    scene = rl.Scene(gravity=(0, 0, -10))
    scene.add(rl.HalfSpace(), position=(0, 0, 0), material=material)
    for course in range(courses):
        for k in range(length - course % 2):
            x = 1.0 * k + 0.5 * (course % 2)
            at = (x, 0, 0.25 + 0.5 * course)
            scene.add(rl.Box((1, 0.5, 0.5)), position=at, mass=1.0, material=material)
    return scene


def column(load: float, balls: int = 3) -> ContactNetwork:
    """Balls above one another, the lowest held: the contacts must deliver ``load`` on the top."""
    up = np.array([0.0, 0.0, 1.0])
    position, loads = np.outer(np.arange(balls), up), np.zeros((balls, 3))
    loads[-1, 2] = load
    free = np.ones((balls, 3), bool)
    free[0] = False
    below = np.arange(balls - 1)
    rows = np.tile(np.stack([-up, up]), (balls - 1, 1, 1))
    pairs = np.column_stack([below, below + 1])
    return ContactNetwork(position, loads, free, pairs, rows, np.ones(balls - 1))


def rough_crystal(friction: float = 0.3, **options) -> rl.Scene:
    """``crystal`` of balls that rub on each other."""
    return crystal(material=rl.Material(friction=friction), **options)


def rough_wall(friction: float, push: float = 0.0) -> ContactNetwork:
    """``boxes`` that rub on each other; the last one is pushed along x by ``push`` [N]."""
    scene = boxes(material=rl.Material(friction=friction))
    network = ContactNetwork.of_scene(scene, stiffness=1e5)
    load = network.load.copy()
    load[-1, 0] -= push
    return replace(network, load=load)


def ball_on_ball(friction: float, load: tuple[float, float, float]) -> ContactNetwork:
    """A ball that cannot turn on one that is held; what their contact must deliver."""
    position = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    axes = np.eye(3)[[2, 0, 1]]
    return ContactNetwork(
        position, np.array([(0.0, 0.0, 0.0), load]), np.array([[False] * 3, [True] * 3]),
        np.array([[0, 1]]), np.stack([-axes, axes])[None], np.ones(1),
        friction=np.full(1, friction), tangential_stiffness=np.full(1, 0.5),
    )  # fmt: skip
