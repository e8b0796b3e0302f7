from __future__ import annotations

import json
import threading
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple


class Memory(Mapping[str, Any]):
    """The session's memory as it was when the call was sent, with what this call has changed and learnt since.

    Reading is like reading a dict. Changes go to the session with the next call of another tool, or with the result, if it
    carries ``client.result_meta()``.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._lock = threading.Lock()
        self._values: Dict[str, Any] = dict(values)
        self._changes: Dict[str, Optional[str]] = {}  # what the session has not been told yet; None is a deletion

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
        """Remembers a value. Values are texts; anything else becomes the text that JSON has for it."""
        if value is None:
            raise TypeError(f"memory.set({name!r}, None): there is no value; memory.delete takes a name out")
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, allow_nan=False)
        with self._lock:
            self._values[name] = self._changes[name] = text

    def delete(self, name: str) -> None:
        """Takes a name out, also one that is not known here: another tool may be setting it now."""
        with self._lock:
            self._values.pop(name, None)
            self._changes[name] = None

    def _pending(self) -> Dict[str, Optional[str]]:
        with self._lock:
            return dict(self._changes)

    def _told(self, changes: Mapping[str, Optional[str]]) -> None:
        """The session knows these changes; what was set again meanwhile it does not."""
        with self._lock:
            for name, value in changes.items():
                if name in self._changes and self._changes[name] == value:
                    del self._changes[name]

    def _learn(self, delta: Mapping[str, Any], deletions: List[str]) -> None:
        """Takes over what other tools changed, except where this call has something newer."""
        with self._lock:
            for name, value in delta.items():
                if name not in self._changes:
                    self._values[name] = value
            for name in deletions:
                if name not in self._changes:
                    self._values.pop(name, None)


def split(changes: Mapping[str, Optional[str]]) -> Tuple[Dict[str, str], List[str]]:
    """What the protocol calls delta and deletions."""
    delta = {name: value for name, value in changes.items() if value is not None}
    return delta, [name for name, value in changes.items() if value is None]
