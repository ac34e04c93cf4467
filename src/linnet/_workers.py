"""Processes that linnet starts, each for one core: what they are told before they begin, and what they take."""

from __future__ import annotations

# One thread for each: BLAS and XLA would otherwise start one per core in every one of them. Libraries read this when
# they are loaded. Such processes are for cores, so JAX stays off GPUs.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "BLIS_NUM_THREADS": "1",
    "NPROC": "1",  # XLA's, and `precision.cores`
    "JAX_PLATFORMS": "cpu",
}
BYTES = 180 * 2**20  # of a process that has loaded linnet and computes
