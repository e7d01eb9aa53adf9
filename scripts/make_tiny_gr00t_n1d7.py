# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Write a tiny GR00T N1.7 checkpoint: NVIDIA's architecture and files, 7 MB, with random weights.

The defaults fit the bundled task. With `--pretrain_steps` the backbone learns to point at the coloured disc that an
instruction names, in drawn pictures; without, words mean nothing to it. Train it with `isaaclab-rlinf sft --base DIR`,
then with `isaaclab train`.

    uv run --no-sync python scripts/make_tiny_gr00t_n1d7.py --out tiny_gr00t --pretrain_steps 1500
    uv run --no-sync python scripts/make_tiny_gr00t_n1d7.py --out tiny_gr00t --tag my_robot --tag_id 3 \
        --state arm=7 gripper=1 --action arm=7 gripper=1 --relative arm=arm --views front wrist --horizon 16
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from isaaclab_rlinf.models.gr00t_n1d7.tiny import make_tiny_checkpoint
from isaaclab_rlinf.models.gr00t_n1d7.tiny_spec import TinyEmbodiment, TinySizes


def pair(text: str) -> tuple[str, str]:
    """Split KEY=VALUE."""
    key, equals, value = text.partition("=")
    if not (key and equals and value):
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    return key, value


def teach_pointing(out: Path, instructions: list[str], steps: int, seed: int) -> None:
    """Pre-train behind a progress bar; what was made does not stay when this fails or is interrupted."""
    from rich.progress import Progress

    from isaaclab_rlinf.models.gr00t_n1d7.tiny_pointing import pretrain

    try:
        with Progress() as progress:
            bar = progress.add_task("point at the named colour", total=steps)
            error = pretrain(
                out, instructions, steps, seed=seed, on_step=lambda done, _: progress.update(bar, completed=done)
            )
    except BaseException:
        shutil.rmtree(out)
        raise
    print(f"[INFO] points at the named disc with a median error of {error:.1f} pixels")


def main() -> None:
    """Parse arguments and write the checkpoint."""
    default = TinyEmbodiment()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="Directory to create.")
    parser.add_argument("--tag", default=default.tag, help="Embodiment tag.")
    parser.add_argument("--tag_id", type=int, default=default.embodiment_id, metavar="N", help="Its projector.")
    parser.add_argument(
        "--state", type=pair, nargs="+", action="extend", metavar="KEY=WIDTH", help="State groups in order."
    )
    parser.add_argument(
        "--action", type=pair, nargs="+", action="extend", metavar="KEY=WIDTH", help="Action groups in order."
    )
    parser.add_argument(
        "--relative",
        type=pair,
        nargs="+",
        action="extend",
        default=[],
        metavar="KEY=STATE",
        help="Action groups relative to a state.",
    )
    parser.add_argument("--views", nargs="+", default=list(default.views), metavar="KEY", help="Video keys in order.")
    parser.add_argument("--image_size", type=int, default=default.image_size, metavar="PIXELS", help="Side of images.")
    parser.add_argument("--horizon", type=int, default=default.horizon, metavar="N", help="Actions per chunk.")
    parser.add_argument(
        "--instructions",
        nargs="+",
        default=[f"touch the {colour} ball" for colour in ("red", "green", "blue")],
        metavar="TEXT",
        help="Sentences to train the tokenizer on.",
    )
    parser.add_argument(
        "--pretrain_steps",
        type=int,
        default=0,
        metavar="N",
        help="Teach the backbone to point, so many steps; each instruction names one colour then. Default none.",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="Seed of weights and pictures.")
    args = parser.parse_args()
    if args.pretrain_steps:
        from isaaclab_rlinf.models.gr00t_n1d7.tiny_scenes import named_colours

        try:
            named_colours(args.instructions)
        except ValueError as error:
            parser.error(f"--pretrain_steps: {error}")
    widths = lambda pairs, otherwise: {key: int(value) for key, value in pairs} if pairs else otherwise  # noqa: E731
    embodiment = TinyEmbodiment(
        tag=args.tag,
        embodiment_id=args.tag_id,
        state=widths(args.state, default.state),
        action=widths(args.action, default.action),
        relative=dict(args.relative),
        views=args.views,
        image_size=args.image_size,
        horizon=args.horizon,
    )
    # No padding: the velocity of padded dimensions is never trained, and a tiny model suffers from what they do.
    sizes = TinySizes(
        embodiments=max(args.tag_id + 1, TinySizes.embodiments),
        max_state_dim=sum(embodiment.state.values()),
        max_action_dim=sum(embodiment.action.values()),
    )
    make_tiny_checkpoint(args.out, args.instructions, embodiment, sizes, args.seed)
    if args.pretrain_steps:
        teach_pointing(args.out, args.instructions, args.pretrain_steps, args.seed)
    total = sum(file.stat().st_size for file in args.out.rglob("*") if file.is_file())
    print(f"[INFO] {args.out}: {total / 1e6:.1f} MB, embodiment {args.tag} (projector {args.tag_id})")


if __name__ == "__main__":
    main()
