"""Imported once by the process that commands are forked from: what most of them need is loaded
from numba's cache there, not in each of them."""

import rigidlimit as rl

for name in ("beam", "pile-2d", "pyramid"):
    rl.Simulation(name).step(compatible=True)
