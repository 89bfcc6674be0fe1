"""Output of a run: HDF5, ParaView files, figures. Imported only when used."""
