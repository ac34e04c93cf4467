from . import (
    aligned_flow as aligned_flow,
)
from . import (
    deep as deep,
)
from . import (
    denoising as denoising,
)
from . import (
    feature_learning as feature_learning,
)
from . import (
    label_noise as label_noise,
)
from . import (
    lazy_active as lazy_active,
)
from . import (
    noise_bulk as noise_bulk,
)
from . import (
    noise_process as noise_process,
)
from . import (
    one_output as one_output,
)
from . import (
    ridge as ridge,
)
from . import (
    spectral_bias as spectral_bias,
)
from . import (
    spectral_descent as spectral_descent,
)
from . import (
    spiked as spiked,
)

__all__ = [
    "aligned_flow",
    "deep",
    "denoising",
    "feature_learning",
    "label_noise",
    "lazy_active",
    "noise_bulk",
    "noise_process",
    "one_output",
    "ridge",
    "spectral_bias",
    "spectral_descent",
    "spiked",
]
