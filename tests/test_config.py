"""Configuration per model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import toolglot
from support import ROOT
from toolglot import Config, capabilities, load_config

CASES = [
    pytest.param(case, id=case["name"])
    for case in map(
        json.loads, (ROOT / "tests" / "data" / "capabilities" / "configs.jsonl").read_text("utf-8").splitlines()
    )
]


@pytest.mark.parametrize("case", CASES)
def test_settings(case: dict[str, Any]) -> None:
    if "error" in case:
        with pytest.raises(toolglot.BadOptionError) as info:
            Config(case["config"])
        assert info.value.place == case["error"]
        return
    config = Config(case["config"]).model(case["model"]).to_dict()
    assert {name: config[name] for name in case["expect"]} == case["expect"]


def test_what_is_known_decides_where_nobody_did() -> None:
    config = Config().model("m")
    claude = capabilities("claude-3.5-sonnet")
    assert config.expects_text_calls(claude)
    assert not config.expects_text_calls(capabilities("gpt-4o"))
    assert not Config({"expect_text_calls": False}).model("m").expects_text_calls(claude)


@pytest.mark.parametrize(
    ("model", "url", "settings", "modes"),
    [
        ("gpt-4o", "https://api.openai.com/v1", {}, ["native", "json_schema", "json_object", "text"]),
        ("deepseek-chat", "https://api.deepseek.com", {}, ["native", "json_object", "text"]),
        ("gemma3:4b", "http://localhost:11434/v1", {}, ["json_schema", "json_object", "text"]),
        ("gemma3:4b", "http://localhost:11434/v1", {"preferred_modes": ["native"]}, ["text"]),
        ("gpt-4o", None, {"preferred_modes": ["text", "native"]}, ["text", "native"]),
        ("gpt-4o", None, {"retry_with_different_format": False}, ["native"]),
        ("a-model-of-my-own", None, {}, ["native", "json_schema", "json_object", "text"]),
        ("gpt-4o", None, {"modelOverrides": {"gpt-4o": {"forceTextMode": True}}}, ["text"]),
    ],
)
def test_modes(model: str, url: str | None, settings: dict[str, Any], modes: list[str]) -> None:
    assert Config(settings).model(model).modes(capabilities(model, url)) == modes


def test_instructions() -> None:
    config = Config({"useStrictJsonInstructions": True}).model("m")
    assert "JSON object" in config.instructions("json_schema")
    assert "XML" in config.instructions("json_object")
    assert "JSON object" not in config.instructions("native")
    assert "XML" in config.instructions("native")
    assert config.instructions("text") == ""
    assert Config().model("m").instructions("json_schema") == ""
    with pytest.raises(toolglot.BadOptionError):
        config.instructions("xml")  # type: ignore[arg-type]


def test_one_on_top_of_another() -> None:
    both = Config({"max_retries": 1, "dialect": "hermes"}) | Config(
        {"max_retries": 2, "models": {"x": {"dialect": "auto"}}}
    )
    assert (both.model("m").max_retries, both.model("m").dialect) == (2, "hermes")
    assert both.model("x").dialect == "auto"
    assert Config() == Config({})


FILES = {
    "c.json": '{"modelOverrides": {"m": {"forceTextMode": true}}}',
    "c.toml": "[modelOverrides.m]\nforceTextMode = true\n",
    "c.yaml": "modelOverrides:\n  m:\n    forceTextMode: true\n",
    "c.YML": "modelOverrides:\n  m: {forceTextMode: true}\n",
}


@pytest.mark.parametrize("name", FILES)
def test_files(name: str, tmp_path: Path) -> None:
    if name == "c.toml":
        pytest.importorskip("tomllib")
    if name.lower().endswith(("yaml", "yml")):
        pytest.importorskip("yaml")
    file = tmp_path / name
    file.write_text(FILES[name])
    assert load_config(file).model("m").preferred_modes == ["text"]
    file.write_text("{[")
    with pytest.raises(toolglot.BadOptionError):
        load_config(str(file))


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "c.ini").write_text("")
    with pytest.raises(toolglot.BadOptionError):
        load_config(tmp_path / "c.ini")
    with pytest.raises(FileNotFoundError):
        load_config(tmp_path / "c.json")
