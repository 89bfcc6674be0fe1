"""Other programs, each imported only when asked for."""
