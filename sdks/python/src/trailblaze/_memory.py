from __future__ import annotations

import threading
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple

from ._json import text_of


class Memory(Mapping[str, Any]):
    """The session's memory at the time the call was sent, with the changes of this call and of the tools that it called.

    It reads like a dict. Changes are sent to the session with the next call of another tool, or with the result, if its
    ``_meta`` contains ``client.result_meta()``.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._lock = threading.Lock()
        self._values: Dict[str, Any] = dict(values)
        self._changes: Dict[str, Optional[str]] = {}  # changes that were not sent yet; None is a deletion

    def __getitem__(self, name: str) -> Any:
        with self._lock:
            return self._values[name]

    def __iter__(self) -> Iterator[str]:
        with self._lock:
            return iter(list(self._values))

    def __len__(self) -> int:
        with self._lock:
            return len(self._values)

    def __repr__(self) -> str:
        with self._lock:
            return f"Memory({self._values!r})"

    def set(self, name: str, value: Any) -> None:
        """Sets a value. Values are text, and other values become JSON. Raises TypeError for None."""
        if value is None:
            raise TypeError(f"memory.set({name!r}, None): a value is required; memory.delete removes a name")
        text = text_of(value)
        with self._lock:
            self._values[name] = self._changes[name] = text

    def delete(self, name: str) -> None:
        """Deletes a name, even if it is not set here, because another tool may be setting it now."""
        with self._lock:
            self._values.pop(name, None)
            self._changes[name] = None

    def _pending(self) -> Dict[str, Optional[str]]:
        with self._lock:
            return dict(self._changes)

    def _sent(self, changes: Mapping[str, Optional[str]]) -> None:
        """Removes changes that were sent, except values that were set again since."""
        with self._lock:
            for name, value in changes.items():
                if name in self._changes and self._changes[name] == value:
                    del self._changes[name]

    def _apply(self, delta: Mapping[str, Any], deletions: List[str]) -> None:
        """Applies the changes of other tools, except to names that this call has changed since."""
        with self._lock:
            for name, value in delta.items():
                if name not in self._changes:
                    self._values[name] = value
            for name in deletions:
                if name not in self._changes:
                    self._values.pop(name, None)


def split(changes: Mapping[str, Optional[str]]) -> Tuple[Dict[str, str], List[str]]:
    """Splits changes into delta and deletions (see the protocol)."""
    delta = {name: value for name, value in changes.items() if value is not None}
    return delta, [name for name, value in changes.items() if value is None]
