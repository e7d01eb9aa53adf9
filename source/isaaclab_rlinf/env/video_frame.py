# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Drawing one frame of a video: a grid of tiles, each a picture below a margin with what is known of its episode."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

COLORS = {"running": (200, 200, 200), "success": (70, 200, 90), "failure": (230, 80, 70), "time-out": (235, 170, 60)}
"""Outcome of an episode -> color of its text and frame."""
_FONT_SIZE, _LINE, _PAD, _BORDER = 13, 17, 5, 2
_BACKGROUND = (20, 20, 20)


@dataclass
class Tile:
    """What is shown of one environment."""

    name: str
    picture: np.ndarray
    """(H, W, 3) uint8."""
    instruction: str = ""
    step: int = 0
    total: float = 0.0
    """Return of the episode so far."""
    outcome: str = "running"
    """Key of :data:`COLORS`."""

    @property
    def status(self) -> str:
        """The line below the instruction."""
        return f"{self.name} · step {self.step} · return {self.total:+.2f} · {self.outcome}"


def margin_height(instructions: Sequence[str], width: int) -> int:
    """Return the height of a margin of this width that holds any of the instructions, whole, and the status."""
    lines = max((len(wrap(text, width)) for text in instructions), default=1)
    status = Tile("env 0000", np.empty(0), step=9999, total=-999.99, outcome="time-out").status
    return (lines + len(wrap(status, width))) * _LINE + 2 * _PAD


@lru_cache(maxsize=4096)
def wrap(text: str, width: int) -> tuple[str, ...]:
    """Return the lines that show a text within a width in pixels; words that are wider alone are broken."""
    lines = [""]
    for word in text.split():
        candidate = f"{lines[-1]} {word}".strip()
        if _font().getlength(candidate) <= width - 2 * _PAD:
            lines[-1] = candidate
            continue
        if lines[-1]:
            lines.append("")
        for letter in word:
            if lines[-1] and _font().getlength(lines[-1] + letter) > width - 2 * _PAD:
                lines.append("")
            lines[-1] += letter
    return tuple(lines)


def draw_tile(tile: Tile, margin: int) -> np.ndarray:
    """Return a tile (H + margin, W, 3) uint8: the text above the picture, not over it."""
    from PIL import Image, ImageDraw

    height, width = tile.picture.shape[:2]
    color = COLORS[tile.outcome]
    image = Image.new("RGB", (width, height + margin), _BACKGROUND)
    image.paste(Image.fromarray(tile.picture), (0, margin))
    draw = ImageDraw.Draw(image)
    lines = [(line, (255, 255, 255)) for line in wrap(tile.instruction, width)]
    lines += [(line, color) for line in wrap(tile.status, width)]
    for number, (line, fill) in enumerate(lines):
        draw.text((_PAD, _PAD + number * _LINE), line, fill=fill, font=_font())
    draw.rectangle((0, 0, width - 1, margin - 1), outline=color, width=_BORDER)
    return np.asarray(image)


def draw_grid(tiles: Sequence[np.ndarray]) -> np.ndarray:
    """Return equally large tiles side by side in a nearly square grid, with even sizes, which H.264 wants."""
    columns = math.ceil(math.sqrt(len(tiles)))
    filled = [*tiles, *[np.zeros_like(tiles[0])] * (-len(tiles) % columns)]
    rows = [np.concatenate(filled[i : i + columns], axis=1) for i in range(0, len(filled), columns)]
    frame = np.concatenate(rows, axis=0)
    return np.pad(frame, ((0, frame.shape[0] % 2), (0, frame.shape[1] % 2), (0, 0)))


def enlarge(image: np.ndarray, height: int) -> np.ndarray:
    """Enlarge an image (H, W, 3) by the least whole factor that gives it this height; its pixels stay sharp."""
    factor = max(1, math.ceil(height / image.shape[0]))
    return image.repeat(factor, axis=0).repeat(factor, axis=1)


def side_by_side(images: Sequence[np.ndarray], height: int) -> np.ndarray:
    """Return images (H, W, 3) uint8 side by side, each enlarged to at least a height, the lower ones padded below."""
    large = [enlarge(image, height) for image in images]
    tallest = max(image.shape[0] for image in large)
    return np.concatenate([np.pad(im, ((0, tallest - im.shape[0]), (0, 0), (0, 0))) for im in large], axis=1)


@lru_cache(maxsize=1)
def _font() -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size=_FONT_SIZE)
