"""Assemblies of blocks given as meshes, as masonry programs keep them."""
