"""Detection and removal of equations of a step that its input precision cannot support.

Three causes: weakly constrained motions (singular values of B near zero), rounding of positions and
loads, and coordinates that were rounded when they were written to a file. ``screening.py``: weakly
constrained motions of one body. ``one_body.py``, ``several_bodies.py``: the balance without such
motions. ``idle_contacts.py``: contacts that could carry force along such motions only.
``reduction.py``: step 2 on the remaining equations. ``last_digits.py``: step 1 (``step_data.py``)
solved to rounding, and the remaining force error (``closed_contacts.py``);
``exact_parts.py``, ``dense_lcp.py``: the parts that are solved again. ``input_rounding.py``: effect
of rounded coordinates.
"""
