"""Huang, Chen, Xu, Wang and Suzuki: Exact and Rich Feature Learning Dynamics of Two-Layer Linear Networks."""
