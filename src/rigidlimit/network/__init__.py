"""The one numerical kernel: equilibrium of a network of no-tension elastic contacts.

Both steps of the method are such equilibria. Compatible forces (eq. 36) are those of a network
under the load F~; contact dynamics (eq. 22) is a sequence of networks with the inertia of the
bodies added (``dynamics/newton.py``).
"""

from .equilibrium import Equilibrium, equilibrium

__all__ = ["Equilibrium", "equilibrium"]
