"""Watanabe et al., section 3.2.2 and Appendix C: one hidden direction, two scalar equations, and what is conserved."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet.theories.aligned_flow import aligned_flow
from linnet_papers.reproduction import Above, AllOf, Below, Limit, Numbers, Trial, claim
from linnet_papers.reproduction.fits import exponent, highest, slopes
from linnet_papers.watanabe.settings import (
    AT_CORNERS,
    AT_PAIR,
    CORNERS,
    DIM,
    EVERYWHERE,
    LARGE,
    NETWORKS,
    PAIR,
    SAMPLES,
    SCALE,
    SEEDS,
    SLOPE,
    SMALL,
    WIDTH,
)
from linnet_papers.watanabe.training.figure_runs import hausdorff
from linnet_papers.watanabe.training.phases import (
    Networks,
    pair_moments,
    phase_grid,
    runs_by_scale,
    scale_exponents,
    train_batch,
    trained_networks,
)

EXACT = Limit(1e-9, "an exact identity, up to two integrators of tolerance 1e-12")


@claim(
    "appC",
    says="The vectors a, w1 and w2 stay aligned with r1 throughout training, up to O(s).",
    assumes=SMALL,
    tried=f"{EVERYWHERE}; the whole run",
    holds=Above(SLOPE, "least", what="least slope in s", form=".4f"),
    reads="deviation of a, w1, w2 from r1: slope {slope:.4f} in s; {last:.1e} at s = {scale:g}",
)
def one_direction(trial: Trial) -> Numbers:
    return scale_exponents(trial, lambda run: np.sqrt(2 * run.energy.max()))


@claim(
    "span",
    says="The vector a evolves within the span of w1 and w2, up to O(s^2).",
    assumes=SMALL,
    tried=f"{NETWORKS}; s from 1e-2 to 1e-6, da/dt at every saved state after t1",
    holds=Above(
        1.9,
        what="least slope in s of the part of da/dt across the span of w1 and w2",
        because="what leads out of it is the sum over i >= 3 of (12), O(s) times O(s): slope 2",
    ),
    reads="part of da/dt across the span, over the largest |da/dt|: {shares:.1e} for s = {scales:g}",
)
def span(trial: Trial) -> Numbers:
    runs = runs_by_scale(trial)
    shares = []
    for s, run in runs.items():
        late = run.times >= run.moments.early_time(s)
        speed = run.velocities[0][late]
        basis = np.linalg.qr(run.first[late][..., :2])[0]
        inside = np.einsum("tshk,tsgk,tsg->tsh", basis, basis, speed)
        shares.append(np.abs(speed - inside).max() / np.abs(speed).max())
    return {"value": slopes(list(runs), shares)[1], "shares": shares, "scales": list(runs)}


@claim(
    "rank-one",
    says="The first layer is a matrix of rank one, up to O(s).",
    assumes=SMALL,
    tried=f"{EVERYWHERE}; the whole run",
    holds=Above(SLOPE, "least", what="least slope in s", form=".4f"),
    reads="second singular value of W: slope {slope:.4f} in s; at the end it is {last:.1e} of the first at s = "
    "{scale:g}",
)
def rank_one(trial: Trial) -> Numbers:
    def singular_values(run: Networks) -> np.ndarray:
        return ln.observables.singular_values(run.first[::20])

    slopes_in_s = scale_exponents(trial, lambda run: singular_values(run)[..., 1].max())
    end = singular_values(trained_networks(trial, scale=slopes_in_s["scale"]))[-1]
    return {**slopes_in_s, "last": (end[:, 1] / end[:, 0]).max()}


def reduced_error(run: Networks, networks: int) -> float:
    """Return the largest distance of (18)-(19) from both components of the first `networks` of the batch, over the
    run."""
    return np.abs(run.components - run.predicted(run.theory.reduced))[:, :networks].max()


@claim(
    "eq18",
    says="Two scalar equations describe the whole training of the network, both phases, up to O(s).",
    assumes=SMALL,
    tried=f"{NETWORKS}; {AT_PAIR}, the corners ({AT_CORNERS}) and four pairs between them (two corners in quick mode)",
    holds=AllOf(
        Below(
            10.0,
            "errors",
            what="largest error over s",
            because="O(s) with a constant of a few: starts differ in how far a(0) is from w1(0)",
        ),
        Above(
            0.9,
            "slope",
            what="slope in s between 1e-4 and 1e-6",
            because="(18)-(19) neglect terms of O(s): the distance must fall in proportion to s",
        ),
    ),
    reads="error in both components over the whole run, {networks} networks at each of {runs} settings",
)
def reduced_dynamics(trial: Trial) -> Numbers:
    inner = [(5.0, 0.8), (1.0, 0.5), (100.0, 0.5), (2.0, 0.95)]
    pairs, networks = (CORNERS[:2], 2) if trial.quick else ([*CORNERS, *inner], SEEDS)
    used = np.array([1e-4, 1e-6])
    along = [reduced_error(trained_networks(trial, scale=s), networks) for s in used.tolist()]
    errors = [reduced_error(trained_networks(trial, pair), networks) / SCALE for pair in pairs] + list(along / used)
    return {"errors": errors, "slope": exponent(used, along)[0], "runs": len(errors), "networks": networks}


@claim(
    "fig1",
    says="In the phase plane the reduced dynamics follows a network trained on 10 000 samples closely.",
    assumes="n = 10 000 samples stand for the population",
    tried=f"d = {DIM}, m = {WIDTH}, s = {SCALE:g}, n = {SAMPLES}, {AT_PAIR}, gradient flow",
    holds=Below(
        0.02,
        "plane",
        what="distance in the plane",
        form=".4f",
        because="the width of the drawn line, 3.4 pt on an axis of about 200 pt for 1.2 units",
    ),
    reads="at equal times the trajectories are up to {in time.highest:.3f} apart, which the figure does not show; the "
    "aligned flow of the sample's own covariance is {own.highest:.1e} away from the network",
)
def sampled(trial: Trial) -> Numbers:
    run = trained_networks(trial, samples=SAMPLES)
    plane, in_time, own = [], [], []
    for i in range(2 if trial.quick else SEEDS):
        curve, u0 = run.components[:, i], run.u0[i]
        reduced = run.theory.reduced(u0, run.times)
        plane.append(hausdorff(curve, reduced))
        in_time.append(np.abs(curve - reduced).max())
        own.append(np.abs(curve - aligned_flow(run.problem, u0, run.times) @ run.moments.basis[:2].T).max())
    return {"plane": plane, "in time": in_time, "own": own}


def aligned_error(trial: Trial, excess: float) -> float:
    """Return the distance from (18)-(19) of networks with a, w1, w2 along one r and no other component, with
    |a| = `excess` |w|."""
    moments = pair_moments(*PAIR)
    random = generator(trial.seed)
    w = 0.01 * random.standard_normal((SEEDS, 2))
    r = random.standard_normal((SEEDS, WIDTH))
    r /= np.linalg.norm(r, axis=1, keepdims=True)
    w[:, 0] = np.abs(w[:, 0])  # r is then the direction of growth, not its negative
    size = excess * np.linalg.norm(w, axis=1)[:, None]
    weights = ln.Weights(r[:, :, None] * (w @ moments.basis[:2])[:, None, :], (size * r)[:, None, :])
    run = train_batch(PAIR, weights, phase_grid(moments, 0.01), rtol=1e-12)
    predicted = np.stack([run.theory.reduced(one, run.times) for one in w], axis=1)
    return float(np.abs(np.einsum("sh,tshk->tsk", r, run.first[..., :2]) - predicted).max())


@claim(
    "exact",
    says="From aligned starts without other components the relation a^2 = w1^2 + w2^2 holds and the two scalar "
    "equations are exact.",
    assumes="w_i(0) = 0 for i >= 3; a, w1 and w2 parallel",
    tried=f"d = {DIM}, m = {WIDTH}, {SEEDS} aligned starts of size 0.01, with and without the relation",
    holds=Below(EXACT, "printed", what="error from aligned starts with |a| ten times that size"),
    corrected=Below(EXACT, what="error", form=".1e"),
    correction="they are exact from aligned starts with |a|^2 = w1^2 + w2^2, a condition of its own: the flow keeps "
    "it, alignment does not give it",
    reads="aligned starts with |a|^2 = w1^2 + w2^2 are {value:.1e} from (18)-(19), aligned ones with |a| ten times "
    "that size {printed:.2f}",
)
def aligned_starts(trial: Trial) -> Numbers:
    return {"value": aligned_error(trial, 1.0), "printed": aligned_error(trial, 10.0)}


@claim(
    "conserved",
    says="a a^T - W W^T is conserved, so that |a|^2 equals w1^2 + w2^2 up to O(s^2).",
    assumes="gradient flow; small start for the second half",
    tried=f"{EVERYWHERE}; the first half at s = {LARGE:g}",
    holds=AllOf(
        Below(
            1e-6,
            what="drift of a a^T - W W^T over its size",
            form=".1e",
            because="conserved exactly; the integrator's tolerance is 1e-10 of each weight at each step",
        ),
        Above(1.9, "slope", what="least slope in s of |a|^2 - w1^2 - w2^2", because="O(s^2) is slope 2"),
    ),
    reads="at s = 0.3 a a^T alone moves by {moved:.1f} of the size of a a^T - W W^T",
)
def conserved(trial: Trial) -> Numbers:
    run = trained_networks(trial, scale=LARGE)
    imbalance, square = run.imbalance[::20], run.second[::20, ..., None] * run.second[::20, ..., None, :]
    drift, moved = (np.abs(one - one[0]).max() / np.abs(imbalance[0]).max() for one in (imbalance, square))

    def excess(one: Networks) -> float:
        return np.abs((one.second**2).sum(-1) - (one.first[..., :2] ** 2).sum((-1, -2))).max()

    return {"value": drift, "slope": scale_exponents(trial, excess)["least"], "moved": moved}


def weight_bound(imbalance: np.ndarray, product: np.ndarray) -> np.ndarray:
    r"""Return what $|a|^2$ cannot exceed where $|a^T W| \le$ `product` and $|aa^T - WW^T|_{op} \le$ `imbalance`.

    $|W^T a|^2 = |a|^4 - a^T(aa^T - WW^T)a \ge |a|^4 - D|a|^2$, so $|a|^2 \le (D + \sqrt{D^2 + 4|a^T W|^2})/2$.
    """
    return 0.5 * (imbalance + np.hypot(imbalance, 2 * product))


@claim(
    "bounded-weights",
    says="Since the loss is bounded, the weights remain in a bounded region.",
    assumes="none printed",
    tried=f"d = {DIM}, m = {WIDTH}, {SEEDS} seeds, s = {LARGE:g} and 1e-2",
    holds=Below(
        10.0,
        "printed",
        what="factor between weights of equal loss",
        because="no constant bounds the weights of one loss if one network has ten times those of another",
        otherwise="a bounded loss alone bounds no weight",
    ),
    corrected=Below(1 + 1e-9, what="|a|^2 over that", form=".4f", because="an inequality, up to rounding"),
    correction="with the conserved a a^T - W W^T, of norm D, |a|^2 is at most (D + sqrt(D^2 + 4|a^T W|^2))/2",
    reads="a K, W/K with K = {printed:g} is the same function to {same:.0e}",
)
def bounded_weights(trial: Trial) -> Numbers:
    run = trained_networks(trial, scale=LARGE)
    factor = 100.0  # a -> K a, W -> W/K: the same function and so the same loss, however large K
    end, rescaled = run.overlaps[-1], np.einsum("sh,shi->si", run.second[-1] * factor, run.first[-1] / factor)
    same = np.abs(rescaled - end).max()
    shares = []
    for one in (run, trained_networks(trial, scale=1e-2)):
        imbalance = np.abs(np.linalg.eigvalsh(one.imbalance[0])).max(-1)
        allowed = weight_bound(imbalance, np.linalg.norm(one.overlaps, axis=-1))
        shares.append(((one.second**2).sum(-1) / allowed).max())
    return {"value": highest(shares), "printed": factor if same < EXACT else 1.0, "same": same}
