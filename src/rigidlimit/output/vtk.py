"""Runs for ParaView: bodies and the contact force network as VTU, the time series as PVD."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .._support.atomic import whole_file, write_text
from ..bodies import Disk, HalfSpace, Sphere
from ..bodies.cell import CellFrame
from ..bodies.rotations import matrix
from ..collision.contacts import Contacts
from ..step.force_network import ForceNetwork
from .hdf5 import Run, read_run
from .limits import LIMITS
from .measures.chains import ForceChains, force_chains
from .measures.selection import in_cell
from .measures.tables import body_forces, neighbours
from .measures.tensors import body_stress
from .sources import network_of
from .surfaces import surface

if TYPE_CHECKING:
    from .sources import Source


def write_paraview(source: "Source", folder: str | Path) -> list[Path]:
    """Write ``bodies.pvd`` and ``contacts.pvd`` with one VTU file a stored step; returns them.

    source: a run or its file, or one moment: forces of a pose, a ``StepResult``, a ``Simulation``.
    Bodies: surface triangles with body number, speed [m/s], mass [kg], and of the best forces
    coordination, contact force [N], stress over the body's volume [Pa], nine numbers, pressure
    positive, its major principal value, and the force chain that it is in (-1: none; Peters et al.
    2005). Contacts: a line along the line of action of each force (``contact_lines``) with force
    [N], classic force [N], gap [m], the pair of bodies and whether it is a link of a force chain (1
    or 0), with friction also the force vector [N] on body b, mobilised friction |f_t|/(mu f_n) and
    sliding (1 or 0). Of more than 5,000 balls or disks, these are points in a third series,
    ``balls.pvd``, with radius [m] and velocity [m/s] beside the values of bodies. Of ``bodies.pvd``
    and ``balls.pvd``, one that has nothing to show is removed if it is there.
    """
    run = read_run(source) if isinstance(source, str | Path) else source
    moments = run if isinstance(run, Run) else [network_of(run)]
    folder = Path(folder)
    series: dict[str, list] = {}
    for moment in moments:
        number = getattr(moment, "number", 0)
        shown = in_cell(network_of(moment))
        for name, mesh in _meshes(shown).items():
            file = f"{name}-{number:08d}.vtu"
            with whole_file(folder / file) as temporary:
                mesh.write(temporary, file_format="vtu")
            series.setdefault(name, []).append((shown.time, file))
    written = []
    for name, files in series.items():
        rows = "\n".join(f'    <DataSet timestep="{t!r}" file="{f}"/>' for t, f in files)
        text = (
            '<?xml version="1.0"?>\n<VTKFile type="Collection" version="0.1">\n  <Collection>\n'
            f"{rows}\n  </Collection>\n</VTKFile>\n"
        )
        write_text(folder / f"{name}.pvd", text)
        written.append(folder / f"{name}.pvd")
    for name in {"bodies", "balls"} - series.keys():  # of another run, it would be shown as well
        (folder / f"{name}.pvd").unlink(missing_ok=True)
    return written


def _meshes(shown: ForceNetwork) -> dict:
    """The mesh of each series that has something to show."""
    bodies = shown.bodies
    as_points = np.flatnonzero(bodies.are(Sphere, Disk))
    if len(as_points) <= LIMITS.surfaces:
        as_points = as_points[:0]
    with_surface = np.setdiff1d(np.flatnonzero(~bodies.are(HalfSpace, CellFrame)), as_points)
    chains = force_chains(shown)
    data = _of_bodies(shown, chains)
    meshes = {}
    if len(with_surface) or not len(as_points):
        meshes["bodies"] = _surfaces(shown, data, with_surface)
    if len(as_points):
        meshes["balls"] = _balls(shown, data, as_points)
    return meshes | {"contacts": _contacts(shown, chains)}


def _surfaces(shown: ForceNetwork, data: dict, chosen: np.ndarray):
    """Surface triangles of the bodies ``chosen``, (k,) ascending."""
    import meshio

    points, triangles, owner, start = [np.zeros((0, 3))], [np.zeros((0, 3), int)], [], 0
    turn = matrix(shown.quaternion)
    for body in chosen:
        local, faces = surface(shown.bodies.shape(body))
        points.append(local @ turn[body].T + shown.position[body])
        triangles.append(faces + start)
        owner.append(np.full(len(faces), body))
        start += len(local)
    owner = np.concatenate(owner) if owner else np.zeros(0, int)
    return meshio.Mesh(
        np.concatenate(points),
        [("triangle", np.concatenate(triangles))],
        cell_data={name: [values[owner]] for name, values in data.items()},
    )


def _balls(shown: ForceNetwork, data: dict, chosen: np.ndarray):
    """The bodies ``chosen``, (k,), as points."""
    import meshio

    data = {name: values[chosen] for name, values in data.items()}
    data["radius [m]"] = shown.bodies.bounding_radius[chosen]
    data["velocity [m/s]"] = shown.speeds[chosen, :3]
    vertices = np.arange(len(chosen))[:, None]
    return meshio.Mesh(shown.position[chosen], [("vertex", vertices)], point_data=data)


def _of_bodies(shown: ForceNetwork, chains: ForceChains) -> dict[str, np.ndarray]:
    """Data of each body, (n, ...)."""
    n, dim = len(shown.bodies), shown.bodies.dim
    stress = np.zeros((n, 3, 3))
    stress[:, :dim, :dim] = body_stress(shown)
    return {
        "body": np.arange(n),
        "speed [m/s]": np.linalg.norm(shown.speeds[:, :3], axis=1),
        "mass [kg]": shown.bodies.mass,
        "coordination": neighbours(shown),
        "contact force [N]": body_forces(shown)[:, :3],
        "stress [Pa]": stress.reshape(n, 9),
        "major stress [Pa]": chains.major,
        "force chain": chains.chain,
    }


def _contacts(shown: ForceNetwork, chains: ForceChains):
    import meshio

    contacts = shown.contacts
    ends = contact_lines(shown.position, contacts)
    m, best = len(ends), shown.best
    links = {tuple(sorted(pair)) for pair in chains.pairs.tolist()}
    data = {
        "force [N]": shown.forces.get("compatible", np.full(m, np.nan)),
        "gap [m]": contacts.gap,
        "body a": contacts.body[:, 0],
        "body b": contacts.body[:, 1],
        "in force chain": np.array(
            [tuple(sorted(pair)) in links for pair in contacts.body.tolist()], np.int8
        ),
    }
    if "classic" in shown.forces:
        data["classic force [N]"] = shown.forces["classic"]
    if best in shown.tangential:
        data |= {
            "force vector [N]": shown.vectors(best),
            "mobilised friction": shown.mobilised(best),
            "sliding": shown.sliding[best].astype(np.int8),
        }
    return meshio.Mesh(
        ends.reshape(-1, 3),
        [("line", np.arange(2 * m).reshape(m, 2))],
        cell_data={name: [values] for name, values in data.items()},
    )


def contact_lines(position: np.ndarray, contacts: Contacts) -> np.ndarray:
    """Ends of the line that stands for each contact, (m, 2, 3) [m].

    It runs along the line of action of the force, from the point nearest to one body's centre to
    the point nearest to the other's: centre to centre for balls, straight up through a stack of
    boxes, and to the contact point itself for half-spaces, whose "centre" lies in their plane.
    """
    centre = position[contacts.body]
    if contacts.branch is not None:
        centre[:, 1] = centre[:, 0] + contacts.branch
    arm = centre - contacts.point[:, None, :]
    depth = np.einsum("mek,mk->me", arm, contacts.normal)
    return contacts.point[:, None, :] + depth[:, :, None] * contacts.normal[:, None, :]
