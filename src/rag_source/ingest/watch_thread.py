"""The blocking half of the watch: hears the file system, or looks at times, and says when to look.

It runs in a thread of its own, because the watch, and any look at a network drive, can block. What
it hears is a hint and never a list of changes: events get lost, renames arrive in halves. It
therefore promises one thing, that a look follows every change, and every watch is open before the
look that it asks for.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Collection
from contextlib import closing
from pathlib import Path

from watchfiles import watch

from rag_source.domain.errors import ConfigurationError
from rag_source.ingest.pacing import Backoff, Debounce
from rag_source.ingest.watch_policy import (
    Reason,
    WatchPolicy,
    WatchState,
    no_events,
    on_network_drive,
)
from rag_source.ingest.watched_folder import Root, concerns, folders_below, probe, remote_kind

__all__ = ["WatchThread"]

logger = logging.getLogger(__name__)

# From so many changes on some may have been lost (the kernel keeps 16,384 events and drops the rest
# without a word from the library), and with them the folders to watch.
_MANY_CHANGES = 1000
# A folder that goes between the list of folders and its watch fails the watch; so often in a row.
_RETRIES = 5
_MOUNTS = Path("/proc/self/mountinfo")


class WatchThread:
    """`run` blocks until `stop`; the callbacks are called in the thread of `run`.

    Args:
        root: The folder; it may be missing.
        policy: Not `off`.
        ignored: Absolute folders inside the root whose changes are the program's own.
        on_look: Gets the reasons to look, and how many changes were heard.
        on_state: Gets each new state.
    """

    def __init__(
        self,
        root: Path,
        policy: WatchPolicy,
        *,
        ignored: Collection[Path],
        on_look: Callable[[frozenset[Reason], int], None],
        on_state: Callable[[WatchState], None],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._path = root
        self._policy = policy
        self._ignored = frozenset(os.path.realpath(path) for path in ignored)
        self._on_look = on_look
        self._on_state = on_state
        self._now = now
        self._stop = threading.Event()
        self._debounce = Debounce(quiet_s=policy.quiet_s, limit_s=policy.limit_s)
        self._reasons: set[Reason] = {"start"}
        self._root: Root | None = None
        self._folders: frozenset[str] = frozenset()
        self._state = WatchState(kind="starting")
        self._is_open = False
        self._has_new_folders = False
        self._root_backoff = Backoff(first_s=policy.retry_s, limit_s=policy.retry_limit_s)
        self._watch_backoff = Backoff(first_s=policy.retry_s, limit_s=policy.retry_limit_s)
        self._opened_at = 0.0
        self._failures = 0
        self._next_root_check = self._next_look = self._next_events = now()

    def stop(self) -> None:
        """End `run` within some `step_s`; callable from any thread."""
        self._stop.set()

    def run(self) -> None:
        """Watch until stopped, whatever happens to the folder."""
        while not self._stop.is_set():
            try:
                self._watch()
            except ConfigurationError as error:
                self._miss(error)
            except Exception:
                # A fault here must not leave the index behind the folder for good.
                logger.exception("watching the folder of documents failed; it is tried again")
                self._reasons.add("poll")
                self._stop.wait(self._watch_backoff.next_s())

    def is_set(self) -> bool:
        """What `watchfiles` asks of its stop event at each step: whether to end this watch.

        All times are kept here, by the monotonic clock: the library's own follow the wall clock.

        Raises:
            ConfigurationError: The folder is missing; ends the watch, too.
        """
        if self._stop.is_set():
            return True
        if not self._is_open:
            if self._is_another_root():
                return True
            self._opened()
        now = self._now()
        if now >= self._next_root_check and self._is_another_root():
            return True
        if self._debounce.is_due(now):
            self._reasons.add("events")
            if self._is_another_root() or self._has_new_folders:
                return True
            self._ask_for_look()
        if now >= self._next_look:
            self._reasons.add("poll")
            # A new watch, in case that lost events have left it without some folder.
            return True
        return False

    def _watch(self) -> None:
        """Watch until a fresh start is due.

        Raises:
            ConfigurationError: The folder is missing.
        """
        self._check_root()
        self._root_backoff.reset()
        remote = ""
        if self._policy.mode == "auto":
            remote = remote_kind(self._known_root().path, _mounts())
            if not remote and self._now() >= self._next_events and self._follow():
                return
        if remote:
            self._report(on_network_drive(remote, self._policy.poll_s))
        elif self._policy.mode == "poll":
            self._report(WatchState(kind="polling"))
        self._poll(can_follow=self._policy.mode == "auto" and not remote)

    def _follow(self) -> bool:
        """Listen to events until a fresh start is due; False if the system gives none."""
        self._is_open = False
        root = self._known_root().path
        self._folders = folders_below(root, self._ignored, self._stop.is_set)
        try:
            with closing(
                watch(
                    *self._folders,
                    watch_filter=None,
                    debounce=1000,
                    step=round(1000 * self._policy.step_s),
                    stop_event=self,
                    rust_timeout=0,
                    debug=False,
                    force_polling=False,
                    # Of our own list: the library would follow links, and end at a limit in silence
                    # if it were told to overlook folders without permission (1.3.0).
                    recursive=False,
                    ignore_permission_denied=False,
                )
            ) as batches:
                for changes in batches:
                    self._hear([path for _, path in changes])
        except (OSError, RuntimeError, UnicodeError) as error:
            return self._has_recovered(error)
        return True

    def _has_recovered(self, error: Exception) -> bool:
        """Whether events are worth another try at once, after a moment's rest."""
        if self._is_open:
            # The library gives up at a name that is not UTF-8.
            logger.debug("the watch ended: %s", error)
            self._reasons.add("events")
            if self._now() - self._opened_at >= self._policy.retry_limit_s:
                self._watch_backoff.reset()
            self._stop.wait(self._watch_backoff.next_s())
            return True
        self._failures += 1
        if isinstance(error, FileNotFoundError) and self._failures < _RETRIES:
            self._stop.wait(self._policy.step_s)
            return True
        self._failures = 0
        self._next_events = self._now() + self._policy.recheck_s
        self._report(no_events(error, self._policy.poll_s))
        return False

    def _opened(self) -> None:
        """The watch is open, as every step that the library takes tells: now look."""
        self._is_open = True
        self._failures = 0
        self._opened_at = self._now()
        self._report(WatchState(kind="events"))
        self._has_new_folders = False
        self._next_look = self._opened_at + self._policy.recheck_s
        # Whatever changed before it was open was not heard.
        if not self._reasons:
            self._reasons.add("poll")
        self._ask_for_look()
        # A folder made while the list was read, or just after, is in neither.
        root = self._known_root().path
        if folders_below(root, self._ignored, self._stop.is_set) != self._folders:
            self._has_new_folders = True
            self._debounce.hear(self._now())

    def _hear(self, paths: list[str]) -> None:
        root = self._known_root().path
        paths = [path for path in paths if concerns(path, root, self._ignored)]
        if not paths:
            return
        self._debounce.hear(self._now(), len(paths))
        if root in paths:
            self._next_root_check = self._now()
        self._has_new_folders = (
            self._has_new_folders
            or self._debounce.count >= _MANY_CHANGES
            or any(path in self._folders or _is_folder(path) for path in paths)
        )

    def _poll(self, *, can_follow: bool) -> None:
        """Ask for a look every `poll_s`, until events may be tried again."""
        if self._reasons:
            self._ask_for_look()
            self._next_look = self._now() + self._policy.poll_s
        while not self._stop.wait(self._policy.step_s):
            now = self._now()
            if now >= self._next_root_check and self._is_another_root():
                return
            if now >= self._next_look:
                self._reasons.add("poll")
                if self._is_another_root():
                    return
                self._ask_for_look()
                self._next_look = now + self._policy.poll_s
            if can_follow and now >= self._next_events:
                return

    def _check_root(self) -> None:
        """Look at the folder.

        Raises:
            ConfigurationError: It is missing, or what stands in its place is empty.
        """
        found = probe(self._path)
        known = self._root
        was_away = self._state.kind == "missing"
        if (
            known is not None
            and not known.is_empty
            and found.is_empty
            and (was_away or known.identity != found.identity)
        ):
            raise ConfigurationError(
                f"the folder of documents {str(self._path)!r} is empty and no longer the same",
                hint="Check that its disk is there; it is watched again as soon as it returns.",
                code="corpus_missing",
            )
        self._root = found
        self._next_root_check = self._now() + self._policy.root_check_s

    def _is_another_root(self) -> bool:
        """Look at the folder; True if another has taken its place, which wants a new watch."""
        before = self._known_root()
        self._check_root()
        if self._known_root().identity == before.identity:
            return False
        self._reasons.add("returned")
        return True

    def _known_root(self) -> Root:
        assert self._root is not None
        return self._root

    def _miss(self, error: ConfigurationError) -> None:
        """Wait for the folder. No look is asked for: what is unplugged is not deleted."""
        self._report(WatchState(kind="missing", message=error.message, hint=error.hint))
        self._debounce.clear()
        self._reasons = {"start"} if "start" in self._reasons else {"returned"}
        self._stop.wait(self._root_backoff.next_s())

    def _ask_for_look(self) -> None:
        reasons, self._reasons = frozenset(self._reasons), set()
        count = self._debounce.count
        self._debounce.clear()
        self._on_look(reasons, count)

    def _report(self, state: WatchState) -> None:
        if state == self._state:
            return
        self._state = state
        if state.message:
            logger.warning("%s. %s", state.message, state.hint)
        self._on_state(state)


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _mounts() -> str:
    try:
        return _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
