"""Builds a wheel of the Python module with CMake: the back end that pyproject.toml names (PEP 517).

It needs what the library needs, pybind11 and NumPy: on Debian scripts/common.sh lists the packages. The
library is inside of the wheel; the libraries that read images are not, so a wheel is for systems like the
one that it was made on. NumPy is no dependency that pip should fetch, because Debian's own is meant.
"""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def _version():
    text = (ROOT / "CMakeLists.txt").read_text()
    return re.search(r"project\(sact VERSION ([0-9.]+)", text).group(1)


def _tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = re.sub(r"[^A-Za-z0-9]", "_", sysconfig.get_platform())
    return f"{python}-{python}-{platform}"


def _metadata():
    return (
        "Metadata-Version: 2.1\n"
        "Name: sact\n"
        f"Version: {_version()}\n"
        "Summary: Spatially adaptive computation time for residual networks\n"
        "License: Apache-2.0\n"
        "Requires-Python: >=3.9\n"
        "Description-Content-Type: text/markdown\n"
        "\n" + (ROOT / "docs" / "python.md").read_text()
    )


def _run(*command):
    finished = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if finished.returncode != 0:
        raise SystemExit(f"{finished.stdout}\nfailed: {' '.join(map(str, command))}")


def _generator(folder):
    """Ninja where it is: nothing else asks for make, so it may be missing. A folder keeps its own."""
    if "CMAKE_GENERATOR" in os.environ or (folder / "CMakeCache.txt").exists() or not shutil.which("ninja"):
        return []
    return ["-G", "Ninja"]


def _build(folder):
    _run(
        "cmake", "-S", ROOT, "-B", folder, *_generator(folder),
        "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=OFF", "-DSACT_CLI=OFF", "-DSACT_INSTALL=OFF",
        "-DSACT_PYTHON=ON", f"-DSACT_PYTHON_INTERPRETER={sys.executable}",
    )  # fmt: skip
    _run("cmake", "--build", folder, "--target", "sact_python", "--parallel", str(os.cpu_count() or 1))


def get_requires_for_build_wheel(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory() as scratch:
        # A folder that is kept makes the next build a matter of seconds.
        folder = Path(os.environ.get("SACT_PYTHON_BUILD") or scratch)
        _build(folder)
        files = {
            f"sact/{file.name}": file.read_bytes()
            for file in sorted((folder / "python" / "sact").iterdir())
            if file.is_file()
        }
        info = f"sact-{_version()}.dist-info"
        files[f"{info}/METADATA"] = _metadata().encode()
        files[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
        files[f"{info}/WHEEL"] = (
            f"Wheel-Version: 1.0\nGenerator: sact_build\nRoot-Is-Purelib: false\nTag: {_tag()}\n"
        ).encode()
        name = f"sact-{_version()}-{_tag()}.whl"
        record = []
        with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
            for path, content in files.items():
                digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                record.append(f"{path},sha256={digest},{len(content)}\n")
                wheel.writestr(path, content)
            wheel.writestr(f"{info}/RECORD", "".join(record) + f"{info}/RECORD,,\n")
    return name
