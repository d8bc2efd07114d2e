"""Token ranks from a vocabulary written here; equality with the real server is in test_real.py."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from rag_source.domain.errors import ConfigurationError, ModelMissingError
from rag_source.models.tokens import TokenRanks

SPACE = "\u0120"  # how the byte 0x20 is written in such vocabularies


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def byte_tokens() -> list[str]:
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    rest = [byte for byte in range(256) if byte not in plain]
    return [chr(byte) for byte in plain] + [chr(256 + place) for place in range(len(rest))]


def make_gguf(path: Path, *, pre: str = "qwen2", magic: bytes = b"GGUF") -> Path:
    """A GGUF file with a vocabulary of all bytes, a few merges and a control token."""
    tokens = [*byte_tokens(), "ab", "abc", f"{SPACE}a", f"{SPACE}ab", "<|end|>"]
    kinds = [1] * (len(tokens) - 1) + [3]
    values = [
        text("general.name") + struct.pack("<I", 8) + text("tiny"),
        text("some.numbers") + struct.pack("<IIQ3f", 9, 6, 3, 1.0, 2.0, 3.0),
        text("tokenizer.ggml.pre") + struct.pack("<I", 8) + text(pre),
        text("tokenizer.ggml.tokens")
        + struct.pack("<IIQ", 9, 8, len(tokens))
        + b"".join(map(text, tokens)),
        text("tokenizer.ggml.token_type")
        + struct.pack(f"<IIQ{len(kinds)}i", 9, 5, len(kinds), *kinds),
    ]
    path.write_bytes(struct.pack("<4sIQQ", magic, 3, 0, len(values)) + b"".join(values))
    return path


@pytest.fixture
def ranks_path(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.ranks"
    TokenRanks.extract(make_gguf(tmp_path / "tiny.gguf"), path, model_sha256="a" * 64)
    return path


def test_merges_are_applied_by_rank(ranks_path: Path) -> None:
    ranks = TokenRanks.load(ranks_path)
    assert ranks.encode("abc ab") == [257, 259]
    assert ranks.count("abc ab") == 2


def test_unmerged_text_counts_its_bytes(ranks_path: Path) -> None:
    assert TokenRanks.load(ranks_path).count("é😀") == 6


def test_control_token_in_a_document_is_ordinary_text(ranks_path: Path) -> None:
    assert TokenRanks.load(ranks_path).count("<|end|>") == 7


def test_ranks_belong_to_one_model(ranks_path: Path) -> None:
    assert TokenRanks.is_current(ranks_path, model_sha256="a" * 64)
    assert not TokenRanks.is_current(ranks_path, model_sha256="b" * 64)


def test_damaged_ranks_are_refused_with_the_hint(ranks_path: Path) -> None:
    data = bytearray(ranks_path.read_bytes())
    data[-1] ^= 1
    ranks_path.write_bytes(data)
    assert not TokenRanks.is_current(ranks_path, model_sha256="a" * 64)
    with pytest.raises(ModelMissingError, match="hash is wrong") as caught:
        TokenRanks.load(ranks_path, hint="fetch it")
    assert caught.value.hint == "fetch it"


def test_missing_ranks_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelMissingError, match="No such file"):
        TokenRanks.load(tmp_path / "absent.ranks")


def test_unknown_pretokenizer_is_refused(tmp_path: Path) -> None:
    model = make_gguf(tmp_path / "tiny.gguf", pre="other")
    with pytest.raises(ConfigurationError, match="'other'"):
        TokenRanks.extract(model, tmp_path / "x", model_sha256="a" * 64)


@pytest.mark.parametrize("kept", [4, 40, 100, 2000], ids=lambda kept: f"{kept}-bytes")
def test_truncated_model_is_refused(tmp_path: Path, kept: int) -> None:
    model = make_gguf(tmp_path / "tiny.gguf")
    model.write_bytes(model.read_bytes()[:kept])
    with pytest.raises(ConfigurationError, match="no usable vocabulary"):
        TokenRanks.extract(model, tmp_path / "x", model_sha256="a" * 64)


def test_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    model = make_gguf(tmp_path / "tiny.gguf", magic=b"ELF\0")
    with pytest.raises(ConfigurationError, match="not a GGUF file"):
        TokenRanks.extract(model, tmp_path / "x", model_sha256="a" * 64)
