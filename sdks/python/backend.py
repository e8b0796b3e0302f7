"""The build backend of the package (PEP 517). It needs only the standard library, so that the package is built, and
installed from a clone, without a network.

``python3 backend.py FOLDER`` writes the wheel to a folder.
"""

import base64
import hashlib
import os
import re
import sys
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
WHEEL = "Wheel-Version: 1.0\nGenerator: trailblaze\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Write the wheel and return its file name."""
    project = _project()
    name = f"{project['name']}-{project['version']}"
    info = f"{name}.dist-info"
    files = [(path, _read("src", path)) for path in _sources()]
    files += [
        (f"{info}/METADATA", _metadata(project)),
        (f"{info}/WHEEL", WHEEL.encode()),
        (f"{info}/licenses/LICENSE", _read("LICENSE")),
    ]
    record = "".join(f"{path},sha256={_digest(data)},{len(data)}\n" for path, data in files)
    files.append((f"{info}/RECORD", (record + f"{info}/RECORD,,\n").encode()))
    file = f"{name}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, file), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files:
            entry = zipfile.ZipInfo(path)  # with the same time in every build
            entry.external_attr = 0o644 << 16
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return file


def build_sdist(sdist_directory, config_settings=None):
    """Write the archive of the sources and return its file name."""
    project = _project()
    name = f"{project['name']}-{project['version']}"
    with tarfile.open(os.path.join(sdist_directory, f"{name}.tar.gz"), "w:gz") as archive:
        for path in ["pyproject.toml", "backend.py", "README.md", "LICENSE"]:
            archive.add(os.path.join(HERE, path), f"{name}/{path}")
        for path in _sources():
            archive.add(os.path.join(HERE, "src", path), f"{name}/src/{path}")
    return f"{name}.tar.gz"


def _project():
    """Return the texts in the table [project]. Python before 3.11 has no parser for TOML."""
    table = _read("pyproject.toml").decode().split("[project]", 1)[1]
    return dict(re.findall(r'^([\w-]+) = "(.*)"$', table, re.MULTILINE))


def _metadata(project):
    headers = {
        "Metadata-Version": "2.1",
        "Name": project["name"],
        "Version": project["version"],
        "Summary": project["description"],
        "License": "Apache-2.0",
        "Requires-Python": project["requires-python"],
        "Description-Content-Type": "text/markdown",
    }
    text = "".join(f"{name}: {value}\n" for name, value in headers.items())
    return text.encode() + b"\n" + _read(project["readme"])


def _sources():
    """Return the files of the package, relative to src, in a fixed order."""
    root = os.path.join(HERE, "src")
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name.isidentifier() and name != "__pycache__"]
        found += [os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/") for name in files]
    return sorted(found)


def _read(*path):
    with open(os.path.join(HERE, *path), "rb") as file:
        return file.read()


def _digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    print(build_wheel(sys.argv[1]))
