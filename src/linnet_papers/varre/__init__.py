"""Varre, Vladarean, Pillaud-Vivien and Flammarion: On the spectral bias of two-layer linear networks."""
