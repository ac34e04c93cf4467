"""Huang, Chen, Xu, Wang and Suzuki: Exact and Rich Feature Learning Dynamics of Two-Layer Linear Networks."""

from linnet.papers.huang.claims import equations as equation_claims
from linnet.papers.huang.claims import experiments, kernel, neuron_lemmas, proofs, times
from linnet.papers.huang.claims import lemmas as lemma_claims
from linnet.papers.huang.claims import neurons as neuron_claims
from linnet.papers.huang.figures import fig1, fig2, fig3
from linnet.papers.huang.statements import STATEMENTS
from linnet.papers.huang.tables import convergence, equations, lemmas, neurons, scalings, synthetic
from linnet.reproduction import Paper

PAPER = Paper(
    name="huang",
    title="Exact and Rich Feature Learning Dynamics of Two-Layer Linear Networks",
    authors="Huang, Chen, Xu, Wang and Suzuki",
    year=2025,
    link="https://irep.mbzuai.ac.ae/items/c28329c8-8834-4092-ba8b-64c12400b7c2",
    subject="two stages of learning from a small start",
    figures=[
        fig1.FIGURE,
        fig2.FIGURE,
        fig3.FIGURE,
    ],
    tables=[
        convergence.TABLE,
        equations.TABLE,
        lemmas.TABLE,
        neurons.TABLE,
        scalings.TABLE,
        synthetic.TABLE,
    ],
    statements=STATEMENTS,
    claims=[
        equation_claims.EQ3,
        equation_claims.EQ7,
        equation_claims.EQ9,
        equation_claims.EQ10,
        equation_claims.EQ11,
        neuron_claims.LIMIT_CLAIM,
        neuron_claims.DIFFERENCE,
        neuron_claims.SIGNS_DETERMINED,
        neuron_claims.SIGNS,
        neuron_claims.RISING,
        neuron_claims.PRODUCTS,
        neuron_claims.OUTPUT,
        neuron_claims.TWO_STAGES,
        neuron_lemmas.LEMMA_52,
        kernel.KERNEL_BOUND,
        neuron_lemmas.LEMMA_53_WEIGHTS,
        neuron_lemmas.LEMMA_53_LAYERS,
        neuron_lemmas.LEMMA_53_KERNEL,
        kernel.TURNING,
        kernel.GROWTH,
        kernel.CONVERGENCE,
        kernel.MINIMUM_NORM,
        times.T1,
        times.T2,
        times.THEOREM,
        times.UNIT_CONSTANT,
        proofs.EQ13,
        proofs.PROXY,
        lemma_claims.SPECTRUM_CLAIM,
        lemma_claims.OVERLAPS,
        lemma_claims.NORMS_CLAIM,
        lemma_claims.QUADRATIC,
        lemma_claims.GAMMA,
        experiments.RATIO_CLAIM,
        experiments.DICHOTOMY,
        experiments.IMAGES,
        experiments.IMAGES_KERNEL,
        experiments.RELU,
        experiments.RELU_CENTRED,
    ],
)
