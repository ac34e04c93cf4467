"""What the paper says, statement by statement, and where each is checked."""

from __future__ import annotations

from linnet.reproduction import Statement

STATEMENTS = [
    # Introduction and setup
    Statement(
        where="Eq. (1)",
        text="Descent of a wide network follows the self-consistent dynamics.",
        checked=("eq1", "fig1", "fig2"),
    ),
    Statement(
        where="section 1.1",
        text="Lazy dynamics where sigma^2 w is far above the product.",
        checked=("lazy", "prop-d1-distance"),
    ),
    Statement(
        where="section 1.1",
        text="Balanced dynamics where sigma^2 w is far below the product.",
        checked=("isotropic", "mode-speed"),
    ),
    Statement(where="section 1.1", text="The mixed dynamics never gets stuck at a saddle.", checked=("stuck-modes",)),
    Statement(
        where="section 1.1",
        text="Large singular values move faster: incremental learning, a low-rank bias.",
        checked=("mode-speed", "ranks"),
    ),
    Statement(
        where="section 1.1",
        text="Lazy region: all singular values stay below the threshold, A* is not found.",
        checked=("thm2-lazy",),
    ),
    Statement(
        where="section 1.1",
        text="Active region: K singular values pass the threshold before the noise is fit.",
        checked=("alignment-kept", "tradeoff"),
    ),
    Statement(where="section 1.1", text="Infinite noise for 2 gamma_sigma2 + gamma_w + 1 > 0.", checked=("start",)),
    Statement(
        where="Figure 1, left",
        text="Train and test errors of descent are very close to those of eq. (1).",
        checked=("fig1",),
    ),
    Statement(
        where="Figure 1, right",
        text="The five leading singular values speed up as they cross sigma^2 w.",
        checked=("fig1", "mode-speed"),
    ),
    Statement(
        where="Figure 1, right",
        text="The least test error is where the large values have converged, not the rest.",
        checked=("fig1",),
    ),
    Statement(
        where="section 1.3",
        text="A network of width w represents the matrices of rank w or less.",
        reason="a definition",
    ),
    # Lazy and balanced dynamics
    Statement(where="section 1.4", text="The updates of W1 and W2 under descent.", reason="the definition of descent"),
    Statement(where="Eq. (2)", text="A moves by -eta C2 grad C - eta grad C C1 + O(eta^2).", checked=("eq2",)),
    Statement(where="section 1.4", text="C1 and C2 stay at their start while A moves.", checked=("lazy-grams",)),
    Statement(
        where="footnote 1", text="What changes C1, C2 is nearly orthogonal to what changes A.", checked=("lazy-grams",)
    ),
    Statement(where="section 1.4", text="C1 and C2 concentrate around sigma^2 w I.", checked=("lemma-b3", "thm1")),
    Statement(
        where="section 1.4", text="A(t) = (A* + E) + (1 - 4 eta sigma^2 w/d^2)^t (A(0) - (A* + E)).", checked=("lazy",)
    ),
    Statement(where="section 1.4", text="The mean test error is above |q^t A* + (1 - q^t) E|^2.", checked=("lazy",)),
    Statement(
        where="section 1.5", text="Balanced networks stay balanced; the imbalance is invariant.", checked=("lemma-b2",)
    ),
    Statement(
        where="section 1.5", text="Descent keeps the imbalance approximately for small steps.", checked=("lemma-f1",)
    ),
    Statement(
        where="section 1.5",
        text="Balanced layers share singular vectors: C1 = sqrt(A'A), C2 = sqrt(AA').",
        checked=("isotropic",),
    ),
    Statement(
        where="section 1.5",
        text="From A(0) = 0 balanced descent stays there.",
        reason="immediate: both gradients vanish",
    ),
    Statement(where="section 1.5", text="Aligned starts stay aligned, and modes decouple.", checked=("balanced-step",)),
    Statement(
        where="section 1.5", text="Aligned balanced modes move by 2 eta |s| (s* - s).", checked=("balanced-step",)
    ),
    Statement(
        where="section 1.5",
        text="Modes of a negative start get stuck at 0: half of random ones.",
        checked=("stuck-modes",),
    ),
    Statement(
        where="remark of 1.5", text="Theta(G) = C2 G + G C1 is the tangent kernel of the network.", checked=("eq2",)
    ),
    Statement(
        where="remark of 1.5",
        text="In the lazy regime Theta is 2 sigma^2 w, in the balanced one it follows A.",
        checked=("mode-speed", "lazy-grams"),
    ),
    # Mixed dynamics
    Statement(
        where="Theorem 1",
        text="|C - Chat| is at most min(O(sigma^2 w), O(sqrt(d/w)) |C1|) at all times.",
        checked=("thm1", "thm1-scales"),
    ),
    Statement(where="Theorem 1, sketch", text="The imbalance is near sigma^2 w (P1 - P2).", checked=("lemma-b3",)),
    Statement(
        where="Theorem 1, sketch", text="C1, C2 nearly solve two cubic equations, Chat exactly.", checked=("cubic",)
    ),
    Statement(where="takeaway 1", text="Lazy: |C - Chat| is sqrt(d/w) of |C1|.", checked=("thm1-scales", "thm1")),
    Statement(where="takeaway 2", text="Active: |C - Chat| is far below |C1|.", checked=("thm1-scales", "thm1")),
    Statement(
        where="section 2",
        text="At the start singular values are of size sigma^2 sqrt(wd): all lazy.",
        checked=("start-values",),
    ),
    Statement(
        where="section 2",
        text="Active values converge while lazy ones remain almost constant.",
        checked=("alignment-kept",),
    ),
    Statement(
        where="section 2",
        text="ds/dt = 2 sqrt(s^2 + sigma^4 w^2) times the gradient along the mode.",
        checked=("mode-speed",),
    ),
    Statement(
        where="section 2", text="A value is near the transition only for a very short time.", checked=("transition",)
    ),
    Statement(
        where="section 2",
        text="All singular values are lazy for at least a short time if w > d.",
        checked=("start-values", "stage-lazy"),
    ),
    Statement(
        where="remark before 2.1",
        text="Hidden vectors of a mode have the cosine s/sqrt(s^2 + sigma^4 w^2).",
        checked=("mode-alignment",),
    ),
    Statement(
        where="Figure 2, top left",
        text="The active region has a small test error, the lazy one does not.",
        checked=("fig2", "thm2-lazy", "published-cells"),
    ),
    Statement(
        where="Figure 2, top right",
        text="The active region has about the right rank, the lazy one too much.",
        checked=("fig2", "ranks"),
    ),
    Statement(
        where="Figure 2, bottom left",
        text="Iterations to the least test error grow into the active region.",
        checked=("fig2", "tradeoff"),
    ),
    Statement(
        where="Figure 2, bottom right",
        text="The distance to eq. (1) is small inside and almost everywhere else.",
        checked=("fig2", "outside"),
    ),
    # Phase diagram
    Statement(where="section 2.1", text="Entries of A(0) have variance sigma^4 w.", checked=("start",)),
    Statement(
        where="section 2.1",
        text="|E| is at most c0 sqrt(d) for Gaussian noise.",
        reason="a known bound, used to set the problem; the figures draw such noise",
    ),
    Statement(where="Theorem 2, lazy", text="The test error never falls below a constant.", checked=("thm2-lazy",)),
    Statement(
        where="Theorem 2, active", text="At T* the test error is O(terms that vanish).", checked=("thm2-active",)
    ),
    Statement(
        where="Theorem 2",
        text="T* with its three terms and c(a).",
        checked=("thm2-time", "alignment-stage", "final-alignment"),
    ),
    Statement(where="Theorem 2", text="The term eta^2 log^2 d/d^2 of a discrete step.", checked=("lemma-f1",)),
    Statement(
        where="section 2.1",
        text="The lazy region needs gamma_w > 2.",
        reason="follows from its two inequalities; `fig2` draws the corner",
    ),
    Statement(where="section 2.1", text="Small widths generalize well down to w near the rank.", checked=("narrow",)),
    Statement(where="section 2.1", text="Eq. (1) stays a good approximation for w < d.", checked=("outside",)),
    Statement(where="section 2.1", text="Test error against training time: a trade-off.", checked=("tradeoff",)),
    Statement(
        where="last remark of 2.1",
        text="For a target B the transition is at sigma^2 w ~ |B|; full rank: 1/2.",
        checked=("border",),
    ),
    # Appendix A
    Statement(where="Lemma A.1", text="Trace identity and bounds of element-wise products.", checked=("tools",)),
    Statement(where="Lemma A.2", text="sigma_min |B| <= |AB| <= sigma_max |B|.", checked=("tools",)),
    Statement(where="Theorem A.3", text="The sin-theta theorem.", checked=("tools",)),
    Statement(where="Lemma A.4", text="x is bounded by the distance from a diagonal matrix.", checked=("lemma-a4",)),
    Statement(where="Lemma A.5", text="|Sigma - U' Sigma V| is bounded by x.", checked=("lemma-a4",)),
    # Appendix B
    Statement(where="Proposition B.1, (3)", text="|C1 - Chat1| is at most (1 + eps) sigma^2 w.", checked=("prop-b1",)),
    Statement(where="Lemma B.2, (4)", text="The imbalance is conserved for every cost.", checked=("lemma-b2",)),
    Statement(where="Lemma B.3, (5)", text="W1 W1' is near sigma^2 w P1.", checked=("lemma-b3",)),
    Statement(where="Lemma B.3, (6)", text="W2' W2 is near sigma^2 w P2, orthogonal to P1.", checked=("lemma-b3",)),
    Statement(
        where="(7)-(13)",
        text="Marchenko-Pastur law and rigidity of the eigenvalues.",
        reason="quoted from the literature; its consequence (12), (13) is checked by lemma-b3",
    ),
    Statement(where="(14)-(20)", text="P1 v_k is small for every row of W2.", checked=("lemma-b3",)),
    Statement(where="(21)-(26)", text="Operator monotonicity gives the weak bound.", checked=("prop-b1",)),
    Statement(where="Proposition B.4, (30)", text="The strong bound.", checked=("thm1", "thm1-scales")),
    Statement(where="(31)-(34)", text="The cubic equations for C - Chat.", checked=("cubic",)),
    Statement(
        where="B.2, step 3", text="The Jacobian is positive definite, at least sigma^2 w.", checked=("jacobian",)
    ),
    Statement(where="end of B.2", text="Imbalance 2 sigma^2 w I gives eq. (1) exactly.", checked=("isotropic",)),
    # Appendix C
    Statement(where="Theorem C.2", text="P1 and P2 are kept for O(d log d).", checked=("alignment-kept",)),
    Statement(where="Lemma C.3", text="The induction over P1 and P2.", reason="pure logic: nothing to measure"),
    Statement(
        where="Lemma C.4",
        text="P1 is kept in the wider sense for a short time tau.",
        reason="an existence statement without constants; its use is checked by alignment-kept",
    ),
    Statement(where="Lemma C.5, (35)-(39)", text="The rate of tr(U_kk' U_kk).", checked=("lemma-c5",)),
    Statement(where="Lemma C.6, (40)", text="x decays at the rate of the slowest pair.", checked=("lemma-c6",)),
    Statement(where="Lemma C.7", text="P1 is kept while P2 is: s_(K+1) stays behind.", checked=("alignment-kept",)),
    Statement(where="Lemma C.8", text="x is at most d^-min(1/2, delta/2) at t1.", checked=("alignment-early",)),
    Statement(where="Lemma C.9", text="P1 and P2 hold at t2 = cd.", checked=("alignment-early", "stage-lazy")),
    # Appendix D
    Statement(where="Proposition D.1", text="Lazy: the error stays above a third.", checked=("thm2-lazy",)),
    Statement(
        where="proof of D.1", text="|A - B|_F is at most d O(d/(sigma^2 w) sqrt(d/w)).", checked=("prop-d1-distance",)
    ),
    # Appendix E
    Statement(
        where="Lemmas E.1, E.2", text="P1 and P2 are kept for networks, up to d^-lambda.", checked=("alignment-kept",)
    ),
    Statement(where="Theorem E.3", text="A network stays in P1 and P2(C, gamma').", checked=("alignment-kept",)),
    Statement(
        where="Lemma E.4",
        text="At T1' the network is aligned to d^-min((gamma_w - 1)/8, 1/4).",
        checked=("alignment-early",),
    ),
    Statement(
        where="E.3, initialization", text="Entries of A(0): mean 0, variance sigma^2 sqrt(w).", checked=("start",)
    ),
    Statement(where="E.3, to T1", text="Nearly linear growth, T1 = O(d).", checked=("stage-lazy",)),
    Statement(where="E.3, T1 to T2", text="x(T2) is at most d^-(gamma_w - 1)/2.", checked=("alignment-kept",)),
    Statement(where="E.3, T2 to T3", text="T3 - T1 = d log(a_K d/sigma^2 w)/a_K.", checked=("thm2-time",)),
    Statement(where="E.3, T4", text="Alignment takes at most 2 d log(..)/c(a).", checked=("alignment-stage",)),
    Statement(where="E.3, T5", text="Singular values settle at a_i d.", checked=("settling",)),
    Statement(where="E.3, end", text="At T* the network is in P2(C, max(1, 2 Delta)).", checked=("final-alignment",)),
    Statement(where="Theorem E.5, (41)", text="The test error at T* of the flow.", checked=("thm2-active",)),
    Statement(
        where="proof of E.5",
        text="|(I - P_K) A|_F is O(sigma^2 sqrt(w) d + sigma^2 w log d).",
        checked=("thm2-active",),
    ),
    # Appendix F and G
    Statement(where="Lemma F.1", text="Descent stays near the flow.", checked=("lemma-f1",)),
    Statement(where="Lemma F.2", text="|A|^2 stays below 10 (|A*|^2 + |E|^2).", checked=("lemma-f2",)),
    Statement(where="proof of Theorem 2", text="Lazy: descent keeps the error above a third.", checked=("thm2-lazy",)),
    Statement(
        where="section G", text="The experiments: losses, steps, grids.", checked=("fig1", "fig2", "published-cells")
    ),
]
