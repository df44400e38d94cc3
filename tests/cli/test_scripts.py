"""The repository's own scripts and examples, on small inputs."""
import json
import pathlib
import shutil
import subprocess
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*command, **options):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)


def check_includes(folder, line):
    """check-includes on a copy of the tree's shape with one file, which has one line."""
    (folder / "scripts").mkdir(parents=True)
    shutil.copy(ROOT / "scripts/check-includes", folder / "scripts")
    for name in ("base", "config"):
        (folder / "src" / name).mkdir(parents=True)
        (folder / "src" / name / "a.h").write_text("")
    (folder / "src/CMakeLists.txt").write_text("megadlm_library(base LINK fmt)\nmegadlm_library(config USES base LINK yaml-cpp)\n")
    (folder / "src/base/b.cpp").write_text(line + "\n")
    (folder / "src/config/b.cpp").write_text('#include "base/a.h"\n#include "config/a.h"\n#include <vector>\n')
    return run(folder / "scripts/check-includes")


def test_includes_between_folders_are_checked(tmp_path):
    assert check_includes(tmp_path / "good", '#include "base/a.h"').returncode == 0
    result = check_includes(tmp_path / "direction", '#include "config/a.h"')
    assert result.returncode == 1 and "src/base/b.cpp:1: base may not use config" in result.stdout
    for line in ('#include "a.h"', '#include "../config/a.h"', '#include "base/none.h"'):
        result = check_includes(tmp_path / line.translate(str.maketrans('/#" ', "____")), line)
        assert result.returncode == 1 and "not a path from src/" in result.stdout, line


def test_pictures_are_drawn(tmp_path):
    rows = [{"consumed_tokens": 100 * i, "loss": 7 / i, **({"valid_loss": 7.5 / i} if i % 4 == 0 else {})} for i in range(1, 13)]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run(ROOT / "scripts/plot-loss", tmp_path / "metrics.jsonl", tmp_path / "loss.svg", "a < b").returncode == 0
    lines = [line for line in xml.etree.ElementTree.parse(tmp_path / "loss.svg").iter() if line.tag.endswith("polyline")]
    assert [len(line.get("points").split()) for line in lines] == [12, 3]
    (tmp_path / "metrics.jsonl").write_text("")
    assert "no line to draw" in run(ROOT / "scripts/plot-loss", tmp_path / "metrics.jsonl", tmp_path / "x.svg").stderr
    watched = "[step 1/2] a <░░\n[step 2/2] a <b> c\x01\n"
    assert run(ROOT / "scripts/plot-denoising", tmp_path / "steps.svg", input=watched).returncode == 0
    assert "a <b> c" in "".join(xml.etree.ElementTree.parse(tmp_path / "steps.svg").getroot().itertext())


def test_an_unknown_option_of_a_script_is_wrong_usage():
    for script in ("scripts/build", "scripts/setup", "scripts/quickstart", "scripts/test", "examples/compare-objectives"):
        result = run(ROOT / script, "--nonsense", "--again", "x", "y")
        assert result.returncode == 2 and "usage" in result.stderr, script


def test_two_objectives_are_compared(tmp_path, megadlm_path):
    (tmp_path / "text").write_text("".join(f"verse {i}: the {i % 7} sons of the {i % 5} kings went out.\n" for i in range(900)))
    result = run(ROOT / "examples/compare-objectives", tmp_path / "text", "0.02", tmp_path / "out", env={"MEGADLM_BIN": megadlm_path.parent,
                                                                                                     "PATH": "/usr/bin:/bin"})
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("bits/byte") == 2, result.stdout
