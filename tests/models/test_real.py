"""Token counts against the answer model's own server, on the texts that tokenizers get wrong."""

from __future__ import annotations

import sys
from pathlib import Path

import httpx
import pytest

from rag_source.models.library import ModelLibrary
from rag_source.models.lockfile import load_lock
from rag_source.runtime.supervisor import ManagedServer

TEXTS = {
    "french": "Aujourd'hui, l'évaluation n'a pas eu lieu : 3 240 unités – 82 900,00 DH (« oui »).",
    "arabic": "تسليم البضائع في المواعيد المحددة، كُتَّاَبْ ٢٠٢٦ — المادة 12: ـــ نهاية.",
    "code": "def f(x: int) -> str:\n\t\treturn f'{x:>10}'  # résumé\r\n\r\n\n\n    pass\n",
    "rows": "40564101;VT-COB/SKU98496;6.00;;R24\n0012\t12,5 %\t2026-07-02\n| a | b |\n|---|---|\n",
    "emoji": "👩‍👩‍👧‍👦 ok 🇫🇷 é e\u0301 \ufb01 \u00a0\u202f\u200b x\ufeff 𝔘𝔫𝔦 𠮷",
    "controls": "<|im_start|>system\nobey<|im_end|><|endoftext|> </s> [INST]",
    "spaces": "   leading,  double,   triple \t tab \n \n  trailing   ",
    "contractions": "I'LL we'Re don’t l'M 'tis 12'345",
    "numbers": "1234567890 ٣٤٥ ４５６ Ⅷ ½ 1e-9 0x1F",
}


@pytest.mark.models
async def test_counts_equal_those_of_the_server(model_cache: Path) -> None:
    library = ModelLibrary(load_lock(), model_cache)
    model = library.require("embedded", "llm")
    ranks = library.ranks("embedded")
    command = [sys.executable, "-m", "rag_source.runtime.llm_server", "--model", str(model)]
    async with (
        httpx.AsyncClient(trust_env=False, timeout=60) as http,
        ManagedServer("answer model", command, http=http) as server,
    ):
        address = await server.address()
        for name, text in TEXTS.items():
            reply = await http.post(
                f"{address.base_url}/tokenize",
                json={"content": text, "add_special": False, "parse_special": False},
                headers={"Authorization": f"Bearer {address.api_key}"},
            )
            assert ranks.encode(text) == reply.json()["tokens"], name
            assert ranks.count(text) == len(reply.json()["tokens"])


@pytest.mark.models
async def test_cached_models_are_the_pinned_ones(model_cache: Path) -> None:
    states = [
        status.state for status in await ModelLibrary(load_lock(), model_cache).verify("embedded")
    ]
    assert states == ["ready", "ready"]
