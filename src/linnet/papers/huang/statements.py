"""What the paper says, statement by statement, and where each is checked."""

from __future__ import annotations

from linnet.reproduction import Statement

STATEMENTS = [
    Statement(
        where="Section 1, first phase",
        text="The network does not actively minimise the loss while it learns the direction of the feature.",
        checked=("two-stages", "fig1"),
    ),
    Statement(
        where="Section 1, second phase",
        text="The magnitude increases, and the network follows the fixed direction of the feature.",
        checked=("ntk-growth", "lemma5.3-weights", "fig1"),
    ),
    Statement(
        where="Section 1, kernel, first stage",
        text="The kernel maintains its norm while it evolves towards a kernel aligned with the target.",
        checked=("ntk-turning",),
    ),
    Statement(
        where="Section 1, kernel, second stage",
        text="The kernel's norm increases while the structure of the target-aligned kernel is maintained.",
        checked=("ntk-growth",),
    ),
    Statement(
        where="Section 1, beyond lazy training",
        text="The transformations of the kernel stand in contrast to lazy training.",
        checked=("dichotomy", "minimum-norm"),
    ),
    Statement(
        where="Section 1, separating time",
        text="The time that separates the phases is determined from a non-linear system.",
        checked=("t1", "eq9"),
    ),
    Statement(
        where="Section 3.2, data model",
        text="Inputs are sub-Gaussian with any covariance, outputs those of a linear teacher with noise.",
        checked=("theorem4.1", "lemma5.1"),
    ),
    Statement(where="Eq. (1)", text="y = <x, beta> + epsilon.", reason="definition of the data"),
    Statement(
        where="Section 3.3, start",
        text="w_r ~ N(0, sigma_0^2 I), v_r = +-v_0.",
        reason="definition of the start, which `inits.signed` draws",
    ),
    Statement(where="Eq. (2)", text="The gradient descent update of both layers.", checked=("eq7",)),
    Statement(where="Eq. (3)", text="df/dt = dL/df Theta.", checked=("eq3",)),
    Statement(
        where="Definition 3.1, Eq. (4)", text="The neural tangent kernel as a product of Jacobians.", checked=("eq7",)
    ),
    Statement(
        where="Assumption 4.1",
        text="Six conditions on width, scales, step, noise and covariance.",
        reason="an assumption has scope, it is not true or false; claims are judged inside it, and figure 1 says which "
        "conditions section 6 breaks",
    ),
    Statement(
        where="Remark (1)",
        text="The width condition makes properties of the start hold with probability 1 - O(n^-2).",
        checked=("lemmaA1", "lemmaA2"),
    ),
    Statement(
        where="Remarks (2), (3)",
        text="The conditions on sigma_0 and v_0 ensure two stages.",
        checked=("two-stages", "dichotomy"),
    ),
    Statement(
        where="Remark (4)",
        text="The learning rate is such that descent minimises the training loss.",
        checked=("theorem4.1",),
    ),
    Statement(
        where="Remark (5)",
        text="The condition on the noise makes it small compared to the feature part.",
        checked=("lemmaA4",),
    ),
    Statement(where="Remark (6)", text="XX' is close to a scaled identity.", checked=("lemma5.1", "output-aligns")),
    Statement(where="Eq. (5)", text="The updates with the derivatives of the output.", checked=("eq7",)),
    Statement(
        where="Section 4.1, initial stage",
        text="The third term of (5) is negligible: w_r is a combination of w_r(0) and X'y.",
        checked=("eq9", "eq13"),
    ),
    Statement(where="Eq. (6)", text="rho_r = <w_r(t) - w_r(0), X'y>.", reason="definition"),
    Statement(
        where="below Eq. (6), cases 1 and 2",
        text="Large rho and small v: feature learning; small rho and large v: lazy training.",
        checked=("dichotomy",),
    ),
    Statement(where="Eqs. (7), (8)", text="The feature learning equations of rho_r and v_r.", checked=("eq7",)),
    Statement(
        where="Table 1",
        text="Comparison with other works.",
        reason="about other papers; nothing in it can be measured here",
    ),
    Statement(
        where="Theorem 4.1, convergence",
        text="There is a time of the stated order with L <= 4 epsilon.",
        checked=("theorem4.1",),
    ),
    Statement(
        where="Theorem 4.1, probability",
        text="All of it holds with probability 1 - O(n^-2).",
        checked=("lemmaA3", "lemma5.2"),
    ),
    Statement(where="Theorem 4.1, t1", text="t1 = C1 m sqrt(n) log(1/v_0)/(eta sqrt(tr)|beta|).", checked=("t1",)),
    Statement(
        where="Theorem 4.1, end of stage 1",
        text="v_r(t1) = Theta(1/sqrt(tr n |beta|^2)) and rho_r(t1) = Theta(1) for all r.",
        checked=("lemma5.2",),
    ),
    Statement(
        where="Theorem 4.1, t2", text="The second stage takes log(n |beta| tr/epsilon) growth times.", checked=("t2",)
    ),
    Statement(
        where="below Theorem 4.1",
        text="A significant scale difference is maintained between rho_r and v_r.",
        checked=("lemma5.3-layers",),
    ),
    Statement(where="Eq. (9)", text="The linear system of stage 1.", checked=("eq9",)),
    Statement(
        where="below Eq. (9), signs",
        text="The signs are determined by <w_r(0), X'y> and v_r(0).",
        checked=("signs-determined",),
    ),
    Statement(where="below Eq. (9), consistency", text="The signs stay throughout training.", checked=("signs",)),
    Statement(
        where="below Eq. (9), sinh and cosh",
        text="rho_r behaves like sqrt(gamma) sinh, v_r like cosh.",
        checked=("eq9", "eq13"),
    ),
    Statement(
        where="below Eq. (9), difference",
        text="The difference between rho_r and sqrt(gamma) v_r diminishes.",
        checked=("difference",),
    ),
    Statement(
        where="Section 5.1, small sigma_0",
        text="A sufficiently small sigma_0 mitigates the perturbation by the start.",
        checked=("lemma5.2", "signs"),
    ),
    Statement(
        where="Lemma 5.1", text="|XX' - tr I| <= C sigma_x^2 (n|Sigma| + sqrt(n)|Sigma|_F).", checked=("lemma5.1",)
    ),
    Statement(
        where="below Lemma 5.1",
        text="X'X W v tends to align with X'y.",
        checked=("output-aligns",),
    ),
    Statement(where="Lemma 5.2 (i)", text="rho_r(t1) = Theta(1) for all r.", checked=("lemma5.2",)),
    Statement(where="Lemma 5.2 (ii)", text="v_r(t1) = Theta(1/sqrt(n |beta|^2 tr)) for all r.", checked=("lemma5.2",)),
    Statement(
        where="Lemma 5.2 (iii)",
        text="The kernel at t1 is within C/(m n^3 |beta|^6 tr) of the target-aligned one.",
        checked=("lemma5.2-kernel",),
    ),
    Statement(
        where="below Lemma 5.2",
        text="The kernel's structure diverges from the minimum norm solution.",
        checked=("minimum-norm",),
    ),
    Statement(
        where="Section 5.1, phase 2",
        text="|rho_r| increases until the loss is epsilon.",
        checked=("rising",),
    ),
    Statement(
        where="Section 5.1, phase 2",
        text="The ratio rho_r/v_r = Theta(sqrt(gamma)) is unchanged.",
        checked=("lemma5.3-layers", "ratio"),
    ),
    Statement(where="Section 5.1, phase 2", text="rho_r v_r is monotone.", checked=("products",)),
    Statement(
        where="above Eq. (10)",
        text="w_r = w_r(0) + (rho_r/gamma) X'y approximately.",
        checked=("lemma5.3-weights",),
    ),
    Statement(where="Eq. (10)", text="The two-dimensional system of stage 2.", checked=("eq10",)),
    Statement(where="Eq. (11)", text="The cubic equation of stage 2.", checked=("eq11",)),
    Statement(where="below Eq. (11)", text="rho_r^2 converges towards gamma^(5/2)/phi.", checked=("limit",)),
    Statement(
        where="below Eq. (11), proxy",
        text="The proxy escalates exponentially until it reaches its end.",
        checked=("proxy-step",),
    ),
    Statement(where="Lemma 5.3, t2", text="L <= 4 epsilon at t2.", checked=("t2", "theorem4.1")),
    Statement(
        where="Lemma 5.3, weights",
        text="w_r - w_r(0) is along the feature, up to a half.",
        checked=("lemma5.3-weights",),
    ),
    Statement(where="Lemma 5.3, layers", text="|rho_r - v_r sqrt(gamma)| <= rho_r/2.", checked=("lemma5.3-layers",)),
    Statement(where="Lemma 5.3, kernel", text="The kernel is within C v_r^2 tr/m.", checked=("lemma5.3-kernel",)),
    Statement(where="Section 6 (i), Figure 1a", text="The loss is flat, then drops.", checked=("ratio", "fig1")),
    Statement(
        where="Section 6 (ii), Figure 1b", text="rho/v rises in the first steps and stays.", checked=("ratio", "fig1")
    ),
    Statement(
        where="Section 6 (iii), Figure 1c",
        text="The kernel converges to the target-aligned kernel after t1.",
        checked=("ntk-converges", "fig1"),
    ),
    Statement(where="Figure 2, loss and ratio", text="The same stages on CIFAR-10.", checked=("images", "fig2")),
    Statement(
        where="Figure 2, kernel", text="The kernel converges to the target's.", checked=("images-kernel", "fig2")
    ),
    Statement(where="Figure 3, loss and ratio", text="The same stages of a ReLU network.", checked=("fig3", "relu")),
    Statement(
        where="Figure 3, kernel",
        text="The ReLU network's kernel converges to the target's.",
        checked=("relu", "relu-centred", "fig3"),
    ),
    Statement(
        where="Section 6, last sentence",
        text="The analysis may be extendable to non-linear networks.",
        reason="an outlook; what the ReLU network does is under Figure 3",
    ),
    Statement(where="Lemma A.1", text="Bounds on the overlaps of the start.", checked=("lemmaA1",)),
    Statement(where="Lemma A.2", text="Bounds on the norms of the start.", checked=("lemmaA2",)),
    Statement(where="Lemma A.3", text="n/2 <= alpha'X'X alpha/|alpha|^2 <= 2n.", checked=("lemmaA3",)),
    Statement(where="Lemma A.4", text="gamma is between 1/2 and 3/2 of tr n |beta|^2.", checked=("lemmaA4",)),
    Statement(where="Eq. (12)", text="Eq. (2) again.", checked=("eq7",)),
    Statement(where="Lemma B.1", text="t1 with the constant 1.", checked=("lemmaB1-time",)),
    Statement(where="Eq. (13)", text="Bounds on rho, v and w through stage 1.", checked=("eq13",)),
    Statement(where="Lemma B.2, first claim", text="The deviation through stage 2.", checked=("lemma5.3-weights",)),
    Statement(where="Lemma B.2, second claim", text="The layers through stage 2.", checked=("lemma5.3-layers",)),
    Statement(
        where="Lemma B.2, third and fourth claim",
        text="Each step multiplies the proxy by 1 + eta sqrt(gamma)/(4mn) at least, by 3/2 (1 + ...) at most.",
        checked=("proxy-step",),
    ),
    Statement(
        where="Lemma B.2, final loss",
        text="L(t2) <= 2|beta|^2 (eps_lambda/tr)^2 + eps_rho^2 |beta|^2 tr^2 + O(sigma_0^2 gamma^(1/2)) <= 4 epsilon.",
        checked=("theorem4.1",),
    ),
]
