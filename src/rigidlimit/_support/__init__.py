"""Files, threads, memory, words: what a reader of the physics needs nothing of."""
