"""Every statement of the paper that can be checked, and where it is."""

from __future__ import annotations

from linnet.reproduction.paper import Statement

DEFINITION = "a definition"
STATEMENTS = [
    Statement(where="Abstract (i)", text="small starts bias the hidden layer to low rank", checked=("rank-by-scale",)),
    Statement(where="Eqs. (2.1)-(2.2)", text="the loss", reason=DEFINITION),
    Statement(
        where="Section 2",
        text="the network is positively homogeneous of degree two",
        reason="evident: the product of both layers is bilinear",
    ),
    Statement(where="Section 2", text="interpolating predictors have dimension (d - n) k", checked=("interpolators",)),
    Statement(where="Section 2", text="interpolating layers have dimension l(d + k) - nk", checked=("interpolators",)),
    Statement(where="Eq. (2.3)", text="gradient flow", reason=DEFINITION),
    Statement(where="Eqs. (2.4)", text="the flow of both layers", checked=("lemma-3.1",)),
    Statement(where="Section 2, I_gamma", text="the orthogonal start", reason=DEFINITION),
    Statement(
        where="Section 2, I_gamma (a)",
        text="Gaussian vectors of large length are almost orthogonal",
        checked=("gaussian-orthogonal",),
    ),
    Statement(where="Section 2, I_gamma (b)", text="zero stands for a small second layer", checked=("second-layer",)),
    Statement(
        where="Section 2",
        text="balanced starts keep W1^T W1 = W2 W2^T, so that W1 has rank k at most",
        checked=("balanced-rank",),
    ),
    Statement(where="Theorem 3.1(i)", text="convergence to zero loss", checked=("theorem-3.1-limit",)),
    Statement(where="Theorem 3.1(ii)", text="the minimum-norm predictor", checked=("theorem-3.1-limit",)),
    Statement(
        where="Theorem 3.1(iii), eq. (3.1)", text="the variational problem", checked=("theorem-3.1-variational",)
    ),
    Statement(
        where="After Theorem 3.1", text="the limit of gamma to 0: least squared norms", checked=("nuclear-norm",)
    ),
    Statement(
        where="After Theorem 3.1", text="which is the least nuclear norm", checked=("nuclear-norm", "nuclear-minimum")
    ),
    Statement(where="After Theorem 3.1", text="gamma = 0 is a saddle point", checked=("zero-start",)),
    Statement(where="After Theorem 3.1", text="larger gamma prefers larger rank", checked=("rank-by-scale",)),
    Statement(
        where="After Theorem 3.1", text="with one output all neurons align with beta", checked=("one-output-aligns",)
    ),
    Statement(where="Corollary 3.1, i <= k", text="final singular values of W1", checked=("corollary-3.1", "fig1")),
    Statement(where="Corollary 3.1, i > k", text="the others are sqrt(2 gamma)", checked=("corollary-3.1", "fig1")),
    Statement(where="After Corollary 3.1", text="vanishing gamma: rank k", checked=("rank-by-scale",)),
    Statement(where="After Corollary 3.1", text="large gamma: isotropic", checked=("rank-by-scale",)),
    Statement(where="After Corollary 3.1", text="one output: one value grows", checked=("one-output-aligns", "fig1")),
    Statement(where="Theorem 3.2(a)", text="mirror flow of the singular values", checked=("theorem-3.2a",)),
    Statement(where="Theorem 3.2(b), eq. (3.3)", text="mirror flow of the predictor", checked=("theorem-3.2b",)),
    Statement(where="Section 3.2", text="the potential tends to ln(1/gamma) nuclear norms", checked=("theorem-3.2a",)),
    Statement(where="Section 3.2", text="singular vectors stay for whitened data", checked=("theorem-C.11",)),
    Statement(where="Section 3.2", text="the jump process and its times", checked=("jump",)),
    Statement(where="Section 3.2", text="modes are learned from the largest on", checked=("jump",)),
    Statement(where="Section 3.2", text="L = O(1/(gamma t)) whatever the data", checked=("gamma-rate",)),
    Statement(
        where="Section 3.2", text="smaller gamma is slower and of better bias", checked=("jump", "rank-by-scale")
    ),
    Statement(where="Lemma 3.1, eq. (3.4)", text="the network of width d", checked=("lemma-3.1", "lemma-3.2")),
    Statement(where="Lemma 3.2", text="the invariant 2 gamma I", checked=("lemma-3.2",)),
    Statement(where="Lemma 3.3", text="Riccati equation and predictor of alpha", checked=("lemma-3.3",)),
    Statement(where="Section 3.3", text="alpha stays in the span of the data", checked=("lemma-3.3",)),
    Statement(where="Eq. (4.1)", text="the noise process", checked=("noise-equation",)),
    Statement(where="Proposition 4.1(a)", text="mean squares explode", checked=("proposition-4.1a",)),
    Statement(where="Proposition 4.1(b), first half", text="powers of |W| diverge", checked=("proposition-4.1b",)),
    Statement(where="Proposition 4.1(b), second half", text="powers of |a| diverge", checked=("proposition-4.1b",)),
    Statement(where="Proposition 4.1(c)", text="the mean commutator vanishes", checked=("proposition-4.1c", "fig3")),
    Statement(
        where="After Proposition 4.1",
        text="for d = 1 the process collapses to zero",
        checked=("noise",),
    ),
    Statement(where="After Proposition 4.1", text="weights grow from d = 2 on", checked=("two-inputs-grow",)),
    Statement(where="After Proposition 4.1", text="all rows align with a", checked=("rows-align",)),
    Statement(where="After Proposition 4.1", text="the top singular value grows", checked=("top-value-grows", "fig3")),
    Statement(where="After Proposition 4.1", text="the others decay", checked=("lower-values-decay", "growth", "fig3")),
    Statement(where="After Proposition 4.1", text="noise of SGD induces low rank", checked=("minibatch",)),
    Statement(where="Section 4.1", text="the equation with drift", checked=("noise-equation",)),
    Statement(where="Section 4.1", text="the drift keeps the weights bounded", checked=("label-noise-decays", "fig1")),
    Statement(where="Figure 1a", text="two orthogonal scales", checked=("fig1", "rank-by-scale")),
    Statement(where="Figure 1a", text="a Gaussian start of variance 0.01", checked=("gaussian-variance", "fig1")),
    Statement(where="Figure 1b", text="label noise decays what descent keeps", checked=("label-noise-decays", "fig1")),
    Statement(where="Figure 2", text="a small start ends with rank 2", checked=("relu-rank-two", "fig2")),
    Statement(where="Figure 2", text="a large start ends with high rank", checked=("relu-low-rank", "fig2")),
    Statement(where="Figure 2", text="only the small start finds the teacher's neurons", checked=("relu-directions",)),
    Statement(where="Appendix A", text="step sizes, three runs, W(0) = I, a(0) = 0", checked=("fig3",)),
    Statement(where="Figure 3a", text="sigma_0 increases, sigma_1 decays", checked=("fig3", "top-value-grows")),
    Statement(where="Figure 3b", text="the commutator falls", checked=("fig3", "proposition-4.1c")),
    Statement(where="Eqs. (C.2)-(C.7)", text="projection and lift", checked=("lemma-3.1", "lemma-3.2")),
    Statement(where="Lemma C.1, eq. (C.8)", text="the invariant", checked=("lemma-3.2",)),
    Statement(where="Lemma C.2, eqs. (C.9)-(C.12)", text="Z1 Z1^T from alpha", checked=("lemma-3.3",)),
    Statement(where="Lemma C.3", text="alpha in the span of the samples", checked=("lemma-3.3",)),
    Statement(where="Lemma C.4", text="the minimum of (3.1)", checked=("theorem-3.1-variational",)),
    Statement(where="Lemma C.4", text="no potential for other imbalances", checked=("lemma-C.4-potential",)),
    Statement(where="Proposition C.5", text="(P1) and (P2)", checked=("theorem-3.1-variational",)),
    Statement(where="Lemma C.6, eq. (C.13)", text="decay of |R|^2", checked=("lemma-C.6-rate",)),
    Statement(where="Lemma C.7, eqs. (C.14)-(C.15)", text="the mirror flow for k = 1", checked=("theorem-3.2b",)),
    Statement(where="Lemma C.7", text="not a Hessian without the factor", checked=("lemma-C.7-hessian",)),
    Statement(where="Lemma C.8", text="the bound on the loss", checked=("lemma-C.8",)),
    Statement(where="Definition C.9", text="notation of singular values", reason=DEFINITION),
    Statement(where="Lemma C.10, eq. (C.16)", text="singular values of both layers", checked=("corollary-3.1",)),
    Statement(where="Theorem C.11, first part", text="shared singular vectors", checked=("theorem-C.11",)),
    Statement(where="Theorem C.11, second part", text="static vectors, on both sides", checked=("theorem-C.11",)),
    Statement(
        where="Eqs. (C.17)-(C.19)", text="symmetry of alpha^T R and alpha R^T", checked=("theorem-C.11-identities",)
    ),
    Statement(where="Eqs. (C.20)-(C.21)", text="the velocity of beta", checked=("theorem-C.11-identities",)),
    Statement(where="Eqs. (C.22)-(C.27)", text="symmetry of Z1^T R Z2^T", checked=("theorem-C.11-identities",)),
    Statement(where="Eqs. (C.28)-(C.30)", text="the same with beta_*", checked=("theorem-C.11-identities",)),
    Statement(where="Theorem C.12", text="evolution of the singular values", checked=("theorem-C.12",)),
    Statement(where="Theorem C.12", text="limit of vanishing starts", checked=("jump",)),
    Statement(
        where="Eqs. (C.31)-(C.34)", text="the scalar Riccati equation and its solution", checked=("theorem-C.12",)
    ),
    Statement(where="Lemma C.13, eqs. (C.35)-(C.40)", text="the mirror flow", checked=("theorem-3.2a",)),
    Statement(where="Appendix C.1, Figure 4", text="a second layer that is not zero", checked=("second-layer", "fig4")),
    Statement(where="Appendix C.1", text="discrete steps change W1 by rank one", checked=("discrete-step",)),
    Statement(where="Appendix C.1", text="R and a keep their directions", checked=("discrete-step",)),
    Statement(
        where="Appendix C.1",
        text="discrete steps on data with restricted isometry",
        reason="said to be a belief of the authors, without a statement to measure",
    ),
    Statement(where="Figure 5a", text="saddle to saddle", checked=("saddle-to-saddle", "fig5")),
    Statement(where="Figure 5b", text="rank one in phase 1", checked=("phase-one", "fig5")),
    Statement(where="Appendix D", text="label noise and its equation", checked=("noise-equation",)),
    Statement(where="Appendix D", text="any diagonal D", checked=("any-diagonal",)),
    Statement(where="Eq. (D.2)", text="the equations of |w_i|^2 and a_i^2", checked=("proposition-4.1a", "growth")),
    Statement(where="Appendix D, Variance", text="rates of the mean squares", checked=("proposition-4.1a",)),
    Statement(where="Eq. (D.3)", text="the constant c_0 of the powers", checked=("proposition-4.1b",)),
    Statement(where="Appendix D, Alignment", text="the signed mean falls as e^-t", checked=("signed-commutator",)),
    Statement(where="Appendix D, Alignment", text="and so does the mean size", checked=("proposition-4.1c-rate",)),
]
