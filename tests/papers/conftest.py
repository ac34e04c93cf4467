"""What the tests of all papers share."""

from __future__ import annotations

import pytest

from linnet_papers.reproduction import table


@pytest.fixture(autouse=True)
def _tables_read_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are read at every call, so that an error in a theory reaches the claims that read them."""
    monkeypatch.setattr(table, "_rows", table._rows.__wrapped__)
