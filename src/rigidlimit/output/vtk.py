"""Runs for ParaView: bodies and the contact force network as VTU, the time series as PVD."""

from pathlib import Path

import numpy as np

from ..atomic import whole_file, write_text
from ..bodies import Bodies, HalfSpace
from ..bodies.rotations import matrix
from .hdf5 import Run, read_run
from .surfaces import surface


def write_paraview(run: Run | str | Path, folder: str | Path) -> list[Path]:
    """Write ``bodies.pvd`` and ``contacts.pvd`` with one VTU file a stored step; returns both.

    Bodies: surface triangles with body number, speed [m/s] and mass [kg]. Contacts: a line
    along the line of action of each force (``contact_lines``) with force [N], classic force [N],
    gap [m] and the pair of bodies.
    """
    run = run if isinstance(run, Run) else read_run(run)
    folder = Path(folder)
    series = {"bodies": [], "contacts": []}
    for k in range(len(run)):
        step = run[k]
        for name, mesh in (
            ("bodies", _bodies(run.bodies, step)),
            ("contacts", _contacts(run, step)),
        ):
            file = f"{name}-{step.number:08d}.vtu"
            with whole_file(folder / file) as temporary:
                mesh.write(temporary, file_format="vtu")
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
    return written


def _bodies(bodies: Bodies, step):
    import meshio

    points, triangles, owner, start = [np.zeros((0, 3))], [np.zeros((0, 3), int)], [], 0
    turn = matrix(step.quaternion)
    for body in range(len(bodies)):
        shape = bodies.shape(body)
        if isinstance(shape, HalfSpace):
            continue
        local, faces = surface(shape)
        points.append(local @ turn[body].T + step.position[body])
        triangles.append(faces + start)
        owner.append(np.full(len(faces), body))
        start += len(local)
    owner = np.concatenate(owner) if owner else np.zeros(0, int)
    speed = np.linalg.norm(step.velocity[:, :3], axis=1)
    data = {"body": owner, "speed [m/s]": speed[owner], "mass [kg]": bodies.mass[owner]}
    return meshio.Mesh(
        np.concatenate(points),
        [("triangle", np.concatenate(triangles))],
        cell_data={name: [values] for name, values in data.items()},
    )


def _contacts(run: Run, step):
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
