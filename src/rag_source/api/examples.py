"""An example of each form that is asked or sent; a test checks that they hold."""

from __future__ import annotations

from typing import Any

__all__ = ["EXAMPLES"]

_BOX = {"page": 2, "x0": 0.118, "y0": 0.301, "x1": 0.642, "y1": 0.318}
_CITATION = {
    "marker": 1,
    "status": "verified",
    "score": 100.0,
    "quote": "The guarantee lasts two years from delivery.",
    "path": "contract.pdf",
    "page": 2,
    "block": "b14",
    "start": 2210,
    "end": 2254,
    "boxes": [_BOX],
    "chunk_id": "5f0c2a1e-3",
    "reason": "",
    "added": False,
    "sentence": [0, 40],
    "occurrences": 1,
    "table": None,
    "doc_id": "5f0c2a1e",
    "ranges": [[2210, 2254]],
}
_SEARCH = {
    "query": "How long is the guarantee?",
    "mode": "hybrid+rerank",
    "threshold": 0.44,
    "results": [
        {
            "rank": 1,
            "score": 0.93,
            "kept": True,
            "path": "contract.pdf",
            "page": 2,
            "section": "Terms › Guarantee",
            "text": "The guarantee lasts two years from delivery.",
            "chunk_id": "5f0c2a1e-3",
            "doc_id": "5f0c2a1e",
            "ranges": [[2210, 2254]],
        }
    ],
    "timings_ms": {"embed": 11.0, "engine": 3.1, "rerank": 2.4, "total": 17.2},
}
_ANSWER = {
    "question": "How long is the guarantee?",
    "answer": "It lasts two years from delivery [1].",
    "refused": False,
    "reason": "",
    "language": "en",
    "citations": [_CITATION],
    "uncited_figures": [],
    "badge": "1 of 1 sources verified",
    "near_miss": None,
    "timings_ms": {"search": 18.4, "generate": 2310.0, "verify": 6.0, "total": 2340.1},
    "calculation": None,
    "conversation_id": "b3d6c0a2",
    "answer_id": "91e7f4d8",
}
_DOCUMENT = {
    "doc_id": "5f0c2a1e",
    "path": "contract.pdf",
    "status": "ready",
    "code": "",
    "message": "",
    "warnings": [],
    "format": "pdf",
    "title": "Framework contract",
    "language": "en",
    "size_bytes": 182044,
    "pages": 2,
    "blocks": 61,
    "tables": 1,
    "chunks": 9,
    "indexed_at": "2026-11-30T09:12:44+00:00",
}
_PAGE = {"number": 2, "width": 595.0, "height": 842.0}
_PLACE = {
    "status": "verified",
    "score": 100.0,
    "reason": "",
    "path": "contract.pdf",
    "doc_id": "5f0c2a1e",
    "page": 2,
    "ranges": [[2210, 2254]],
    "boxes": [_BOX],
    "source_words": "The guarantee lasts two years from delivery.",
}
_CONVERSATION = {
    "id": "b3d6c0a2",
    "title": "How long is the guarantee?",
    "created_at": "2026-11-30T09:20:00.000+00:00",
    "updated_at": "2026-11-30T09:20:02.340+00:00",
}
_JOB = {
    "path": "scan.pdf",
    "state": "parsing",
    "done": 12,
    "total": 300,
    "priority": 0,
    "queued_at": "2026-11-30T09:15:00+00:00",
}
_CHECK = {"name": "disk", "ok": True, "detail": "412 GB are free", "remedy": ""}
_PROJECT = {"name": "water", "folder": "/srv/water/documents"}

EXAMPLES: dict[str, Any] = {
    "AskRequest": {"question": "How long is the guarantee?", "sources": ["contract.pdf"]},
    "AskResponse": _ANSWER,
    "AuditResponse": {
        "entries": [
            {
                "at": "2026-11-30T09:20:02.340+00:00",
                "kind": "request",
                "name": "POST /v1/ask/stream",
                "status": 200,
                "milliseconds": 2341.7,
                "request_id": "9c1f0a77d2e4b5c8",
                "subject": "",
            }
        ]
    },
    "ChecksResponse": {"checks": [_CHECK]},
    "ConversationOut": {**_CONVERSATION, "answers": 1},
    "ConversationResponse": {
        **_CONVERSATION,
        "answers": [
            {
                **_ANSWER,
                "asked_at": "2026-11-30T09:20:02.340+00:00",
                "search": _SEARCH,
                "feedback": {"verdict": "good", "comment": ""},
            }
        ],
    },
    "DocumentResponse": {**_DOCUMENT, "pages": [_PAGE], "view": "pages", "length": 12034},
    "DocumentsResponse": {"documents": [_DOCUMENT]},
    "ErrorBody": {
        "code": "not_found",
        "message": "there is no document '5f0c2a1f'",
        "hint": "`rag-source docs` lists them",
    },
    "FeedbackRequest": {"verdict": "bad", "comment": "It is three years for spare parts."},
    "HealthResponse": {"status": "ok", "sovereignty": "local", "documents": 12, "problems": []},
    "IngestResponse": {
        "added": 1,
        "updated": 0,
        "removed": 0,
        "unchanged": 11,
        "failed": [{"path": "old.pdf", "code": "encrypted", "message": "'old.pdf' is locked"}],
        "chunks": 9,
        "seconds": 2.41,
    },
    "JobRequest": {"path": "scan.pdf"},
    "JobsResponse": {"paused": False, "jobs": [_JOB]},
    "LocateRequest": {"doc_id": "5f0c2a1e", "ranges": [[2210, 2254]]},
    "LocationResponse": {
        "boxes": [_BOX],
        "anchors": [{"element": "b14", "start": 0, "end": 44}],
        "place": "p. 2",
    },
    "PageWordsResponse": {
        **_PAGE,
        "text_start": 1870,
        "words": [
            {
                "text": "guarantee",
                "start": 2214,
                "end": 2223,
                "x0": 0.151,
                "y0": 0.301,
                "x1": 0.236,
                "y1": 0.318,
                "confidence": 100.0,
            }
        ],
    },
    "ProjectOut": _PROJECT,
    "ProjectRequest": _PROJECT,
    "ProjectsResponse": {"projects": [{"name": "default", "folder": "/srv/documents"}, _PROJECT]},
    "SearchRequest": {"query": "guarantee", "mode": "hybrid+rerank", "limit": 6, "sources": []},
    "SearchResponse": _SEARCH,
    "SessionCode": {"code": "qZ0yqk4uJ2-oT4m2m3z1bYh0nWJ6o0o3v9K7xg1hS2A", "expires_in_s": 600},
    "SessionRequest": {"code": "qZ0yqk4uJ2-oT4m2m3z1bYh0nWJ6o0o3v9K7xg1hS2A"},
    "UploadResponse": {"path": "invoices/2026-118.pdf", "size_bytes": 48211, "replaced": False},
    "VerifyRequest": {"quote": "The guarantee lasts two years from delivery."},
    "VerifyResponse": {
        **_PLACE,
        "quote": "The guarantee lasts two years from delivery.",
        "candidates": [],
    },
}
"""By the name of the form in the schema. Forms that only stand inside others have none."""
