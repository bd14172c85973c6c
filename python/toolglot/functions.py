"""Typed Python functions and pydantic models as tools: what signature and docstring say, as JSON Schema."""

from __future__ import annotations

import collections.abc
import dataclasses
import datetime
import decimal
import enum
import functools
import inspect
import itertools
import math
import pathlib
import re
import sys
import types
import typing
import uuid
from typing import Any

__all__ = ["Context", "context_parameters", "describe", "is_function", "parameters"]

_T = typing.TypeVar("_T")


class _ContextMark:
    """Marks the type of a parameter that the host gives."""

    def __repr__(self) -> str:
        return "Context"


_CONTEXT = _ContextMark()

Context = typing.Annotated[_T, _CONTEXT]
"""The type of a parameter that the model is not shown: ``db: Context[Database]`` gets the ``context`` of ``ToolSet.run``."""

_SCALARS: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    bytes: {"type": "string", "contentEncoding": "base64"},
    type(None): {"type": "null"},
    dict: {"type": "object"},
    list: {"type": "array"},
    tuple: {"type": "array"},
    set: {"type": "array", "uniqueItems": True},
    frozenset: {"type": "array", "uniqueItems": True},
    datetime.datetime: {"type": "string", "format": "date-time"},
    datetime.date: {"type": "string", "format": "date"},
    datetime.time: {"type": "string", "format": "time"},
    datetime.timedelta: {"type": "string", "format": "duration"},
    uuid.UUID: {"type": "string", "format": "uuid"},
    decimal.Decimal: {"type": "number"},
    Any: {},
    object: {},
    inspect.Parameter.empty: {},
}
_LISTS = (list, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)
_SETS = (set, frozenset, collections.abc.Set)
_MAPS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
# What a TypedDict says of a member beside its type; Python 3.10 has neither.
_MARKS = tuple(getattr(typing, name) for name in ("Required", "NotRequired") if hasattr(typing, name))


class _Definitions(dict[str, Any]):
    """The schemas of classes by their names, for ``$defs``. Of two classes with one name, the second gets a number."""

    def __init__(self) -> None:
        super().__init__()
        self._names: dict[type, str] = {}

    def known(self, hint: type) -> str | None:
        """Return the name under which a class is, or is going to be, defined."""
        return self._names.get(hint)

    def name(self, hint: type) -> str:
        """Return a new name for a class, and keep its place: it may hold itself."""
        name = self._names[hint] = self._free(hint.__name__)
        self[name] = {}
        return name

    def model(self, hint: type, schema: dict[str, Any]) -> str:
        """Take a pydantic model's schema with what it defines itself, and return the model's name."""
        own = schema.pop("$defs", {})
        root = schema["$ref"].removeprefix(_DEFS) if "$ref" in schema else hint.__name__
        own.setdefault(root, schema)
        # The same name means something else here, so none of them can be identified by name.
        clash = any(name in self and self[name] != part for name, part in own.items())
        names = {name: self._free(name) if clash else name for name in own}
        self.update({names[name]: _renamed(part, names) for name, part in own.items()})
        self._names[hint] = names[root]
        return names[root]

    def _free(self, name: str) -> str:
        numbered = (f"{name}_{number}" for number in itertools.count(2))
        return name if name not in self else next(other for other in numbered if other not in self)


_DEFS = "#/$defs/"


def _renamed(schema: Any, names: dict[str, str]) -> Any:
    """Return a schema of pydantic's with its references to `names` under their new ones."""
    if isinstance(schema, dict):
        return {key: _renamed(value, names) for key, value in schema.items()}
    if isinstance(schema, list):
        return [_renamed(item, names) for item in schema]
    if isinstance(schema, str) and (name := schema.removeprefix(_DEFS)) in names and name != schema:
        return _DEFS + names[name]
    return schema


def describe(item: Any) -> dict[str, Any] | None:
    """Return the tool that a function, method or pydantic model class is; None for anything else.

    A function's name is the tool's name, the first part of its docstring the description; parameters get their types
    from annotations, their constraints from ``Annotated[int, Field(ge=1)]`` or ``= Field(3, ge=1)`` (pydantic's or
    annotated_types'), and their descriptions from ``Annotated[..., "text"]`` or the docstring (Google, NumPy and reST
    style). Parameters without a default are required. ``self``, parameters of variable number, and those that a
    ``functools.partial`` has given are left out.

    Raises:
        TypeError: If a parameter cannot be given by name.
        NameError: If an annotation names something that is not there.
    """
    if isinstance(item, type):
        return _model(item)
    if inspect.isroutine(item) or isinstance(item, functools.partial):
        return _function(item)
    return _object(item)


def is_function(item: Any) -> bool:
    """Whether an item that :func:`describe` takes can be run: a function, method, partial or pydantic model class."""
    if isinstance(item, type):
        return hasattr(item, "model_json_schema")
    return inspect.isroutine(item) or isinstance(item, functools.partial)


def _model(item: Any) -> dict[str, Any] | None:
    """Return the tool that a pydantic model class is."""
    if not hasattr(item, "model_json_schema"):
        return None
    return {
        "name": item.__name__,
        # Only its own docstring: a class without one would inherit that of its base.
        "description": inspect.cleandoc(item.__doc__ or ""),
        "inputSchema": item.model_json_schema(),
    }


def _function(item: Any) -> dict[str, Any]:
    """Return the tool that a function, a method or a partial of one is."""
    function = _inner(item)
    name = getattr(function, "__name__", type(function).__name__)
    if name == "<lambda>":
        raise TypeError("a lambda has no name that a model could call")
    summary, documented = _docstring(inspect.getdoc(function) or "")
    properties: dict[str, Any] = {}
    required: list[str] = []
    definitions = _Definitions()
    extra = False
    for parameter, hint in parameters(item):
        if parameter.kind is parameter.VAR_KEYWORD:
            extra = True
            continue
        if _is_context(hint):
            continue
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise TypeError(f"{name}: the parameter {parameter.name!r} cannot be given by name")
        schema, default = _schema(hint, definitions), parameter.default
        if callable(getattr(default, "is_required", None)):  # pydantic's Field.
            _note(schema, default)
            default = parameter.empty if default.is_required() else default.default
        if parameter.name in documented:
            schema.setdefault("description", documented[parameter.name])
        if default is parameter.empty:
            required.append(parameter.name)
        else:
            _default(schema, default)
        properties[parameter.name] = schema
    schema = {"type": "object", "properties": properties, "required": required}
    if not extra:
        schema["additionalProperties"] = False
    if definitions:
        schema["$defs"] = dict(definitions)
    return {"name": name, "description": summary, "inputSchema": schema}


def _inner(item: Any) -> Any:
    """Return the function that partials are of."""
    while isinstance(item, functools.partial):
        item = item.func
    return item


def parameters(item: Any) -> list[tuple[inspect.Parameter, Any]]:
    """Return the parameters of a function that are given by name, with their types; ``**rest`` is the last of them."""
    given: set[str] = set()
    function: Any = item
    while isinstance(function, functools.partial):
        function, given = function.func, given | function.keywords.keys()
    hints = _hints(function)
    return [
        (parameter, hints.get(parameter.name, parameter.empty))
        for place, parameter in enumerate(inspect.signature(item).parameters.values())
        if not (place == 0 and _is_self(item, parameter))
        and parameter.name not in given
        and parameter.kind is not parameter.VAR_POSITIONAL
    ]


def context_parameters(item: Any) -> list[str]:
    """Return the names of the parameters that the host gives and the model is not shown."""
    return [parameter.name for parameter, hint in parameters(item) if _is_context(hint)]


def _is_context(hint: Any) -> bool:
    # `Context[Database] | None`, and what get_type_hints makes of a default None before Python 3.11.
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return any(_is_context(arg) for arg in typing.get_args(hint))
    return typing.get_origin(hint) is typing.Annotated and any(note is _CONTEXT for note in hint.__metadata__)


def _hints(function: Any) -> dict[str, Any]:
    """Return the types of a function's parameters. The return type is not evaluated: it may name what cannot be imported."""
    function = inspect.unwrap(function)
    if not inspect.isroutine(function):  # A partial of an object that can be called.
        function = type(function).__call__
    try:
        return typing.get_type_hints(function, include_extras=True)
    except NameError:
        if sys.version_info >= (3, 14):
            import annotationlib

            own = annotationlib.get_annotations(function, format=annotationlib.Format.FORWARDREF)
        else:
            own = inspect.get_annotations(function)
        parameters = types.SimpleNamespace(__annotations__={name: own[name] for name in own if name != "return"})
        return typing.get_type_hints(parameters, getattr(function, "__globals__", {}), include_extras=True)


def _is_self(item: Any, parameter: inspect.Parameter) -> bool:
    """Whether the first parameter is what a method is called on, taken from its class (``Service.search``)."""
    if parameter.name not in ("self", "cls") or parameter.annotation is not parameter.empty:
        return False
    owner, _, _ = getattr(item, "__qualname__", "").rpartition(".")
    return bool(owner) and not owner.endswith("<locals>")


def _object(item: Any) -> dict[str, Any] | None:
    """Return the tool that an agent framework's object is, by the attributes that such objects share."""
    if hasattr(item, "model_dump") and not hasattr(item, "args_schema"):
        return None
    name = getattr(item, "name", None)
    if not isinstance(name, str):
        return None
    schema = getattr(item, "params_json_schema", None)
    if schema is None and (arguments := getattr(item, "args_schema", None)) is not None:
        schema = arguments.model_json_schema() if hasattr(arguments, "model_json_schema") else arguments
    if not isinstance(schema, dict):
        return None
    return {"name": name, "description": getattr(item, "description", "") or "", "inputSchema": schema}


def _schema(hint: Any, definitions: _Definitions) -> dict[str, Any]:
    """Return the JSON Schema of an annotation; classes that may hold themselves go to `definitions`."""
    try:
        if hint in _SCALARS:
            return dict(_SCALARS[hint])
    except TypeError:  # Not hashable: Annotated[..., {}].
        pass
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _annotated(args, definitions)
    if origin is typing.Literal:
        return {"enum": list(args)}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_schema(arg, definitions) for arg in args]}
    if origin in _MARKS:
        return _schema(args[0], definitions)
    if origin is tuple or hint is tuple:
        return _tuple(args, definitions)
    if origin in _MAPS or hint in _MAPS:
        values = _schema(args[1], definitions) if len(args) == 2 else {}
        return {"type": "object", "additionalProperties": values} if values else {"type": "object"}
    if origin in _SETS or hint in _SETS:
        return {"type": "array", "uniqueItems": True} | _items(args, definitions)
    if origin in _LISTS or hint in _LISTS:
        return {"type": "array"} | _items(args, definitions)
    if isinstance(hint, typing.TypeVar) or not isinstance(hint, type):
        if isinstance(supertype := getattr(hint, "__supertype__", None), type):  # NewType
            return _schema(supertype, definitions)
        return _schema(hint.__value__, definitions) if hasattr(hint, "__value__") else {}
    return _class(hint, definitions)


def _items(args: tuple[Any, ...], definitions: _Definitions) -> dict[str, Any]:
    return {"items": _schema(args[0], definitions)} if args else {}


def _tuple(args: tuple[Any, ...], definitions: _Definitions) -> dict[str, Any]:
    if not args:
        return {"type": "array"}
    if args[-1] is Ellipsis:
        return {"type": "array"} | _items(args, definitions)
    items = [_schema(arg, definitions) for arg in args]
    return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}


def _named_tuple(hint: Any, definitions: _Definitions) -> dict[str, Any]:
    """A list, as JSON has it: each item with the name and the type of its field."""
    hints = typing.get_type_hints(hint, include_extras=True)
    items = [{"title": name} | _schema(hints.get(name, Any), definitions) for name in hint._fields]
    fewest = len(items) - len(hint._field_defaults)
    return {"type": "array", "prefixItems": items, "minItems": fewest, "maxItems": len(items)}


def _annotated(args: tuple[Any, ...], definitions: _Definitions) -> dict[str, Any]:
    schema = _schema(args[0], definitions)
    for note in args[1:]:
        _note(schema, note)
    return schema


def _note(schema: dict[str, Any], note: Any) -> None:
    """Add what a note of ``Annotated`` says."""
    if isinstance(note, str):
        schema["description"] = note
        return
    if isinstance(text := getattr(note, "description", None) or getattr(note, "documentation", None), str):
        schema["description"] = text
    # pydantic's Field keeps its constraints in its own metadata.
    for constraint in (note, *(getattr(note, "metadata", None) or ())):
        _constrain(schema, constraint)


_CONSTRAINTS = {
    "gt": "exclusiveMinimum",
    "ge": "minimum",
    "lt": "exclusiveMaximum",
    "le": "maximum",
    "multiple_of": "multipleOf",
    "pattern": "pattern",
}
_LENGTHS = {
    "min_length": {"string": "minLength", "array": "minItems", "object": "minProperties"},
    "max_length": {"string": "maxLength", "array": "maxItems", "object": "maxProperties"},
}


def _constrain(schema: dict[str, Any], note: Any) -> None:
    """Add what a note of ``Annotated`` demands of the value, where JSON Schema has a keyword for it."""
    for attribute, keyword in _CONSTRAINTS.items():
        value = getattr(note, attribute, None)
        if isinstance(value, str if attribute == "pattern" else (int, float)):
            schema[keyword] = value
    for attribute, keywords in _LENGTHS.items():
        value = getattr(note, attribute, None)
        if not isinstance(value, int):
            continue
        for branch in (schema, *schema.get("anyOf", ())):
            if branch.get("type") in keywords:
                branch[keywords[branch["type"]]] = value


def _default(schema: dict[str, Any], default: Any) -> None:
    """Return a parameter's default, if JSON can express it (an infinite timeout, for one, it cannot)."""
    if isinstance(default, enum.Enum):
        default = default.value
    if default is None or isinstance(default, (str, int)) or (isinstance(default, float) and math.isfinite(default)):
        schema.setdefault("default", default)


def _class(hint: type, definitions: _Definitions) -> dict[str, Any]:
    if issubclass(hint, enum.Enum):
        return {"enum": [member.value for member in hint]}
    if issubclass(hint, pathlib.PurePath):
        return {"type": "string"}
    if (name := definitions.known(hint)) is not None:
        return {"$ref": _DEFS + name}
    if hasattr(hint, "model_json_schema"):
        return {"$ref": _DEFS + definitions.model(hint, hint.model_json_schema(ref_template=_DEFS + "{model}"))}
    defaults: dict[str, Any] = {}
    if dataclasses.is_dataclass(hint):
        hints = typing.get_type_hints(hint, include_extras=True)
        own = [field for field in dataclasses.fields(hint) if field.init]
        fields = {field.name: hints[field.name] for field in own}
        missing = dataclasses.MISSING
        required = [field.name for field in own if field.default is field.default_factory is missing]
        defaults = {field.name: field.default for field in own if field.default is not missing}
    elif typing.is_typeddict(hint):
        fields = typing.get_type_hints(hint, include_extras=True)
        required = sorted(hint.__required_keys__, key=list(fields).index)  # type: ignore[attr-defined]
    elif issubclass(hint, tuple) and hasattr(hint, "_fields"):
        return _named_tuple(hint, definitions)
    else:
        for base in (bool, int, float, str, dict, list):
            if issubclass(hint, base):
                return dict(_SCALARS[base])
        raise TypeError(f"no JSON Schema is known for {hint.__name__}")
    name = definitions.name(hint)
    properties = {key: _schema(kind, definitions) for key, kind in fields.items()}
    for key, default in defaults.items():
        _default(properties[key], default)
    definitions[name] = {"type": "object", "properties": properties, "required": required}
    return {"$ref": _DEFS + name}


_SECTION = re.compile(
    r"(?i)^(args|arguments|parameters|params|returns?|raises|yields?|examples?|notes?|attributes):?\s*$"
)
_GOOGLE = re.compile(r"^\s{2,}\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
_NUMPY = re.compile(r"^(\w+)\s*(?::.*)?$")
_REST = re.compile(r"^:param\s+(?:[^:]*\s)?(\w+):\s*(.*)$")


def _docstring(text: str) -> tuple[str, dict[str, str]]:
    """Return what a docstring says of the function, and of each parameter."""
    summary: list[str] = []
    parameters: dict[str, str] = {}
    section, current, numpy = "", "", False
    lines = text.splitlines()
    for number, line in enumerate(lines):
        below = lines[number + 1] if number + 1 < len(lines) else ""
        if match := _SECTION.match(line):
            section, current = match[1].lower(), ""
            numpy = bool(re.fullmatch(r"\s*-{3,}\s*", below))
        elif match := _REST.match(line.strip()):
            section, current = "rest", match[1]
            parameters[current] = match[2].strip()
        elif line.strip().startswith((":return", ":raise", ":type", ":rtype")):
            section, current = "rest", ""
        elif not section:
            summary.append(line)
        elif section.startswith(("arg", "param")):
            entry = _NUMPY.match(line) if numpy else _GOOGLE.match(line)
            deeper = len(line) - len(line.lstrip()) > 4
            if entry and not (current and not numpy and deeper):
                current = entry[1]
                parameters[current] = "" if numpy else entry[2].strip()
            elif current and line.strip():
                parameters[current] = f"{parameters[current]} {line.strip()}".strip()
        elif section == "rest" and current and line.strip():
            parameters[current] = f"{parameters[current]} {line.strip()}"
    return "\n".join(summary).strip(), {name: words for name, words in parameters.items() if words}
