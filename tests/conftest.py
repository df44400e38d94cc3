"""Finds the build's programs for the tests that drive them from outside."""
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
BIN = pathlib.Path(os.environ.get("MEGADLM_BIN", ROOT / "build/release/bin"))


def program(name):
    path = BIN / name
    if not path.exists():
        pytest.skip(f"{path} is not built")
    return path


@pytest.fixture
def megadlm_path():
    return program("megadlm")


@pytest.fixture
def megadlm(megadlm_path):
    def run(*arguments, check=True, **options):
        result = subprocess.run([megadlm_path, *map(str, arguments)], capture_output=True, text=True, **options)
        if check:
            assert result.returncode == 0, result.stderr
        return result

    return run


@pytest.fixture
def training_trace():
    return program("training_trace")
