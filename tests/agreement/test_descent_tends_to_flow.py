import numpy as np

import linnet as ln
from reference import random_layers, random_moments


def test_descent_converges_to_the_flow_at_order_one():
    X, Y = random_moments(0, 6, 3, 12)
    problem, weights = ln.Problem.from_data(X, Y), ln.Weights(*random_layers(0, 6, 3, 40))
    end = ln.gradient_flow(problem, weights, times=[2.0]).products[-1]
    steps = np.array([100, 200, 400, 800, 1600])
    errors = []
    for number in steps:
        run = ln.gradient_descent(
            problem, weights, learning_rate=2.0 / number, steps=int(number), save_every=ln.trajectories.last()
        )
        errors.append(np.linalg.norm(run.products[-1] - end))
    order = np.polyfit(np.log(2.0 / steps), np.log(errors), 1)[0]
    assert abs(order - 1) < 0.03
