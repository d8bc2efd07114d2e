"""Services at an address of the operator's choice: how it is read, judged and reached."""

from __future__ import annotations

import ssl

import httpx
import pytest

from rag_source.clients.services import ModelService, look_up, read_service, service_client
from rag_source.domain.errors import ConfigurationError


async def _read(url: str, *addresses: str, key: str = "", model: str = "m") -> ModelService:
    async def lookup(host: str) -> list[str]:
        return list(addresses)

    return await read_service(
        url, variable="RAG_SOURCE_LLM_URL", api_key=key, model=model, lookup=lookup
    )


@pytest.mark.parametrize(
    ("url", "root", "api"),
    [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080", "/v1"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080", "/v1"),
        (" https://llm.example.org/v1/ ", "https://llm.example.org", "/v1"),
        ("https://llm.example.org/api/v1", "https://llm.example.org/api", "/v1"),
        ("https://llm.example.org/v1beta/openai", "https://llm.example.org", "/v1beta/openai"),
        ("http://[::1]:8080", "http://[::1]:8080", "/v1"),
    ],
)
async def test_base_path_is_v1_unless_another_is_given(url: str, root: str, api: str) -> None:
    service = await _read(url, "10.0.0.1")
    assert (service.root, service.api) == (root, api)


@pytest.mark.parametrize(
    "url",
    [
        *("llm.example.org", "ftp://llm", "http://", "http://a b/", "https:///v1"),
        *("http://user:word@llm", "http://127.0.0.1@llm.example.org", "http://llm?key=1"),
        *("http://llm#x", "http://127.0.0.1\\@llm.example.org/"),
    ],
)
async def test_what_is_no_plain_address_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        await _read(url)
    assert caught.value.message.startswith("RAG_SOURCE_LLM_URL ")
    assert "word" not in caught.value.message
    assert caught.value.hint


async def test_host_is_judged_as_the_client_will_connect_to_it() -> None:
    asked: list[str] = []

    async def lookup(host: str) -> list[str]:
        asked.append(host)
        return ["8.8.8.8"]

    service = await read_service("https://exämple.org", variable="X", lookup=lookup)
    assert asked == ["xn--exmple-cua.org"] == [httpx.URL(service.root).raw_host.decode()]


async def test_local_service_is_asked_for_what_only_llama_cpp_has() -> None:
    local, outside = await _read("http://llm", "10.0.0.1"), await _read("https://llm", "8.8.8.8")
    assert (local.is_local, outside.is_local) == (True, False)
    assert local.dialect("x").has_llama_routes
    assert not outside.dialect("x").has_llama_routes
    assert not outside.dialect("x").is_ours


async def test_key_is_shown_nowhere() -> None:
    service = await _read("https://llm.example.org", "8.8.8.8", key="a-secret-key")
    assert (await service.address()).api_key == "a-secret-key"
    assert "a-secret-key" not in repr(service) + repr(await service.address())


async def test_service_outside_without_encryption_is_known_as_such() -> None:
    assert (await _read("http://llm.example.org", "8.8.8.8")).leaks
    assert not (await _read("https://llm.example.org", "8.8.8.8")).leaks
    assert not (await _read("http://llm", "10.0.0.1")).leaks


async def test_address_stands_for_itself_and_an_unknown_name_for_nothing() -> None:
    assert await look_up("127.0.0.1") == ["127.0.0.1"]
    assert await look_up("::1") == ["::1"]
    assert await look_up("no..name") == []


async def test_proxy_of_the_environment_sees_only_what_goes_outside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    local, outside = await _read("http://llm", "10.0.0.1"), await _read("https://llm", "8.8.8.8")
    async with service_client(local) as near, service_client(outside) as far:
        assert not near.trust_env
        assert far.trust_env


async def test_certificates_are_verified_and_redirects_not_followed() -> None:
    for service in (
        await _read("https://llm", "10.0.0.1"),
        await _read("https://l.org", "8.8.8.8"),
    ):
        async with service_client(service) as client:
            assert not client.follow_redirects
            pool = client._transport._pool  # type: ignore[attr-defined]  # httpx shows it nowhere else
            context = pool._ssl_context
            assert context.verify_mode == ssl.CERT_REQUIRED
            assert context.check_hostname
