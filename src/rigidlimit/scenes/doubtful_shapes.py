"""Warnings about shapes that hardly are what was meant."""

import warnings

from .._support.warned import warn
from ..bodies import Compound, Shape
from ..collision.search import find_contacts
from ..errors import ContactError, SceneWarning

OVERLAP = 1e-6
"""Overlap of two parts, over the smaller one's radius, above which a warning is given."""


def warn_of_facets(name: str, shape: Shape) -> None:
    """Faces that look as if they had fallen into pieces by rounding."""
    parts = [p for p, _, _ in shape.parts] if isinstance(shape, Compound) else [shape]
    for place, part in enumerate(parts):
        doubt = getattr(part, "doubt", "")
        if doubt:
            where = f", part {place}" if part is not shape else ""
            warn(f"body {name!r}{where}: {doubt}", SceneWarning)
            break


def warn_of_overlap(name: str, shape: Compound, mass_given: bool) -> None:
    """Mass properties of a compound are sums over its parts, wrong where they overlap."""
    twice = [] if mass_given else ["mass"]
    twice += [] if "inertia_per_mass" in shape.given else ["inertia"]
    if not twice:
        return
    from .scene import Scene

    parts = Scene(dim=shape.dim)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SceneWarning)  # given with the body's name
        for part, at, turn in shape.parts:
            parts.add(part, position=at, orientation=turn)
    try:
        contacts = find_contacts(parts.bodies, parts.state, 0.0)
    except ContactError:  # of parts with one centre
        found = "two parts have the same centre"
    else:
        size = parts.bodies.bounding_radius[contacts.body].min(axis=1)
        deep = -contacts.gap / size
        if not deep.max(initial=0.0) > OVERLAP:
            return
        i, j = contacts.body[deep.argmax()]
        found = f"parts {i} and {j} overlap by {-contacts.gap[deep.argmax()]:.3g} m"
    remedy = {"mass": "the body's mass", "inertia": "the compound's inertia_per_mass"}
    warn(
        f"body {name!r}: {found}, which counts twice in {' and '.join(twice)}; give "
        f"{' and '.join(remedy[what] for what in twice)} if that matters",
        SceneWarning,
    )
