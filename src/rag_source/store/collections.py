"""Which of the collections in the state directory answers.

```
state/
  vectors/                 the first collection
  vectors-0a1b2c3d4e5f/    one made later, for another embedding model
```

The catalogue names the one that answers, so that a change of it and the records that go with it are
one transaction. There are two while one is made anew; any other is a leftover.
"""

from __future__ import annotations

import hashlib
import logging
import re
import shutil
from collections.abc import Collection
from pathlib import Path

from rag_source.domain.chunks import EmbeddingModel

__all__ = ["FIRST_COLLECTION", "clear_collections", "collection_name"]

logger = logging.getLogger(__name__)

FIRST_COLLECTION = "vectors"
# Nothing else in the state directory is looked at or deleted.
_NAME = re.compile(r"vectors(-[0-9a-f]{12})?")


def collection_name(model: EmbeddingModel) -> str:
    """The folder of a collection made for a model that is not the first one's.

    Chunks are cut to what the model reads at a time, so that the same model with another limit has
    another collection.
    """
    digest = hashlib.sha256(f"{model.identity}:{model.limit_tokens}".encode()).hexdigest()
    return f"{FIRST_COLLECTION}-{digest[:12]}"


def clear_collections(state: Path, kept: Collection[str]) -> None:
    """Delete every collection but those named: one given up half made, or replaced by a swap
    after which the process ended. What cannot be deleted stays until the next time."""
    for folder in state.iterdir():
        if _NAME.fullmatch(folder.name) and folder.name not in kept and folder.is_dir():
            logger.info("deleting the collection %s, which nothing asks any more", folder.name)
            shutil.rmtree(folder, ignore_errors=True)
