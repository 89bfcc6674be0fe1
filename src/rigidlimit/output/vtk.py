"""Runs for ParaView: bodies and the contact force network as VTU, the time series as PVD."""

from pathlib import Path

import numpy as np

from .._support.atomic import whole_file, write_text
from ..bodies import Bodies, Disk, HalfSpace, Sphere
from ..bodies.rotations import matrix
from ..forces.friction import mobilised_friction
from .hdf5 import Run, read_run
from .surfaces import surface

MANY = 5_000
"""Balls beyond which each is a point with its radius: surfaces take 5 kB and 0.3 ms each a step."""


def write_paraview(run: Run | str | Path, folder: str | Path) -> list[Path]:
    """Write ``bodies.pvd`` and ``contacts.pvd`` with one VTU file a stored step; returns them.

    Bodies: surface triangles with body number, speed [m/s] and mass [kg]. Contacts: a line
    along the line of action of each force (``contact_lines``) with force [N], classic force [N],
    gap [m] and the pair of bodies, with friction also the force vector [N] on body b, mobilised
    friction |f_t|/(mu f_n) and sliding (1 or 0). Of more than ``MANY`` balls or disks, these are
    points in a third series, ``balls.pvd``, with radius [m] and velocity [m/s] beside the values of
    bodies. Of ``bodies.pvd`` and ``balls.pvd``, one that has nothing to show is removed if it is
    there.
    """
    run = run if isinstance(run, Run) else read_run(run)
    folder = Path(folder)
    as_points = np.flatnonzero(run.bodies.are(Sphere, Disk))
    if len(as_points) <= MANY:
        as_points = as_points[:0]
    with_surface = np.setdiff1d(np.flatnonzero(~run.bodies.are(HalfSpace)), as_points)
    meshes = {
        "bodies": lambda step: _surfaces(run.bodies, step, with_surface),
        "balls": lambda step: _balls(run.bodies, step, as_points),
        "contacts": _contacts,
    }
    if not len(as_points):
        del meshes["balls"]
    elif not len(with_surface):
        del meshes["bodies"]
    series = {name: [] for name in meshes}
    for k in range(len(run)):
        step = run[k]
        for name, mesh in meshes.items():
            file = f"{name}-{step.number:08d}.vtu"
            with whole_file(folder / file) as temporary:
                mesh(step).write(temporary, file_format="vtu")
            series[name].append((step.time, file))
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


def _surfaces(bodies: Bodies, step, chosen):
    """Surface triangles of the bodies ``chosen``, (k,) ascending."""
    import meshio

    points, triangles, owner, start = [np.zeros((0, 3))], [np.zeros((0, 3), int)], [], 0
    turn = matrix(step.quaternion)
    for body in chosen:
        local, faces = surface(bodies.shape(body))
        points.append(local @ turn[body].T + step.position[body])
        triangles.append(faces + start)
        owner.append(np.full(len(faces), body))
        start += len(local)
    owner = np.concatenate(owner) if owner else np.zeros(0, int)
    return meshio.Mesh(
        np.concatenate(points),
        [("triangle", np.concatenate(triangles))],
        cell_data={name: [values] for name, values in _of_bodies(bodies, step, owner).items()},
    )


def _balls(bodies: Bodies, step, chosen):
    """The bodies ``chosen``, (k,), as points."""
    import meshio

    data = _of_bodies(bodies, step, chosen)
    data["radius [m]"] = bodies.bounding_radius[chosen]
    data["velocity [m/s]"] = step.velocity[chosen, :3]
    vertices = np.arange(len(chosen))[:, None]
    return meshio.Mesh(step.position[chosen], [("vertex", vertices)], point_data=data)


def _of_bodies(bodies: Bodies, step, body):
    """What is told of each of these bodies, (k,)."""
    speed = np.linalg.norm(step.velocity[body, :3], axis=1)
    return {"body": body, "speed [m/s]": speed, "mass [kg]": bodies.mass[body]}


def _contacts(step):
    import meshio

    ends = contact_lines(step.position, step.contacts)
    m = len(ends)
    data = {
        "force [N]": step.force,
        "classic force [N]": step.force_classic,
        "gap [m]": step.contacts.gap,
        "body a": step.contacts.body[:, 0],
        "body b": step.contacts.body[:, 1],
    }
    if step.tangential is not None:
        mobilised = mobilised_friction(step.force, step.tangential, step.friction)
        data |= {
            "force vector [N]": step.force_vectors,
            "mobilised friction": mobilised,
            "sliding": step.sliding.astype(np.int8),
        }
    return meshio.Mesh(
        ends.reshape(-1, 3),
        [("line", np.arange(2 * m).reshape(m, 2))],
        cell_data={name: [values] for name, values in data.items()},
    )


def contact_lines(position: np.ndarray, contacts) -> np.ndarray:
    """Ends of the line that stands for each contact, (m, 2, 3) [m].

    It runs along the line of action of the force, from the point nearest to one body's centre to
    the point nearest to the other's: centre to centre for balls, straight up through a stack of
    boxes, and to the contact point itself for half-spaces, whose "centre" lies in their plane.
    """
    arm = position[contacts.body] - contacts.point[:, None, :]
    depth = np.einsum("mek,mk->me", arm, contacts.normal)
    return contacts.point[:, None, :] + depth[:, :, None] * contacts.normal[:, None, :]
