"""Benchmarks against other solvers; ``python -m benchmarks.run_all`` runs them all."""
