"""The kernel towards which feature learning moves."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from linnet import _arguments as arguments


@arguments.representable
def target_aligned_kernel(
    gram: Float[np.ndarray, "sample sample"], outputs: Float[np.ndarray, " sample"]
) -> Float[np.ndarray, "sample sample"]:
    r"""Return the kernel to which feature learning leads: the kernel of the inputs, strengthened along the feature.

    Compare it with the neural tangent kernel of trained weights, `observables.ntk`, to see whether features were
    learned.

    $$ X\Big(I + \frac1\gamma X^T y y^T X\Big)X^T, \qquad \gamma = |X^T y|^2 $$

    **Arguments:**

    - `gram`: Gram matrix $XX^T$, (sample, sample)
    - `outputs`: outputs $y$, (sample,)

    **Returns** the kernel, (sample, sample).

    **Example:**

        >>> import numpy as np
        >>> from linnet.theories.feature_learning import target_aligned_kernel
        >>> target_aligned_kernel(np.eye(2), np.array([1.0, 0.0])).tolist()
        [[2.0, 0.0], [0.0, 1.0]]
    """
    gram, y = arguments.symmetric("gram", gram), arguments.real_array("outputs", outputs, ndim=1)
    if y.size != gram.shape[0]:
        raise ValueError(f"`outputs` must have one value per row of `gram`, {gram.shape[0]}: got {y.size}.")
    size, unit = np.abs(gram).max(), np.abs(y).max()
    if size == 0 or unit == 0:
        raise ValueError("`gram` and `outputs` must not be zero: there is no feature to align with.")
    gram, y = gram / size, y / unit  # the kernel is of degree 1 in the first and 0 in the second: nothing overflows
    image = gram @ y
    gamma = float(y @ image)
    if not gamma > 0:
        raise ValueError("`outputs` must have a feature, y^T `gram` y > 0: it is not positive.")
    return size * (gram + np.outer(image, image) / gamma)
