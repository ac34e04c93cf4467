from .balanced import balanced_modes as balanced_modes
from .balanced import balanced_products as balanced_products
from .balanced import balanced_times as balanced_times
from .diagram import deep_diagram as deep_diagram
from .limits import threshold as threshold
from .modes import gaussian_modes as gaussian_modes
from .modes import orthogonal_modes as orthogonal_modes
