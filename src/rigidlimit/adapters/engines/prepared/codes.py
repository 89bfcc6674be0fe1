"""Why compiled code left a problem to the general path, as numbers that compiled code returns."""

SOLVED = 0
NO_NUMBER = 1  # a number is not finite: the general path raises the error
WRONG_STATE = 2  # rows, forces and positions do not fit each other: likewise
PULLS = 3  # an engine's normal force pulls: likewise
NOTHING_BEARS = 4  # no contact can bear, or no load is left
NOT_TOUCHED = 5  # a load on what no contact moves
NO_EQUILIBRIUM = 6  # Newton's method did not converge
LIGHT = 7  # bodies far lighter than others have to be balanced by themselves
SEVERAL = 8  # forces may depend on motions of several bodies that contacts hardly feel
UNKNOWN_PAIR = 9  # a pair of parts whose stiffness or friction by name is not known yet
OTHER = 10  # contacts of a kind that compiled code does not read
UNSTABLE = 11  # contacts slide, and the equilibrium is not known to be stable
FAR = 12  # bodies are farther from where contacts were found than speeds tell: one step, or wrong
