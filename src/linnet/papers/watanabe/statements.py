"""What the paper says, statement by statement, and where it is checked."""

from __future__ import annotations

from linnet.reproduction import Statement

DEFINITION = "a definition"

STATEMENTS = [
    Statement(
        where="Abstract", text="Learning proceeds in two distinct phases.", checked=("fig1", "fig2", "one-phase")
    ),
    Statement(
        where="Section 1, contributions",
        text="Without anisotropy there is no later phase.",
        checked=("one-phase",),
    ),
    Statement(where="Eq. (1)", text="The covariance has one spike of size rho.", reason=DEFINITION),
    Statement(where="Eq. (2)", text="The output is linear in the input, without noise.", reason=DEFINITION),
    Statement(where="Section 2.1", text="A >= 0 without loss of generality.", reason="a convention of sign"),
    Statement(where="Eq. (3)", text="The input-output correlation is Sigma beta.", checked=("appA",)),
    Statement(where="Eq. (4)", text="The network is f(x) = a^T W x, with m >= d.", reason=DEFINITION),
    Statement(where="Eq. (5)", text="The loss is the mean square error.", reason=DEFINITION),
    Statement(
        where="Eqs. (6)-(7)",
        text="For an infinitesimal learning rate descent is the gradient flow, tau = 1/(2 eta).",
        checked=("eq6",),
    ),
    Statement(where="Eq. (8)", text="Only the empirical moments enter the flow.", checked=("eq6",)),
    Statement(
        where="Section 3.1",
        text="The trajectory goes along v1, turns sharply, then goes along v2 to the solution.",
        checked=("fig1", "onset"),
    ),
    Statement(
        where="Section 3.1",
        text="The loss rests, drops with the growth of the v1 component while that of v2 is negligible.",
        checked=("fig2", "eq17"),
    ),
    Statement(
        where="Section 3.1",
        text="Then it decreases smoothly, driven by the v2 component and adjustments of the v1 component.",
        checked=("fig2", "eq18"),
    ),
    Statement(where="Figure 1", text="Network and reduced dynamics match closely in the plane.", checked=("fig1",)),
    Statement(
        where="Section 3.2",
        text="For many samples the empirical moments may be replaced by their expectations.",
        checked=("fig1",),
    ),
    Statement(where="Section 3.2", text="The adapted basis v1, v2, ..., vd; nu is positive.", checked=("appA",)),
    Statement(where="Eq. (9)", text="The flow of w1.", checked=("eq9",)),
    Statement(where="Eq. (10)", text="The flow of w2.", checked=("eq9",)),
    Statement(where="Eq. (11)", text="The flow of w_i, i >= 3.", checked=("eq9", "eq11")),
    Statement(where="Eq. (12)", text="The flow of a.", checked=("eq9",)),
    Statement(where="Eq. (13)", text="A small start obeys linear equations up to O(s^3).", checked=("eq35",)),
    Statement(where="Eq. (14)", text="In the basis they couple w1 and a; the other w_i rest.", checked=("eq35",)),
    Statement(where="Eq. (15)", text="w1 and a grow exponentially along r1, up to O(s).", checked=("eq15",)),
    Statement(
        where="Section 3.2.1",
        text="w1 and a are symmetric while the other components are ignored, so a = w1 = u r1.",
        checked=("eq15", "conserved"),
    ),
    Statement(where="Eq. (16)", text="u follows a scalar equation up to O(s).", checked=("eq17",)),
    Statement(where="Eq. (17)", text="w1 is a sigmoid up to O(s).", checked=("eq17", "fig2")),
    Statement(
        where="below Eq. (17)",
        text="u goes from O(s) to its saturation value sqrt(|Sigma_xy|/lambda1).",
        checked=("eq17", "t1"),
    ),
    Statement(where="below Eq. (17)", text="The other components stay O(s) during it.", checked=("eq17",)),
    Statement(
        where="below Eq. (17)",
        text="The magnitude follows the law of isotropic data along v1.",
        checked=("eq37", "one-phase"),
    ),
    Statement(where="Section 3.2.1", text="The timescale of the early phase.", checked=("t1", "fig2")),
    Statement(
        where="Section 3.2.1",
        text="Learning is faster for a larger spike and a better alignment.",
        checked=("early-speed", "fig3"),
    ),
    Statement(
        where="Section 3.2.2",
        text="The projection of w_i, i >= 3, on a decays; the rest does not grow.",
        checked=("projection", "eq11"),
    ),
    Statement(where="Section 3.2.2", text="The w_i, i >= 3, stay O(s) throughout the training.", checked=("eq11",)),
    Statement(where="Section 3.2.2", text="a, w1 and w2 evolve along one direction.", checked=("appC",)),
    Statement(where="Section 3.2.2", text="The first layer is of rank one.", checked=("rank-one",)),
    Statement(where="Section 3.2.2", text="a a^T - W W^T is conserved.", checked=("conserved",)),
    Statement(where="Section 3.2.2", text="a^2 = w1^2 + w2^2 up to O(s^2).", checked=("conserved",)),
    Statement(where="Eq. (18)", text="The scalar equation of w1.", checked=("eq18",)),
    Statement(where="Eq. (19)", text="The scalar equation of w2.", checked=("eq18",)),
    Statement(
        where="below Eq. (19)",
        text="w2 grows only if rho > 0 and 0 < A < 1; otherwise it stays O(s) and the early phase is all.",
        checked=("one-phase",),
    ),
    Statement(
        where="below Eq. (19)",
        text="The equations are exact for aligned starts, for which a^2 = w1^2 + w2^2.",
        checked=("exact",),
    ),
    Statement(where="Eq. (20)", text="The bound on t2 - t1 under its assumption.", checked=("eq20", "fig3")),
    Statement(where="below Eq. (20)", text="The bound is tight if w1 changes little.", checked=("tight",)),
    Statement(
        where="below Eq. (20)", text="The speed of the later phase is governed by lambda2.", checked=("governed",)
    ),
    Statement(
        where="Section 3.2.2, Figure 2", text="w2 begins to grow after w1 has reached its peak.", checked=("onset",)
    ),
    Statement(
        where="Section 3.2.2, Figure 2", text="t2 coincides well with the saturation of w2.", checked=("mark", "fig2")
    ),
    Statement(
        where="Section 3.2.2, Figure 3",
        text="The acceleration of the early phase dominates; a substantial initial loss reduction.",
        checked=("early-share", "early-speed"),
    ),
    Statement(
        where="Section 3.2.2, Figure 3",
        text="A larger spike or alignment keeps the loss lower throughout.",
        checked=("order", "fig3"),
    ),
    Statement(
        where="Section 3.2.2, Figure 3",
        text="For small parameters the two phases are difficult to distinguish.",
        reason="a remark about what the eye sees; the curves are in Figure 3",
    ),
    Statement(
        where="Section 3.2.2", text="A larger spike primarily accelerates the early phase.", checked=("spike-speed",)
    ),
    Statement(
        where="Section 3.2.2",
        text="A stronger alignment slows the later phase by reducing lambda2.",
        checked=("later-speed",),
    ),
    Statement(where="Eq. (21)", text="Training ends close to the minimum-norm solution.", checked=("eq21", "fig5")),
    Statement(where="Eq. (22)", text="It is the limit of ridge regression.", checked=("eq22",)),
    Statement(where="Eq. (23)", text="The risk of ridge regression in the proportional limit.", checked=("eq23",)),
    Statement(where="Eq. (24)", text="The equation of kappa.", checked=("eq23", "eq26")),
    Statement(where="Eq. (25)", text="The single spike drops out of it as d grows.", checked=("eq26",)),
    Statement(where="Eq. (26)", text="The limits of kappa and its derivative.", checked=("eq26",)),
    Statement(where="Eq. (27)", text="The generalization error.", checked=("eq27", "fig5")),
    Statement(where="below Eq. (27)", text="rho = 0 recovers the isotropic result.", checked=("isotropic",)),
    Statement(where="below Eq. (27)", text="E[y^2] = sigma^2 (1 + rho A^2).", checked=("normalised-error",)),
    Statement(
        where="Section 4, Figure 4",
        text="The normalised error is least for a large spike and a strong alignment.",
        checked=("normalised-error", "fig4"),
    ),
    Statement(
        where="Section 4",
        text="A spike orthogonal to the target brings no benefit.",
        checked=("isotropic", "fig4"),
    ),
    Statement(where="Figure 5", text="Trained networks match the theory across parameters.", checked=("fig5", "eq27")),
    Statement(
        where="Section 5", text="The speed of the early phase is proportional to |Sigma_xy|.", checked=("t1", "eq15")
    ),
    Statement(
        where="Section 5",
        text="Growth along v2 has the rate lambda2 where the v1 component decreases.",
        checked=("governed",),
    ),
    Statement(where="Section 5", text="A larger, well aligned spike lowers the error.", checked=("plain-error",)),
    Statement(where="Eq. (28)", text="|Sigma_xy| in closed form.", checked=("appA",)),
    Statement(where="Eqs. (29)-(30)", text="The cosines of mu with v1 and v2.", checked=("appA",)),
    Statement(where="Eq. (31)", text="lambda1 in closed form.", checked=("appA",)),
    Statement(where="Eq. (32)", text="lambda2 in closed form.", checked=("appA",)),
    Statement(where="Eq. (33)", text="nu in closed form.", checked=("appA",)),
    Statement(where="Eqs. (34)-(35)", text="The solution of the linear equations.", checked=("eq35",)),
    Statement(where="Eqs. (36)-(38)", text="The Bernoulli equation of u and its solution.", checked=("eq37",)),
    Statement(where="Eq. (39)", text="A lower bound on dw2/dt under the assumption.", checked=("eq20",)),
    Statement(where="Eq. (40)", text="The integral of the bounded rate.", checked=("eq42",)),
    Statement(where="Eq. (41)", text="w1*^2 + w2*^2 = 1, w2* = nu w1*/lambda2, a* = 1.", checked=("eq41",)),
    Statement(where="Eq. (42)", text="The bound in closed form.", checked=("eq42", "eq20")),
    Statement(where="Eqs. (43)-(44)", text="The deviations of w1 and w2.", checked=("eq43",)),
    Statement(where="Eq. (45)", text="The deviation of a.", checked=("eq45",)),
    Statement(where="Eqs. (46)-(47)", text="The energy of the deviations and its rate.", checked=("eq47",)),
    Statement(where="Eqs. (48)-(49)", text="The energy grows at most at the rate C(t).", checked=("eq49",)),
    Statement(where="Eq. (50)", text="Gronwall's bound: E = O(s^2) for any finite time.", checked=("eq50",)),
    Statement(where="Eq. (51)", text="The loss does not increase, and at what rate it falls.", checked=("eq51",)),
    Statement(
        where="below Eq. (51)", text="A bounded loss bounds the weights, and so C(t).", checked=("bounded-weights",)
    ),
    Statement(where="Appendix C", text="The deviations stay O(s) throughout training.", checked=("appC",)),
]
