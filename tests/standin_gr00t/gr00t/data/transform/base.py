# Copyright (c) 2026, The isaaclab-rlinf developers.
# SPDX-License-Identifier: BSD-3-Clause

"""Stand-in, see :mod:`gr00t`: what all transforms share."""

from typing import Any

from gr00t.data.schema import DatasetMetadata


class ModalityTransform:
    """A step; ``training`` decides about augmentation."""

    def __init__(self, apply_to: list[str] | None = None, **options: Any) -> None:
        self.apply_to = apply_to or []
        self.training = True
        for name, value in options.items():
            setattr(self, name, value)

    def set_metadata(self, dataset_metadata: DatasetMetadata) -> None:
        self.metadata = dataset_metadata

    def train(self) -> None:
        self.training = True

    def eval(self) -> None:
        self.training = False

    def __call__(self, data: dict[str, Any]) -> dict[str, Any]:
        return self.apply(data)

    def part(self, key: str) -> tuple[str, str]:
        """Return modality and name of ``modality.name``."""
        parts = key.split(".")
        assert len(parts) == 2, f"Invalid key: {key}"
        return parts[0], parts[1]


class InvertibleModalityTransform(ModalityTransform):
    """A step with ``unapply``."""


class ComposedModalityTransform(ModalityTransform):
    """Steps in order; errors name the step."""

    def __init__(self, transforms: list[ModalityTransform]) -> None:
        super().__init__()
        self.transforms = transforms

    def set_metadata(self, dataset_metadata: DatasetMetadata) -> None:
        for transform in self.transforms:
            transform.set_metadata(dataset_metadata)

    def train(self) -> None:
        for transform in [*self.transforms, super()]:
            transform.train()

    def eval(self) -> None:
        for transform in [*self.transforms, super()]:
            transform.eval()

    def apply(self, data: dict[str, Any]) -> dict[str, Any]:
        for step, transform in enumerate(self.transforms):
            try:
                data = transform(data)
            except Exception as error:
                raise ValueError(f"Error applying transform {step} to data: {error}") from error
        return data

    def unapply(self, data: dict[str, Any]) -> dict[str, Any]:
        for transform in reversed(self.transforms):
            if isinstance(transform, InvertibleModalityTransform):
                data = transform.unapply(data)
        return data
