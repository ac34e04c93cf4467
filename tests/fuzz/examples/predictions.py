"""Predictions, diagrams and pictures."""

from __future__ import annotations

import linnet as ln
from fuzz.examples import example, instance
from fuzz.examples import materials as m

P = "predictions."
example(P + "predict", problem=m.target_problem, weights=m.weights, times=m.TIMES, weight_decay=0.0, rtol=0.01)
example(P + "predict", problem=m.data_problem, weights=m.weights, times=m.TIMES, weight_decay=0.25)
example(P + "phase_diagram", problem=m.target_problem, variances=[1e-4], widths=[5000], networks=2, key=0, slow=True)
PREDICTION = m.made(lambda: ln.predict(m.target_problem(), m.weights(), m.TIMES))
DIAGRAM = m.made(lambda: ln.phase_diagram(m.target_problem(), [1e-4, 1e-3], [5000]))
RUN = m.made(lambda: ln.gradient_flow(m.target_problem(), m.weights(), times=m.TIMES))
instance(P + "Prediction", PREDICTION, received=True)
instance(P + "PhaseDiagram", DIAGRAM, received=True)
instance(P + "Formula", m.made(lambda: ln.predictions.FORMULAS[0]), received=True)
instance(P + "Assumption", m.made(lambda: PREDICTION().assumptions[0]), received=True)
instance(P + "Difference", m.made(lambda: PREDICTION().difference(RUN())), received=True)
example(P + "Prediction.difference", on=PREDICTION, run=RUN)

for name in ("losses", "modes"):
    example(f"draw.{name}", run=RUN, prediction=PREDICTION, slow=True)
example("draw.overview", run=RUN, prediction=PREDICTION, slow=True)
example("draw.animate", run=PREDICTION, interval=20.0, slow=True)
example("draw.phase_diagram", diagram=DIAGRAM, trained=DIAGRAM, slow=True)

example(
    "theories.deep.balanced_products",
    problem=m.data_problem,
    initial_product=m.START,
    depth=3,
    times=m.TIMES,
    weight_decay=0.25,
    rtol=1e-8,
)
example(
    "theories.spectral_descent.unequal_levels",
    first=m.VALUES,
    second=m.VALUES,
    rates=(1.0, 0.5),
    times=m.TIMES,
    initial=[0.5, 0.25, 0.125],
)
example(P + "PhaseDiagram.plot", on=DIAGRAM, ax=None, slow=True)
example("citation")
