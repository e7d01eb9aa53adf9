# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Pre-training of a tiny backbone: pointing at the disc that an instruction names.

A released GR00T N1.7 starts from a backbone that has seen much of the world and can point at what it is asked for. A
random one cannot, and robot demonstrations alone teach it very slowly which words belong to which pixels. Two losses
do, in minutes: the vision tower says for each image token which colours are in it and where, and the vision-language
features of the text say where the named one is. The output layers for that are thrown away afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn import functional

from isaaclab_rlinf.models.schedule import learning_rate_factor
from isaaclab_rlinf.models.seeding import seeded

from .builder import load_network
from .processing import Gr00tN1d7Processor
from .tiny_scenes import Scenes, draw_scenes, named_colours

if TYPE_CHECKING:
    from .modeling import Context, Gr00tN1d7Model

_BINS = 16
"""Classes per image axis for the place of the named disc."""


def pretrain(
    path: Path,
    instructions: Sequence[str],
    steps: int,
    *,
    batch_size: int = 32,
    lr: float = 1e-3,
    seed: int = 0,
    on_step: Callable[[int, float], None] | None = None,
) -> float:
    """Teach the backbone of a tiny checkpoint to point, and save its weights in place.

    Trained are the backbone and the attention over vision-language features, with AdamW on the CPU; the first view
    shows the named disc, the others are other pictures.

    Args:
        path: Checkpoint directory with one embodiment and square images.
        instructions: Texts, each with the name of one colour; see :func:`~.tiny_scenes.named_colours`.
        steps: Optimizer steps.
        batch_size: Pictures per step.
        lr: Peak learning rate: warm-up over 50 steps, cosine decay to 2 %.
        seed: Seed of pictures and output layers.
        on_step: Called after each step with (steps done, median pointing error in pixels of the batch).

    Returns:
        Median pointing error in pixels over the last 50 steps.

    Raises:
        ValueError: If an instruction does not name one colour, or two name the same; nothing is changed then.
    """
    colours = named_colours(instructions)
    processor = Gr00tN1d7Processor.from_directory(path)
    model = load_network(processor)
    model.set_trainable(llm=True, visual=True, projector=False, diffusion=False, vlln=True)
    generator = torch.Generator().manual_seed(seed)
    with seeded(seed):
        task = _Pointing(processor, model, colours, instructions)
    trained = [value for value in (*model.parameters(), *task.parameters()) if value.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=lr, betas=(0.9, 0.95), weight_decay=1e-4)
    errors: list[float] = []
    model.train()
    for step in range(steps):
        factor = learning_rate_factor(step, steps, warm_up_steps=50, floor=0.02)
        for group in optimizer.param_groups:
            group["lr"] = lr * factor
        optimizer.zero_grad(set_to_none=True)
        loss, error = task(batch_size, generator)
        loss.backward()
        nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        errors.append(error)
        if on_step is not None:
            on_step(step + 1, error)
    model.eval()
    model.save_pretrained(path)
    last = errors[-50:]
    return sum(last) / max(1, len(last))


class _Pointing(nn.Module):
    """Loss of a batch of freshly drawn scenes; the model is not part of it."""

    def __init__(
        self, processor: Gr00tN1d7Processor, model: Gr00tN1d7Model, colours: torch.Tensor, instructions: Sequence[str]
    ) -> None:
        super().__init__()
        width = model.config.backbone_embedding_dim
        self.detect = nn.Linear(width, 3 * len(colours))
        self.point = nn.Linear(width, 2 * _BINS)
        self.processor, self.colours = processor, colours
        self.side = int(processor.files.config["image_target_size"][0])
        self.tokens = processor.prompts.patches.tokens(self.side, self.side)
        counts = [self.tokens] * len(processor.facts.image_views)
        texts = [processor.formalize(text) for text in instructions]
        processor.prompts.length = max(len(processor.prompts.token_ids(text, counts)) for text in texts)
        self.texts, self.counts = texts, counts
        self.encode = model.encode
        self._seen: list[torch.Tensor] = []
        model.backbone.visual.register_forward_hook(lambda _m, _i, output: self._seen.append(output.pooler_output))

    def forward(self, batch: int, generator: torch.Generator) -> tuple[torch.Tensor, float]:
        """Return the loss and the median pointing error in pixels."""
        facts = self.processor.facts
        views = [draw_scenes(batch, self.side, self.colours, generator) for _ in range(len(facts.image_views))]
        shown = views[0]
        named = torch.multinomial(shown.present.float(), 1, generator=generator)[:, 0]
        ids, mask = self.processor.prompts.batch([self.texts[index] for index in named.tolist()], self.counts)
        context = self.encode(
            torch.stack([view.images for view in views], dim=1),
            ids,
            mask,
            torch.zeros(batch, 1, self.processor.max_state_dim),
            torch.full((batch,), facts.embodiment_id),
        )
        target = shown.centres[torch.arange(batch), named]
        loss, error = self._pointing_loss(context, target)
        return loss + self._detection_loss(shown), error

    def _pointing_loss(self, context: Context, target: torch.Tensor) -> tuple[torch.Tensor, float]:
        """Cross-entropy of the named disc's place, from the mean of the text's features."""
        text = (context.mask & ~context.image_mask)[..., None].to(context.features.dtype)
        scores = self.point((context.features * text).sum(dim=1) / text.sum(dim=1)).unflatten(-1, (2, _BINS))
        size = self.side / _BINS
        bins = (target / size).long().clamp(0, _BINS - 1)
        found = (scores.detach().softmax(dim=-1) * (torch.arange(_BINS) + 0.5) * size).sum(dim=-1)
        error = (found - target).norm(dim=-1).median().item()
        return functional.cross_entropy(scores.flatten(0, 1), bins.flatten()), error

    def _detection_loss(self, shown: Scenes) -> torch.Tensor:
        """Which discs have their centre in each token of the first view, and where in it."""
        batch, grid = len(shown.images), math.isqrt(self.tokens)
        features = self._seen.pop().view(batch, len(self.counts), self.tokens, -1)[:, 0]
        scores, offsets = self.detect(features).split([len(self.colours), 2 * len(self.colours)], dim=-1)
        size = self.side / grid
        cell = (shown.centres / size).long().clamp(0, grid - 1)  # (B, C, 2) as (x, y)
        index = cell[..., 1] * grid + cell[..., 0]
        inside = functional.one_hot(index, self.tokens).transpose(1, 2) * shown.present[:, None]
        presence = functional.binary_cross_entropy_with_logits(scores, inside.float(), reduction="sum") / batch
        place = (shown.centres - (cell + 0.5) * size) / (size / 2)
        error = ((offsets.unflatten(-1, (-1, 2)) - place[:, None]) ** 2).sum(dim=-1)
        return presence + (error * inside).sum() / inside.sum()
