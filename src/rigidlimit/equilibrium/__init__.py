"""The kernel for rough contacts: equilibrium of a network with Coulomb's law a contact."""
