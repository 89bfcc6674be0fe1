"""Names of ``rigidlimit.output.plots``, which are imported when first used, for type checkers."""

from .charts import force_density as force_density
from .charts import force_histogram as force_histogram
from .determinacy import determinacy_map as determinacy_map
from .floor import floor_forces as floor_forces
from .loading_paths import stress_strain as stress_strain
from .masonry import collapse_mechanism as collapse_mechanism
from .masonry import thrust_line as thrust_line
from .network import comparison as comparison
from .network import force_network as force_network
from .network import scene_figure as scene_figure
from .packings import force_chains as force_chains
from .packings import force_distribution as force_distribution
from .packings import rose as rose
from .packings import stress_field as stress_field
from .spatial import Fallback as Fallback
from .style import save_figure as save_figure
