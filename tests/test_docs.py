# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Links of the documentation lead somewhere: files that exist, headings that are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_ELSEWHERE = re.compile(r"[a-z]+:")


def anchors(page):
    """Anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ +(.+?) *$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(page):
    """Links of a page that lead nowhere; those to other machines are not followed."""
    for link in _LINK.findall(page.read_text()):
        if _ELSEWHERE.match(link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    assert list(broken(page)) == []


def test_a_broken_link_is_found(tmp_path):
    page = tmp_path / "page.md"
    links = "[a](#a-heading-one) [b](#none) [c](gone.md) [d](https://example.org/x) [e](page.md)"
    page.write_text(f"# A heading: one\n{links}")
    assert list(broken(page)) == ["#none", "gone.md"]
