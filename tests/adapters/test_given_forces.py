"""Contact forces that other programs state: read as given, for stress, chains and P(f)."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.errors import InputError
from tests.cli.program import forked as run

STACK = """ITEM: TIMESTEP
0
ITEM: NUMBER OF ATOMS
3
ITEM: BOX BOUNDS ff ff ff
0 1
0 1
0 1
ITEM: ATOMS id type x y z radius mass
7 2 0.5 0.5 0.1 0.1 1
8 1 0.5 0.5 0.2999 0.1 1
9 1 0.5 0.5 0.4998 0.1 1
"""

LOWER, UPPER = [0.5, 0.0, 19.62], [0.0, 0.25, 9.81]
"""Forces on the upper body of each contact [N]: the weight above, and some tangential force."""


def local(rows, names):
    lines = "\n".join(" ".join(map(repr, row)) for row in rows)
    head = f"ITEM: TIMESTEP\n0\nITEM: NUMBER OF ENTRIES\n{len(rows)}\n"
    return f"{head}ITEM: ENTRIES {' '.join(names)}\n{lines}\n"


def minus(force):
    return [-x for x in force]


PLACES = ([0.5, 0.5, 0.1, 0.5, 0.5, 0.2999], [0.5, 0.5, 0.2999, 0.5, 0.5, 0.4998])
WIDE = [f"c_cp[{k}]" for k in range(1, 14)]

FILES = {
    # the first atom's force; the overlap stands behind
    "pair/gran/local pos id force delta": local(
        [[*PLACES[0], 7, 8, 0, *minus(LOWER), 1e-4], [*PLACES[1], 9, 8, 0, *UPPER, 1e-4]], WIDE
    ),
    "pair/gran/local id force": local(
        [[7, 8, 0, *minus(LOWER)], [8, 9, 0, *minus(UPPER)]], WIDE[:6]
    ),
    "ids and fx fy fz": local([[2, 7, 8, *minus(LOWER)], [1, 9, 8, *UPPER]], ["index", *WIDE[:5]]),
    # forces on the second, as some programs have them
    "on the second": local([[7, 8, *LOWER], [8, 9, *UPPER]], WIDE[:5]),
    "a table": "ID1, id2, fx, fy, fz\n8,7,0.5,0,19.62\n8,9,0,-0.25,-9.81\n",
}


@pytest.fixture
def read(tmp_path):
    def read(text, packing=STACK, **options):
        dump, forces = tmp_path / "stack.dump", tmp_path / "stack.forces"
        dump.write_text(packing)
        forces.write_text(text)
        return rl.read_packing(dump, fixed=[2], contact_forces=forces, **options)

    return read


@pytest.mark.parametrize("name", FILES)
def test_forces_as_given(read, name):
    """Evidence: the numbers of the file, whichever body they are on; balance by closed form: the
    weights are carried, the tangential forces are left open. Stress: sum of d f over the volume,
    of branches of 0.1999 m, the half that is in the free body where the other is held."""
    found = read(FILES[name]).given
    names = found.bodies.names
    assert [tuple(names[k] for k in pair) for pair in found.contacts.body] == [
        ("7", "8"),
        ("8", "9"),
    ]
    np.testing.assert_allclose(found.force_vectors, [LOWER, UPPER], rtol=1e-14)
    open_ = found.imbalance.reshape(-1, 6)[1:, :3]
    np.testing.assert_allclose(open_, [[0.5, -0.25, 0], [0, 0.25, 0]], atol=1e-12)
    assert str(found.status) == "unbalanced" and "given by stack.forces" in found.message
    assert "taken as none" not in found.message
    np.testing.assert_allclose(
        rl.stress(found, volume=1.0)[2, 2], 0.1999 * (19.62 / 2 + 9.81), rtol=1e-12
    )
    assert rl.force_chains(found) is not None
    assert rl.coordination(found, bodies=["8"]).mean == 2


FSTAT = """# 0.5 info
# header
# header
0.4 0 1 9 9 9 9 9 9 9 9 9 9 9 9 9
0.5 0 1 0.5 0.5 0.2 1e-4 0 19.62 0.5 0 0 -1 -1 0 0
0.5 1 0 0.5 0.5 0.2 1e-4 0 19.62 0.5 0 0 1 1 0 0
0.5 1 2 0.5 0.5 0.4 1e-4 0 9.81 0.25 0 0 -1 0 -1 0
0.5 0 -1 0.5 0.5 0 1e-4 0 29.43 0 0 0 1 0 0 0
"""

MERCURY = """3 0.5 0 0 0 1 1 1
0.5 0.5 0.1 0 0 0 0.1 0 0 0 0 0 0 0
0.5 0.5 0.2999 0 0 0 0.1 0 0 0 0 0 0 0
0.5 0.5 0.4998 0 0 0 0.1 0 0 0 0 0 0 0
"""


def test_mercury(read):
    """Evidence: as above; the last time alone, a pair in both orders once, walls left out."""
    packing = read(FSTAT, MERCURY)
    np.testing.assert_allclose(packing.given.force_vectors, [LOWER, UPPER], rtol=1e-14)
    assert "forces of 1 contact with walls are left out" in packing.message


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (local([[7, 9, 0.0, 0, 1.0]], WIDE[:5]), "7 and 9 have a force and are not near"),
        (local([[1, 2, 0.0, 0, 1.0]], WIDE[:5]), "no two columns of ids of the packing"),
        (local([[7, 8, 0.0, 0, 1.0]] * 2, WIDE[:5]), "7, 8 is listed twice"),
        ("id1,id2,fx,fy,fz\n7,8,1,2\n", "line 2: .*5 words"),
        ("id1,id2,fx,fy,fz\n1,8,1,2,3\n", "body '1', which the packing does not have"),
        ("7 8 1 2 3\n", "line 1: .*16 numbers"),
    ],
)
def test_what_is_refused(read, text, told):
    """Property: one line with what was found and expected."""
    with pytest.raises(InputError, match=told):
        read(text)


def test_on_the_command_line(tmp_path):
    """Contract: the same forces, in the table and the file of results."""
    (tmp_path / "stack.dump").write_text(STACK)
    (tmp_path / "stack.csv").write_text(FILES["a table"])
    out = tmp_path / "found.csv"
    given = ["import", str(tmp_path / "stack.dump"), "--given", str(tmp_path / "stack.csv")]
    answer = run(*given, "--forces", "--results", str(out))
    assert answer.returncode == 0 and "given by stack.csv" in answer.stdout
    assert "19.62" in out.read_text()
    assert "add --forces" in " ".join(run(*given).stderr.split())
