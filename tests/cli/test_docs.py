"""What the pages name exists: links, files, options."""
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_files_and_options_exist(page):
    text = page.read_text()
    for target in re.findall(r"\]\(([^)#]+)", text):
        assert target.startswith("http") or (page.parent / target).exists(), f"link to {target}"
    for path in re.findall(r"\b((?:scripts|configs|src|tests|bench|examples|docs)/[\w./-]*\w)", text):
        assert "<" in path or list(ROOT.glob(path + "*")) or (page.parent / path).exists(), f"path {path}"
    options = set(re.findall(r"(--[a-z][\w-]+)", (ROOT / "docs/reference/options.md").read_text())) | {"--version", "--help"}
    for script in [*ROOT.glob("scripts/*"), *ROOT.glob("bench/*/run")]:
        options |= set(re.findall(r"(--[a-z][\w-]+)", script.read_text()))
    unknown = sorted(set(re.findall(r"(?<![\w-])(--[a-z][\w-]+)", text)) - options)
    assert not unknown, unknown
