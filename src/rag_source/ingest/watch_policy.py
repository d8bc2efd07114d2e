"""How a folder is watched, and the words for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Reason", "WatchPolicy", "WatchState", "no_events", "on_network_drive"]

Reason = Literal["start", "events", "poll", "returned", "asked"]
"""Why to look: the watch begins, something changed, time has passed, the folder is back, a call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchPolicy:
    """How a folder is watched; all times in seconds.

    `auto` takes events, and looks every `poll_s` where there are none (network drives, a limit of
    the system); `poll` only looks; `off` does neither. A look follows when nothing has changed for
    `quiet_s`, at the latest `limit_s` after the first change. With events, `recheck_s` bounds how
    long a lost one can matter; without, it is when events are tried again. The folder itself is
    looked at every `root_check_s`, and while it is missing after `retry_s`, doubling up to
    `retry_limit_s`. `step_s` is how long the thread sleeps at a time.
    """

    mode: Literal["auto", "poll", "off"] = "auto"
    poll_s: float = 60.0
    quiet_s: float = 0.5
    limit_s: float = 5.0
    recheck_s: float = 600.0
    root_check_s: float = 2.0
    retry_s: float = 1.0
    retry_limit_s: float = 30.0
    step_s: float = 0.1

    def __post_init__(self) -> None:
        times = (self.poll_s, self.quiet_s, self.recheck_s, self.root_check_s, self.retry_s)
        if min(*times, self.step_s) <= 0:
            raise ValueError("every time of a watch must be positive")
        if self.limit_s < self.quiet_s or self.retry_limit_s < self.retry_s:
            raise ValueError("a limit must not be below the time that it limits")


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchState:
    """How the folder is watched at the moment; `message` and `hint` say why not by events."""

    kind: Literal["starting", "events", "polling", "off", "missing"]
    message: str = ""
    hint: str = ""


def on_network_drive(kind: str, poll_s: float) -> WatchState:
    """The state of a folder whose drive tells nothing of what others write to it."""
    return _polling(f"it is on a network drive ({kind})", poll_s)


def no_events(error: Exception, poll_s: float) -> WatchState:
    """The state of a folder for which the system gives no events, for the library's reason."""
    text = str(error)
    hint = ""
    if "watch limit" in text or "os error 28" in text:
        hint = "Raise the limit with `sysctl fs.inotify.max_user_watches=1048576`. "
    elif "os error 24" in text:
        hint = "Raise the limit with `sysctl fs.inotify.max_user_instances=1024`. "
    # The library's message carries the path and the form of its own error behind it.
    return _polling(text.split(" about [")[0].rstrip("."), poll_s, hint)


def _polling(why: str, poll_s: float, hint: str = "") -> WatchState:
    return WatchState(
        kind="polling",
        message=f"the folder of documents cannot be watched by events: {why}",
        hint=f"{hint}It is looked through every {poll_s:g} s instead (RAG_SOURCE_DATA_POLL_S).",
    )
