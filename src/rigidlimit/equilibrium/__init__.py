"""THE kernel: equilibrium of a network of contacts, with or without inertia.

Compatible forces (eq. 36) are those of a network under the load F~; contact dynamics with friction
is a sequence of networks with the inertia of the bodies (``multipliers.py``). A contact has a
displacement w and answers with a force f, blocks of d numbers: d = 1 for smooth contacts, 2 or 3
for rough ones in the plane and in space.

=============  ==============================  =====================================
               smooth, d = 1                   rough, d = 2 or 3
=============  ==============================  =====================================
law            ``smooth_law``                  ``law``
Newton         ``smooth_newton``,              ``rough_newton``,
               ``regularized_newton``          ``small_newton`` (compiled)
path           ``smooth_path``                 ``rough_path``, of least energy
                                               ``cone_path`` (all: ``interior``)
linear         ``linear.Network``              ``mechanics``, ``delassus``, ``dense``;
                                               ``blocks``, ``multifrontal``, ``krylov``
driver         ``compatibility.newton``        ``solve``
rigid          ``dynamics.newton``             ``multipliers``
=============  ==============================  =====================================

All answer with an ``Equilibrium`` (``result``). Why two columns: smooth contacts have an energy,
which gives a line search that cannot fail, and symmetric systems with one number a contact, for
which conjugate gradients need no assembled matrix; Coulomb's law has neither.
"""
