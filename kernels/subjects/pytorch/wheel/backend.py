"""What pip asks for a wheel: scikit-build-core, told what depends on where it runs. In a checkout the wheel holds the
program; beside an installed Tally, which has no sources, and where the checkout is edited, it is the recorder alone."""
import os
import pathlib
import platform
import shutil
import tempfile

from scikit_build_core import build
from scikit_build_core.build import get_requires_for_build_sdist, build_sdist  # noqa: F401

ROOT = pathlib.Path(__file__).resolve().parents[1].joinpath("../../..").resolve()  # of a checkout
ALONE = {"wheel.cmake": "false"}
MISSING = "missing_packages.txt"  # CMakeLists.txt writes it
INSTALL = "on Debian: apt-get install --no-install-recommends"


def has_sources():
    return (ROOT / "CMakeLists.txt").is_file() and (ROOT / "reports").is_dir()


def tag():
    """Runs with the C library that it is built with, and with every later one; other libraries come along."""
    try:
        name, version = os.confstr("CS_GNU_LIBC_VERSION").split()
    except (AttributeError, ValueError, OSError):
        return {}
    major, minor = version.split(".")[:2]
    return {"wheel.tags": f"py3-none-manylinux_{major}_{minor}_{platform.machine()}"} if name == "glibc" else {}


def settings(given):
    return {**(tag() if has_sources() else ALONE), **(given or {})}


def get_requires_for_build_wheel(config_settings=None):
    return build.get_requires_for_build_wheel(settings(config_settings))


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    return build.prepare_metadata_for_build_wheel(metadata_directory, settings(config_settings))


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    chosen = settings(config_settings)
    with tempfile.TemporaryDirectory() as passing:
        kept = ROOT / "build"  # what was compiled is there the next time
        chosen.setdefault("build-dir", str(kept / "wheel" if may_write(kept) else passing))
        (pathlib.Path(chosen["build-dir"]) / MISSING).unlink(missing_ok=True)
        try:
            return build.build_wheel(wheel_directory, chosen, metadata_directory)
        except SystemExit:
            raise SystemExit(reason(chosen["build-dir"])) from None


def may_write(folder):
    return os.access(folder if folder.exists() else folder.parent, os.W_OK)


def reason(build_dir):
    """The last line of what pip shows."""
    found = pathlib.Path(build_dir) / MISSING
    if found.is_file():
        packages = found.read_text(encoding="utf-8").strip()
        return f"error: Tally's program cannot be built, packages are missing; {INSTALL} {packages}"
    compilers = (os.environ.get("CXX"), "c++", "g++", "clang++")
    if not any(shutil.which(name) for name in compilers if name):
        return f"error: Tally's program cannot be built, there is no C++ compiler; {INSTALL} g++"
    return "error: Tally's program cannot be built; what stopped it stands above"


def get_requires_for_build_editable(config_settings=None):
    return build.get_requires_for_build_editable({**ALONE, **(config_settings or {})})


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return build.build_editable(wheel_directory, {**ALONE, **(config_settings or {})}, metadata_directory)
