"""JSON Schemas of type hints, and values of those types read from JSON."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import math
import sys
import types
import typing
from typing import Any, Callable, Dict, Iterator, List, Literal, Mapping, NamedTuple, Optional, Tuple, Union

Read = Callable[[Any, str], Any]


class Hint(NamedTuple):
    """What a type hint means. ``read`` gets a JSON value and its path and returns the value, or raises ArgumentError."""

    schema: Dict[str, Any]
    read: Read


class ArgumentError(ValueError):
    """An argument that does not match its type hint."""


_NONE = type(None)
_NAMES = {str: "text", bool: "true or false", int: "a whole number", float: "a number", list: "a list", dict: "an object", _NONE: "null"}
_UNIONS = (Union, getattr(types, "UnionType", Union))


def hint_of(hint: Any) -> Hint:
    """Returns the meaning of a type hint. Raises TypeError for one that has no JSON Schema."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hasattr(hint, "__metadata__"):
        return _annotated(args[0], hint.__metadata__)
    if hint in (Any, object):
        return Hint({}, lambda value, path: value)
    if hint is None or hint is _NONE:
        return _plain(_NONE, "null")
    if hint in (str, bool, int, float):
        return _plain(hint, {str: "string", bool: "boolean", int: "integer", float: "number"}[hint])
    if origin in _UNIONS:
        return _union([hint_of(arg) for arg in args])
    if origin is Literal:
        return _choice({value: value for value in args})
    if hint in (list, List) or origin in (list, typing.get_origin(typing.Sequence[int])):
        return _list(hint_of(args[0]) if args else hint_of(Any))
    if hint in (dict, Dict) or origin in (dict, typing.get_origin(typing.Mapping[str, int])):
        if not args or args[0] in (str, Any):
            return _mapping(hint_of(args[1]) if args else hint_of(Any))
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return _choice({member.value: member for member in hint})
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _dataclass(hint)
    if typing.is_typeddict(hint) if sys.version_info >= (3, 10) else hasattr(hint, "__required_keys__"):
        return _typed_dict(hint)
    raise TypeError(f"{getattr(hint, '__name__', hint)} has no JSON Schema; use str, int, float, bool, None, Any, Literal, list, "
                    "dict with str keys, Optional, Union, an Enum, a dataclass or a TypedDict")


def _annotated(hint: Any, metadata: Tuple[Any, ...]) -> Hint:
    """Returns a hint whose description is the first text of Annotated."""
    schema, read = hint_of(hint)
    text = next((m for m in metadata if isinstance(m, str)), None)
    return Hint(schema if text is None else {**schema, "description": text}, read)


def _plain(kind: type, name: str) -> Hint:
    def read(value: Any, path: str) -> Any:
        if kind is float and type(value) is int:
            return float(value)
        if kind is int and type(value) is float and value.is_integer():
            return int(value)
        _expect(kind, value, path)
        return value

    return Hint({"type": name}, read)


def _union(parts: List[Hint]) -> Hint:
    def read(value: Any, path: str) -> Any:
        reasons = []
        for part in parts:
            try:
                return part.read(value, path)
            except ArgumentError as e:
                reasons.append(str(e))
        raise ArgumentError("; or ".join(reasons))

    return Hint({"anyOf": [part.schema for part in parts]}, read)


def _choice(values: Dict[Any, Any]) -> Hint:
    def read(value: Any, path: str) -> Any:
        for known, meant in values.items():
            if _same(known, value):
                return meant
        raise ArgumentError(f"{path} must be one of {', '.join(map(repr, values))}, not {value!r}")

    return Hint({"enum": list(values)}, read)


def _same(a: Any, b: Any) -> bool:
    """Compares JSON values. Other programs write 1.0 as 1."""
    return a == b and (type(a) is type(b) or {type(a), type(b)} == {int, float})


def _list(item: Hint) -> Hint:
    def read(value: Any, path: str) -> Any:
        _expect(list, value, path)
        return [item.read(v, f"{path}.{i}") for i, v in enumerate(value)]

    return Hint({"type": "array", "items": item.schema}, read)


def _mapping(item: Hint) -> Hint:
    def read(value: Any, path: str) -> Any:
        _expect(dict, value, path)
        return {name: item.read(v, f"{path}.{name}") for name, v in value.items()}

    return Hint({"type": "object", "additionalProperties": item.schema}, read)


class Field(NamedTuple):
    """A field of an object."""

    hint: Hint
    required: bool
    default: Any = None  # shown in the schema unless it is None


def object_of(fields: Mapping[str, Field]) -> Hint:
    """Returns the hint of a dict with these fields and no others."""
    properties = {
        name: f.hint.schema if f.default is None else {**f.hint.schema, "default": f.default} for name, f in fields.items()
    }
    required = [name for name, f in fields.items() if f.required]

    def read(value: Any, path: str) -> Any:
        _expect(dict, value, path or "arguments")
        for name in required:
            if name not in value:
                raise ArgumentError(f"{_join(path, name)} is missing")
        for name in value:
            if name not in fields:
                raise ArgumentError(f"{_join(path, name)} is unknown; known: {', '.join(fields) or 'none'}")
        return {name: fields[name].hint.read(v, _join(path, name)) for name, v in value.items()}

    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return Hint(schema, read)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _expect(kind: type, value: Any, path: str) -> None:
    if type(value) is not kind:
        raise ArgumentError(f"{path} must be {_NAMES[kind]}, not {_NAMES.get(type(value), type(value).__name__)}")


_open: List[type] = []  # the classes whose fields are being read


@contextlib.contextmanager
def _hints_of(kind: Any) -> Iterator[Dict[str, Any]]:
    """Yields the type hints of a class. Raises TypeError for one that is not defined, or within that of the class itself."""
    if kind in _open:
        raise TypeError(f"{kind.__name__} contains itself, so it has no JSON Schema")
    try:
        hints = typing.get_type_hints(kind, include_extras=True)
    except NameError as e:
        raise TypeError(f"a type hint of {kind.__name__} is not defined at run time: {e}; import it outside of TYPE_CHECKING") from e
    _open.append(kind)
    try:
        yield hints
    finally:
        _open.remove(kind)


def _dataclass(kind: Any) -> Hint:
    fields = {}
    with _hints_of(kind) as hints:
        for f in dataclasses.fields(kind):
            if f.init:
                has_default = f.default is not dataclasses.MISSING
                required = not has_default and f.default_factory is dataclasses.MISSING
                fields[f.name] = Field(hint_of(hints[f.name]), required, json_default(f.default) if has_default else None)
    inner = object_of(fields)
    return Hint(inner.schema, lambda value, path: kind(**inner.read(value, path)))


def _typed_dict(kind: Any) -> Hint:
    with _hints_of(kind) as hints:
        return object_of({
            name: Field(hint_of(_without_qualifier(hint)), _is_required(kind, name, hint)) for name, hint in hints.items()
        })


def _qualifier(hint: Any) -> str:
    return getattr(typing.get_origin(hint), "_name", None) or ""


def _without_qualifier(hint: Any) -> Any:
    return typing.get_args(hint)[0] if _qualifier(hint) in ("Required", "NotRequired", "ReadOnly") else hint


def _is_required(kind: Any, name: str, hint: Any) -> bool:
    # __required_keys__ is wrong where annotations are texts, as with `from __future__ import annotations`.
    return {"Required": True, "NotRequired": False}.get(_qualifier(hint), name in kind.__required_keys__)


def json_default(value: Any) -> Optional[Any]:
    """Returns a default as JSON, None if it has no JSON."""
    if isinstance(value, enum.Enum):
        value = value.value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool)) else None
