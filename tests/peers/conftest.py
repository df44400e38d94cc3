"""Finds the build's programs for the tests that compare with other libraries."""
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("MEGADLM_BIN", ROOT / "build/release/bin"))


def program(name):
    path = BIN / name
    if not path.exists():
        pytest.skip(f"{path} is not built")
    return path


@pytest.fixture
def megadlm():
    path = program("megadlm")

    def run(*arguments, check=True, **options):
        result = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True, **options)
        if check:
            assert result.returncode == 0, result.stderr
        return result

    return run


@pytest.fixture
def training_trace():
    return program("training_trace")
