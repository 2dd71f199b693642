#!/usr/bin/env python3
"""write-tars.py FOLDER OUT FORMAT: packs the files of a folder, sorted by name, with Python's tarfile into OUT/FORMAT.tar.

Owners and times are such as make each format go to its limits: numbers and fractions that need headers of their own. ustar, which cannot hold
these, gets small ones, and no name over 100 bytes that it cannot split.
"""

import sys
import tarfile
from pathlib import Path

LARGE_ID = 3_000_000_000
FORMATS = {"pax": tarfile.PAX_FORMAT, "gnu": tarfile.GNU_FORMAT, "ustar": tarfile.USTAR_FORMAT}


def main(folder, out, name):
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    with tarfile.open(out / f"{name}.tar", "w", format=FORMATS[name], encoding="utf-8") as tar:
        tar.add(folder / "folder", arcname="folder", recursive=False)
        for file in files:
            member = tar.gettarinfo(folder / file, arcname=file)
            member.uid = member.gid = 1000 if name == "ustar" else LARGE_ID
            member.uname = member.gname = "größe"
            member.mtime = 1_700_000_000 if name == "ustar" else 1_700_000_000.25
            with (folder / file).open("rb") as data:
                tar.addfile(member, data)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
