"""What the data of a step leave open, taken out of its balance or said.

Motions that contacts hardly resist (singular values of B next to zero), last digits of places and
loads, and coordinates that were rounded when they were written down. ``screening.py``: motions of
one body that its contacts resist by next to nothing. ``one_body.py``, ``several_bodies.py``: the
balance without such motions. ``idle_contacts.py``: contacts that could bear by them alone.
``reduction.py``: step 2 on what is left. ``last_digits.py``: step 1 (``step_data.py``) to its last
digit, and what that leaves open (``closed_contacts.py``, ``response.py``); ``exact_parts.py``,
``dense_lcp.py``: where it is solved again. ``input_rounding.py``: what rounded coordinates leave
open.
"""
