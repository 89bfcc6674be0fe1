"""Forces of few contacts from arrays to answer in compiled code, for ``Mender``.

The stages are those of ``adapters.engines.mend``, which decides wherever these do not: compiled
code returns an answer or the reason why it has none (``codes``).

``network``: Newton's method on contacts by contact-wise columns. ``weak``: motions that contacts
hardly resist. ``shares``: from an engine's rows and forces to new forces. ``mujoco_rows``,
``sizes``, ``mujoco_read``: from MuJoCo's arrays to these. ``made``, ``forces``: what is made of a
state when it is asked for.
"""
