# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""The versions known to work together, one table for the doctor and the documentation.

Column ``default`` is the set that this package's tests run with. The GR00T columns are what the installers in
``scripts/`` ask for: the revisions and transformers versions that Isaac Lab's documentation pins, the rest resolved
against isaaclab 3.0.0.
"""

from __future__ import annotations

from dataclasses import dataclass

RLINF_REVISION = "0f9ea98c7a6d9e3ade24e8f4846c64d3b135dbcc"
GR00T_REVISIONS = {
    "gr00t": "4af2b622892f7dcb5aae5a3fb70bcb02dc217b96",
    "gr00t_n1d7": "1a1837f20538b7d7e21f977a11a5aee14f99803c",
}
"""Revision of Isaac-GR00T by ``model_type``."""

ENVIRONMENTS = {"default": "default", "gr00t": "GR00T N1.5", "gr00t_n1d7": "GR00T N1.7 (NVIDIA's)"}
"""Kind of environment, named by the ``model_type`` that NVIDIA's package in it serves, and its name for people."""


@dataclass(frozen=True)
class KnownGood:
    """Versions of one distribution, as PEP 440 specifiers; empty where the environment does without it."""

    package: str
    default: str
    gr00t: str
    gr00t_n1d7: str
    required: bool = True
    """Whether nothing works without it, where the column is not empty."""

    def specifier(self, environment: str) -> str:
        """Return the specifier for an environment of :data:`ENVIRONMENTS`."""
        return {"default": self.default, "gr00t": self.gr00t, "gr00t_n1d7": self.gr00t_n1d7}[environment]


def _everywhere(package: str, versions: str, required: bool = True) -> KnownGood:
    return KnownGood(package, versions, versions, versions, required)


KNOWN_GOOD: tuple[KnownGood, ...] = (
    _everywhere("python", "==3.12.*"),
    _everywhere("isaaclab", "==3.0.0"),
    _everywhere("rlinf", "==0.3.0"),
    _everywhere("torch", "==2.11.*"),
    _everywhere("ray", ">=2.47,<3"),
    KnownGood("transformers", "==5.10.4", "==4.51.3", "==4.57.3"),
    KnownGood("tokenizers", ">=0.22,<=0.23", ">=0.21,<0.22", ">=0.22,<0.23"),
    KnownGood("huggingface-hub", ">=1.6,<2", ">=0.30,<1.0", ">=0.34,<1.0"),
    KnownGood("diffusers", ">=0.38,<0.40", "==0.35.1", "==0.35.1"),
    KnownGood("peft", ">=0.18,<1", "==0.17.1", "==0.17.1"),
    _everywhere("numpy", ">=2,<2.3"),
    _everywhere("av", ">=15,<16"),
    _everywhere("datasets", ">=4.8,<5"),
    _everywhere("newton", "==1.6.1"),
    _everywhere("warp-lang", "==1.17.0"),
    KnownGood("lerobot", "==0.6.1", "", ""),
    KnownGood("decord2", "", ">=3", ">=3"),
    KnownGood("tyro", "", "", ">=0.9"),
    KnownGood("pytorch3d", "", "==0.7.9", ""),
    KnownGood("flash-attn", "", "==2.8.3", "==2.8.3", required=False),
)


def markdown_table() -> str:
    """Return :data:`KNOWN_GOOD` as the table of ``docs/installation.md``."""
    rows = [("package", *ENVIRONMENTS.values())]
    for entry in KNOWN_GOOD:
        cells = (entry.specifier(environment) for environment in ENVIRONMENTS)
        rows.append((entry.package, *(f"`{cell}`" if cell else "-" for cell in cells)))
    rows.append(("RLinf, revision", "release", *(f"`{RLINF_REVISION[:7]}`",) * 2))
    rows.append(("Isaac-GR00T, revision", "-", *(f"`{revision[:7]}`" for revision in GR00T_REVISIONS.values())))
    rows.insert(1, ("---",) * len(rows[0]))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
