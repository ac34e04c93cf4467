"""What everybody draws: modes and losses over time, phase diagrams. Trained is thick, predicted is dashed."""

from linnet.draw.over_time import animate, losses, modes, overview
from linnet.draw.planes import phase_diagram

__all__ = ["animate", "losses", "modes", "overview", "phase_diagram"]
