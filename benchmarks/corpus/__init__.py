"""Hard cases of both steps of the method, each with a name: what every route of the solvers is for.

python -m benchmarks.corpus [--quick] [--only TEXT] [--out FILE] [--compare BEFORE]
"""
