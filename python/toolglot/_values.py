"""Arguments as annotations say: what JSON holds, as dates, enums, dataclasses, pydantic models and the like.

The way back from :mod:`toolglot.functions`, type for type. What belongs to pydantic (models, its dataclasses, notes in
``Annotated``) is read by pydantic itself, so that its validators are asked.
"""

from __future__ import annotations

import base64
import binascii
import collections.abc
import contextlib
import dataclasses
import datetime
import decimal
import enum
import inspect
import json
import math
import pathlib
import re
import types
import typing
import uuid
from collections.abc import Callable
from typing import Any

from ._core import ArgumentError, ToolCall
from .errors import BadOptionError, CallError
from .functions import context_parameters, is_function, parameters

__all__ = ["arguments_for", "into", "invoke"]

_LISTS = (list, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)
_SETS = (set, collections.abc.Set, collections.abc.MutableSet)
_MAPS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
_MARKS = tuple(
    getattr(typing, name) for name in ("Required", "NotRequired", "ReadOnly", "Final") if hasattr(typing, name)
)
_ANYTHING = (Any, object, inspect.Parameter.empty)


class _Unfit(Exception):
    """A value that is not what its annotation says."""


def into(call: ToolCall, model: Any) -> Any:
    """Read the arguments of a call that may run as `model`; see ``ToolCall.into``."""
    _runnable(call)
    reader = _Reader()
    value = reader.read(_loads(call.arguments_json), model, "")
    reader.settle(call)
    return value


def arguments_for(function: Callable[..., Any], call: ToolCall) -> dict[str, Any]:
    """Return the arguments of a call as `function` takes them, by the names of its parameters.

    Raises:
        CallError: The call must not run, or its arguments are not what the annotations say.
    """
    _runnable(call)
    rest = dict(_loads(call.arguments_json))
    reader = _Reader()
    given: dict[str, Any] = {}
    shown = {parameter.name: (parameter, hint) for parameter, hint in parameters(function)}
    for name in context_parameters(function):
        del shown[name]
    # What the host gives is not the model's to set, also where the function takes any name.
    ours = {name for name in inspect.signature(function).parameters if name not in shown} & rest.keys()
    more = {name: rest.pop(name) for name in ours}
    for name, (parameter, hint) in shown.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            given.update({key: reader.read(value, hint, _below("", key)) for key, value in rest.items()})
            rest = {}
        elif name in rest:
            given[name] = reader.read(rest.pop(name), hint, _below("", name))
        elif callable(getattr(parameter.default, "is_required", None)):  # pydantic's Field.
            if parameter.default.is_required():
                reader.missing("", name)
            else:
                given[name] = parameter.default.get_default(call_default_factory=True)
        elif parameter.default is parameter.empty:
            reader.missing("", name)
    for key in [*rest, *more]:
        reader.unfit(_below("", key), "additionalProperties", "there is no such parameter")
    reader.settle(call)
    return given


def invoke(function: Callable[..., Any], call: ToolCall, context: Any) -> Callable[[], Any]:
    """Return the call of `function` with the arguments of `call`, ready to be made.

    Raises:
        CallError: As :func:`arguments_for`.
        BadOptionError: The function takes a context, and there is none.
    """
    if isinstance(function, type) and is_function(function):
        model = into(call, function)
        return lambda: model
    given = arguments_for(function, call)
    for name in context_parameters(function):
        if context is not None:
            given[name] = context
        elif inspect.signature(function).parameters[name].default is inspect.Parameter.empty:
            raise BadOptionError(f"the tool {call.name!r} takes a context", "context")
    return lambda: function(**given)


def _runnable(call: ToolCall) -> None:
    if not call.runnable:
        raise CallError(call.error_message() or "", call.name, call=call)


def _loads(text: str) -> Any:
    # Digits beyond a float's are kept for Decimal, and more than `int` reads as well.
    return json.loads(text, parse_float=decimal.Decimal, parse_int=_integer)


def _integer(digits: str) -> int | decimal.Decimal:
    try:
        return int(digits)
    except ValueError:
        return decimal.Decimal(digits)


def _below(place: str, key: str | int) -> str:
    return f"{place}/{str(key).replace('~', '~0').replace('/', '~1')}"


class _Reader:
    """Reads values by annotations, and keeps what does not fit."""

    def __init__(self) -> None:
        self.errors: list[ArgumentError] = []
        self.ignored = 0
        """Members that no field takes: of two classes in a union, the one that leaves fewer is meant."""

    def settle(self, call: ToolCall) -> None:
        """Raise what was found, as an error of `call`."""
        if self.errors:
            refused = call._with_errors(self.errors)
            raise CallError(refused.error_message() or "", call.name, call=refused)

    def unfit(self, place: str, keyword: str, message: str) -> None:
        self.errors.append(ArgumentError(place, keyword, message))

    def missing(self, place: str, name: str) -> None:
        self.unfit(place, "required", f"{name!r} is required and missing")

    def read(self, value: Any, hint: Any, place: str) -> Any:
        """The value as `hint` says; anything where it does not fit, which is then among the errors."""
        try:
            return self._read(value, hint, place)
        except _Unfit as error:
            keyword, message = error.args
            self.unfit(place, keyword, message)
            return None

    def _read(self, value: Any, hint: Any, place: str) -> Any:
        if _is_one_of(hint, _ANYTHING) or isinstance(hint, typing.TypeVar):
            return _plain(value)
        if hint is None:
            hint = type(None)
        if _is_pydantics(hint):
            return self._by_pydantic(value, hint, place)
        origin, args = typing.get_origin(hint), typing.get_args(hint)
        if origin is typing.Annotated or origin in _MARKS:
            return self._read(value, args[0], place)
        if origin is typing.Literal:
            return _literal(value, args)
        if origin in (typing.Union, types.UnionType):
            return self._union(value, args, place)
        if isinstance(hint, str):
            raise BadOptionError(f"{hint!r} is a name, not a type: it cannot be resolved here", "model")
        kind = origin or hint
        if kind in _SCALARS:
            return _SCALARS[kind](value)
        if kind is tuple:
            return self._tuple(value, args, place)
        if kind in _SETS or kind is frozenset:
            items = self._items(value, args, place)
            return frozenset(items) if kind is frozenset else set(items)
        if kind in _LISTS:
            return self._items(value, args, place)
        if kind in _MAPS:
            return self._map(value, args, place)
        if hasattr(hint, "__supertype__"):
            return self._read(value, hint.__supertype__, place)
        if hasattr(hint, "__value__"):
            return self._read(value, hint.__value__, place)
        if isinstance(kind, type):
            return self._class(value, kind, hint, place)
        return self._by_pydantic(value, hint, place)

    def _items(self, value: Any, args: tuple[Any, ...], place: str) -> list[Any]:
        hint = args[0] if args else Any
        return [self.read(item, hint, _below(place, i)) for i, item in enumerate(_expect(value, list, "a list"))]

    def _tuple(self, value: Any, args: tuple[Any, ...], place: str) -> tuple[Any, ...]:
        if not args or args[-1] is Ellipsis:
            return tuple(self._items(value, args[:1], place))
        items = _expect(value, list, "a list")
        if len(items) != len(args):
            raise _Unfit("minItems" if len(items) < len(args) else "maxItems", f"{len(args)} items are expected")
        return tuple(self.read(item, args[i], _below(place, i)) for i, item in enumerate(items))

    def _map(self, value: Any, args: tuple[Any, ...], place: str) -> dict[Any, Any]:
        keys, values = args if len(args) == 2 else (str, Any)
        members = _expect(value, dict, "an object").items()
        return {self._key(k, keys, _below(place, k)): self.read(v, values, _below(place, k)) for k, v in members}

    def _key(self, key: str, hint: Any, place: str) -> Any:
        """A member's name, which JSON has only as text."""
        if hint in (int, float):
            try:
                return hint(key)
            except ValueError:
                self.unfit(place, "propertyNames", "the name must be a number")
                return key
        return self.read(key, hint, place)

    def _union(self, value: Any, args: tuple[Any, ...], place: str) -> Any:
        if value is None and type(None) in args:
            return None
        others = [arg for arg in args if arg is not type(None)]
        if len(others) == 1:
            return self._read(value, others[0], place)
        # A whole number is a float as well, but not the other way round.
        tried: list[tuple[int, int, int, _Reader, Any]] = []
        for arg in sorted(others, key=lambda arg: arg is float):
            reader = _Reader()
            read = reader.read(value, arg, place)
            tried.append((len(reader.errors), reader.ignored, len(tried), reader, read))
        errors, ignored, _, best, read = min(tried, key=lambda found: found[:3])
        if errors:
            # Report the errors of the closest class; a value that is not an object is close to none.
            if not isinstance(value, dict):
                raise _Unfit("anyOf", "the value is none of: " + ", ".join(_called(arg) for arg in args))
            self.errors.extend(best.errors)
        self.ignored += ignored
        return read

    def _class(self, value: Any, kind: Any, hint: Any, place: str) -> Any:
        if issubclass(kind, enum.Enum):
            return _member(value, kind)
        if issubclass(kind, pathlib.PurePath):
            return kind(_expect(value, str, "text"))
        if dataclasses.is_dataclass(kind):
            hints = typing.get_type_hints(kind, include_extras=True)
            own = [field for field in dataclasses.fields(kind) if field.init]
            missing = dataclasses.MISSING
            required = {field.name for field in own if field.default is field.default_factory is missing}
            return self._built(kind, value, {field.name: hints[field.name] for field in own}, required, place)
        if typing.is_typeddict(kind):
            hints = typing.get_type_hints(kind, include_extras=True)
            required = set(kind.__required_keys__)
            return self._fields(value, hints, required, place)
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            return self._named_tuple(value, kind, place)
        for base in (bool, int, float, str, bytes, dict, list):
            if issubclass(kind, base) and kind.__init__ is base.__init__:
                return self._constructed(kind, (self._read(value, base, place),), {}, place)
        return self._by_pydantic(value, hint, place)

    def _fields(self, value: Any, hints: dict[str, Any], required: set[str], place: str) -> dict[str, Any]:
        members = _expect(value, dict, "an object")
        for name in hints:
            if name in required and name not in members:
                self.missing(place, name)
        self.ignored += sum(key not in hints for key in members)
        return {key: self.read(v, hints[key], _below(place, key)) for key, v in members.items() if key in hints}

    def _built(self, kind: Any, value: Any, hints: dict[str, Any], required: set[str], place: str) -> Any:
        before = len(self.errors)
        fields = self._fields(value, hints, required, place)
        return self._constructed(kind, (), fields, place) if len(self.errors) == before else None

    def _named_tuple(self, value: Any, kind: Any, place: str) -> Any:
        hints = {name: typing.get_type_hints(kind, include_extras=True).get(name, Any) for name in kind._fields}
        required = {name for name in kind._fields if name not in kind._field_defaults}
        if isinstance(value, list):
            if len(value) > len(hints):
                raise _Unfit("maxItems", f"at most {len(hints)} items are expected")
            value = dict(zip(hints, value, strict=False))
        return self._built(kind, value, hints, required, place)

    def _constructed(self, kind: Any, args: tuple[Any, ...], fields: dict[str, Any], place: str) -> Any:
        try:
            return kind(*args, **fields)
        except (ValueError, TypeError, AssertionError) as error:
            # Refused by a `__post_init__` or by the class's own constructor.
            self.unfit(place, "value", str(error) or type(error).__name__)
            return None

    def _by_pydantic(self, value: Any, hint: Any, place: str) -> Any:
        try:
            import pydantic
        except ImportError:
            raise BadOptionError(f"how to make {_called(hint)} of JSON is not known here", "model") from None
        adapter = _adapter(pydantic, hint)
        try:
            # As JSON: a strict model takes a date as text there, and only there.
            return adapter.validate_json(_dumps(value))
        except pydantic.ValidationError as refused:
            for error in refused.errors(include_url=False, include_context=False, include_input=False):
                below = place + "".join(_below("", key) for key in error["loc"])
                self.unfit(below, error["type"], error["msg"])
            return None


def _adapter(pydantic: Any, hint: Any) -> Any:
    try:
        # As `functions.describe` declares bytes.
        return pydantic.TypeAdapter(hint, config=pydantic.ConfigDict(val_json_bytes="base64"))
    except pydantic.errors.PydanticUserError:
        pass  # The type has its own config.
    try:
        return pydantic.TypeAdapter(hint)
    except pydantic.errors.PydanticUserError as error:
        raise BadOptionError(f"pydantic has no schema for {_called(hint)}: {error.message}", "model") from None


def _is_pydantics(hint: Any) -> bool:
    """Whether pydantic has something to say of the type."""
    if isinstance(hint, type) and (
        hasattr(hint, "__pydantic_validator__") or hasattr(hint, "__get_pydantic_core_schema__")
    ):
        return True
    if typing.get_origin(hint) is not typing.Annotated:
        return False
    return (
        any(
            hasattr(note, "__get_pydantic_core_schema__")
            or type(note).__module__.partition(".")[0] in ("pydantic", "annotated_types")
            for note in hint.__metadata__
        )
        and _has_pydantic()
    )


def _has_pydantic() -> bool:
    try:
        import pydantic  # noqa: F401
    except ImportError:
        return False
    return True


def _dumps(value: Any) -> str:
    """JSON with each number as it was written."""
    if isinstance(value, dict):
        members = (f"{json.dumps(key)}:{_dumps(member)}" for key, member in value.items())
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_dumps, value)) + "]"
    return str(value) if isinstance(value, decimal.Decimal) else json.dumps(value)


def _plain(value: Any) -> Any:
    """The value in the types that ``ToolCall.arguments`` has."""
    if isinstance(value, dict):
        return {key: _plain(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, decimal.Decimal):
        number = float(value)
        return number if math.isfinite(number) and not _is_long(value) else value
    return value


def _is_long(value: decimal.Decimal) -> bool:
    """It was an integer of more digits than ``int`` reads."""
    return value.as_tuple().exponent == 0 and len(value.as_tuple().digits) > 4000


def _expect(value: Any, kind: type, what: str) -> Any:
    if not isinstance(value, kind):
        raise _Unfit("type", f"{what} is expected")
    return value


def _is_one_of(hint: Any, known: tuple[Any, ...]) -> bool:
    return any(hint is one for one in known)


def _called(hint: Any) -> str:
    return getattr(hint, "__name__", None) or str(hint)


def _literal(value: Any, args: tuple[Any, ...]) -> Any:
    for arg in args:
        said = arg.value if isinstance(arg, enum.Enum) else arg
        if type(said) is type(value) and said == value:
            return arg
    raise _Unfit("enum", "it must be one of " + ", ".join(repr(arg) for arg in args))


def _member(value: Any, kind: Any) -> Any:
    plain = _plain(value)
    for member in kind:
        said = list(member.value) if isinstance(member.value, tuple) else member.value
        if said == plain and isinstance(said, bool) == isinstance(plain, bool):
            return member
    if not isinstance(plain, bool):
        with contextlib.suppress(ValueError, TypeError):
            return kind(plain)  # Flags, and what `_missing_` knows.
    raise _Unfit("enum", "it must be one of " + ", ".join(json.dumps(m.value, default=str) for m in kind))


def _boolean(value: Any) -> bool:
    return bool(_expect(value, bool, "true or false"))


def _whole(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, decimal.Decimal) and value == value.to_integral_value() and value.adjusted() < 4300:
        return int(value)
    raise _Unfit("type", "a whole number is expected")


def _float(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, decimal.Decimal)):
        raise _Unfit("type", "a number is expected")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isinf(number):
        raise _Unfit("type", "the number is too large")
    return number


def _decimal(value: Any) -> decimal.Decimal:
    if isinstance(value, str):
        try:
            number = decimal.Decimal(value)
        except decimal.InvalidOperation:
            raise _Unfit("type", "a number is expected") from None
        if not number.is_finite():
            raise _Unfit("type", "a finite number is expected")
        return number
    if isinstance(value, bool) or not isinstance(value, (int, decimal.Decimal)):
        raise _Unfit("type", "a number is expected")
    return decimal.Decimal(value)


def _text(value: Any) -> str:
    return str(_expect(value, str, "text"))


def _bytes(value: Any) -> bytes:
    try:
        return base64.b64decode(_text(value), validate=True)
    except (binascii.Error, ValueError):
        raise _Unfit("contentEncoding", "base64 is expected") from None


_FRACTION = re.compile(r"[.,](\d+)")


def _iso(value: Any) -> str:
    """A date or time as every Python from 3.10 on reads it: RFC 3339 in capitals, the fraction with six digits."""
    text = _text(value).strip().upper()
    text = _FRACTION.sub(lambda found: "." + found[1][:6].ljust(6, "0"), text)
    return text[:-1] + "+00:00" if text.endswith("Z") else text


def _datetime(value: Any) -> datetime.datetime:
    try:
        return datetime.datetime.fromisoformat(_iso(value))
    except ValueError:
        raise _Unfit("format", "a date and time in ISO 8601 is expected, as 2026-03-01T09:30:00Z") from None


def _date(value: Any) -> datetime.date:
    try:
        return datetime.date.fromisoformat(_text(value).strip())
    except ValueError:
        pass
    # A time is no harm where it is midnight.
    moment = None
    with contextlib.suppress(ValueError):
        moment = datetime.datetime.fromisoformat(_iso(value))
    if moment is None or moment.time() != datetime.time():
        raise _Unfit("format", "a date in ISO 8601 is expected, as 2026-03-01")
    return moment.date()


def _time(value: Any) -> datetime.time:
    try:
        return datetime.time.fromisoformat(_iso(value).removeprefix("T"))
    except ValueError:
        raise _Unfit("format", "a time in ISO 8601 is expected, as 09:30:00") from None


_DURATION = re.compile(
    r"([+-]?)P(?=.)(?:(\d+(?:\.\d+)?)W)?(?:(\d+(?:\.\d+)?)D)?"
    r"(?:T(?=.)(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?"
)


def _duration(value: Any) -> datetime.timedelta:
    found = _DURATION.fullmatch(_text(value).strip().upper().replace(",", "."))
    if found is None:
        raise _Unfit("format", "a duration in ISO 8601 is expected, as P1DT2H30M")
    weeks, days, hours, minutes, seconds = (float(part or 0) for part in found.groups()[1:])
    try:
        length = datetime.timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
    except OverflowError:
        raise _Unfit("format", "the duration is too long") from None
    return -length if found[1] == "-" else length


def _uuid(value: Any) -> uuid.UUID:
    try:
        return uuid.UUID(_text(value))
    except ValueError:
        raise _Unfit("format", "a UUID is expected") from None


def _none(value: Any) -> None:
    if value is not None:
        raise _Unfit("type", "null is expected")


_SCALARS: dict[Any, Callable[[Any], Any]] = {
    bool: _boolean,
    int: _whole,
    float: _float,
    str: _text,
    bytes: _bytes,
    decimal.Decimal: _decimal,
    datetime.datetime: _datetime,
    datetime.date: _date,
    datetime.time: _time,
    datetime.timedelta: _duration,
    uuid.UUID: _uuid,
    type(None): _none,
}
