r"""The paper's exact solutions. In linnet's clock a pair of layers with mode strengths a, b obeys

$$ \dot a = b\,(s - ab), \qquad \dot b = a\,(s - ab), $$

so that $a^2 - b^2$ is conserved and $u = ab$ is the mode of the product. Nothing here trains.
"""

import numpy as np


def balanced(strength: float, start: float, times: np.ndarray) -> np.ndarray:
    r"""$u(t) = s\,/\,(1 + (s/u_0 - 1) e^{-2st})$ from equal layers, $a = b = \sqrt{u_0}$."""
    return strength / (1 + (strength / start - 1) * np.exp(-2 * strength * np.asarray(times)))


def half_time(strength: float, start: float) -> float:
    r"""When half of the mode is learned: $\ln(s/u_0 - 1)/(2s)$."""
    return float(np.log(strength / start - 1) / (2 * strength))


def learning_time(strength: float, start: float, end: float) -> float:
    r"""How long the mode takes from $u_0$ to $u_f$: $\frac{1}{2s}\ln\frac{u_f(s - u_0)}{u_0(s - u_f)}$."""
    return float(np.log(end * (strength - start) / (start * (strength - end))) / (2 * strength))


def rise_time(strength: float, low: float = 0.1, high: float = 0.9) -> float:
    """How long the sigmoid takes from one share of its limit to another; the start does not matter."""
    return float(np.log(high * (1 - low) / (low * (1 - high))) / (2 * strength))


def unequal(strength: float, first: float, second: float, times: np.ndarray) -> np.ndarray:
    r"""$u(t)$ from layers $a_0 \ne b_0$: on the hyperbola $a^2 - b^2 = c$, with $u = \frac{c}{2}\sinh\theta$.

    $\dot\theta = 2s - c\sinh\theta$ is a Riccati equation in $e^\theta$ with the fixed points
    $(2s \pm \sqrt{4s^2 + c^2})/c$.
    """
    c = first**2 - second**2
    sign, c = np.sign(c), abs(c)
    root = np.hypot(2 * strength, c)
    up, down = (2 * strength + root) / c, -c / (2 * strength + root)
    begin = np.exp(np.arcsinh(2 * first * second / c))
    decay = (begin - up) / (begin - down) * np.exp(-root * np.asarray(times))
    grown = (up - down * decay) / (1 - decay)
    return abs(sign) * c * (grown - 1 / grown) / 4
