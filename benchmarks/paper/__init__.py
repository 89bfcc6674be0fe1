"""Section 8 of the paper, run anew: ``python -m benchmarks.paper [--quick]`` writes one report."""
