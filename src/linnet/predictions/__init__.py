"""What training will do, without training: one function chooses the formula and estimates how far to trust it."""

from linnet.predictions.diagrams import PhaseDiagram, phase_diagram
from linnet.predictions.predicting import FORMULAS, predict
from linnet.predictions.prediction import Assumption, Difference, Formula, NoFormulaError, Prediction

__all__ = [
    "FORMULAS",
    "Assumption",
    "Difference",
    "Formula",
    "NoFormulaError",
    "PhaseDiagram",
    "Prediction",
    "phase_diagram",
    "predict",
]
