"""What a run leaves behind: HDF5, ParaView files, pictures. Imported only when asked for."""
