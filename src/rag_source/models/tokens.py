"""Counts tokens as the answer model does, offline and without opening the model.

The vocabulary stands in the GGUF file. It is read once, when the model is fetched, and kept
beside it as *ranks*: one JSON line that describes and hashes what follows, then a length byte for
every token, then the bytes of all tokens in the order of their ids. The token's id is its
merge rank. Supports the `qwen2` pre-tokenizer, which every answer model of models.lock has.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from rag_source.domain.errors import ConfigurationError, ModelMissingError
from rag_source.models.gguf_metadata import read_metadata

if TYPE_CHECKING:
    import tiktoken

__all__ = ["TokenRanks"]

_FORMAT = 1
_PATTERNS = {
    # llama.cpp's and the model card's split for `tokenizer.ggml.pre = qwen2`.
    "qwen2": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
}
_NORMAL, _CONTROL, _USER_DEFINED = 1, 3, 4
"""Token types of the GGUF specification."""


class TokenRanks:
    """A `TokenCounter` in the vocabulary of one model. Safe to share between threads."""

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self._encoding = encoding

    def encode(self, text: str) -> list[int]:
        """Token ids; text that looks like a control token is split like any other."""
        return self._encoding.encode_ordinary(text)

    def count(self, text: str) -> int:
        """How many tokens the model reads for `text`."""
        return len(self.encode(text))

    @classmethod
    def load(cls, path: Path, *, hint: str = "fetch the model again") -> Self:
        """Read ranks that `extract` wrote; a tenth of a second, never the network.

        Raises:
            ModelMissingError: Not there, or damaged.
        """
        # tiktoken brings its regex engine along: only those who count pay for it.
        import tiktoken

        try:
            header, body = _read(path)
        except (OSError, ValueError, KeyError) as error:
            raise ModelMissingError(
                f"the token ranks {str(path)!r} cannot be used: {error}", hint=hint
            ) from error
        return cls(
            tiktoken.Encoding(
                header["model_sha256"],
                pat_str=_PATTERNS[header["pattern"]],
                mergeable_ranks=_ranks(header, body),
                special_tokens=header["special"],
            )
        )

    @staticmethod
    def is_current(path: Path, *, model_sha256: str) -> bool:
        """Whether `path` holds undamaged ranks of that model in this format."""
        try:
            header, _ = _read(path)
        except (OSError, ValueError, KeyError):
            return False
        return bool(header["model_sha256"] == model_sha256)

    @staticmethod
    def extract(gguf_path: Path, path: Path, *, model_sha256: str) -> None:
        """Read the vocabulary of a model file (under a second) and write its ranks to `path`.

        Raises:
            ConfigurationError: The file is not a GGUF, or splits text in a way unknown here.
            OSError: `path` cannot be written.
        """
        pattern, tokens, special = _vocabulary(gguf_path)
        body = bytes(len(token) for token in tokens) + b"".join(tokens)
        header = {
            "format": _FORMAT,
            "model_sha256": model_sha256,
            "pattern": pattern,
            "tokens": len(tokens),
            "special": special,
            "sha256": hashlib.sha256(body).hexdigest(),
        }
        partial = path.with_name(path.name + ".partial")
        partial.write_bytes(json.dumps(header).encode("utf-8") + b"\n" + body)
        partial.replace(path)


def _read(path: Path) -> tuple[dict[str, Any], bytes]:
    line, _, body = path.read_bytes().partition(b"\n")
    header = json.loads(line)
    if header["format"] != _FORMAT or header["pattern"] not in _PATTERNS:
        raise ValueError("they are of another version of the program")
    if hashlib.sha256(body).hexdigest() != header["sha256"]:
        raise ValueError("their hash is wrong")
    return header, body


def _ranks(header: dict[str, Any], body: bytes) -> dict[bytes, int]:
    count = header["tokens"]
    ranks: dict[bytes, int] = {}
    start = count
    for rank, length in enumerate(body[:count]):
        # Control and unused tokens have no bytes here: text never merges into them.
        if length:
            ranks[body[start : start + length]] = rank
            start += length
    return ranks


def _vocabulary(gguf_path: Path) -> tuple[str, list[bytes], dict[str, int]]:
    keys = ("tokenizer.ggml.pre", "tokenizer.ggml.tokens", "tokenizer.ggml.token_type")
    try:
        pre, names, types = read_metadata(gguf_path, keys).values()
        pattern = pre.decode("utf-8")
        vocabulary = _split_vocabulary([name.decode("utf-8") for name in names], types)
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise ConfigurationError(
            f"{gguf_path.name!r} holds no usable vocabulary: {error}", code="bad_model"
        ) from error
    if pattern not in _PATTERNS:
        raise ConfigurationError(
            f"{gguf_path.name!r} splits text by {pattern!r}, which is not supported",
            hint="supported: " + ", ".join(_PATTERNS),
            code="bad_model",
        )
    return pattern, *vocabulary


def _split_vocabulary(names: list[str], types: list[int]) -> tuple[list[bytes], dict[str, int]]:
    to_byte = _byte_of_character()
    tokens: list[bytes] = []
    special: dict[str, int] = {}
    for rank, (name, kind) in enumerate(zip(names, types, strict=True)):
        token = b""
        if kind == _NORMAL:
            token = bytes(to_byte[character] for character in name)
        elif kind in (_CONTROL, _USER_DEFINED):
            special[name] = rank
        if len(token) > 255:
            raise ValueError(f"token {rank} is longer than 255 bytes")
        tokens.append(token)
    return tokens, special


def _byte_of_character() -> dict[str, int]:
    """The inverse of GPT-2's map of bytes to printable characters."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in set(plain)]
    table = {chr(byte): byte for byte in plain}
    table.update({chr(256 + position): byte for position, byte in enumerate(others)})
    return table
