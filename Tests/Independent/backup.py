#!/usr/bin/env python3
"""Reads an encrypted iOS backup with iphone-backup-decrypt, which shares nothing with strata.

    backup.py BACKUP PASSWORD-FILE [VENV]

Prints a line of JSON for each file: its name in the backup, its bytes and their SHA-256. VENV is a folder in
which the package is installed with pip if it is not there. Ends with 77, and says so, where the package is
missing and cannot be installed.
"""
import contextlib
import hashlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

SKIPPED = 77


def installed():
    try:
        import iphone_backup_decrypt  # noqa: F401
    except ImportError:
        return False
    return True


def install(folder):
    """Starts again in a virtual environment that has the package."""
    python = os.path.join(folder, "bin", "python3")
    try:
        if not os.path.exists(python):
            subprocess.run([sys.executable, "-m", "venv", folder], check=True, capture_output=True)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "iphone-backup-decrypt"],
            check=True, capture_output=True, timeout=240)
    except (OSError, subprocess.SubprocessError) as error:
        print(f"skipped: iphone-backup-decrypt cannot be installed: {error}", file=sys.stderr)
        return SKIPPED
    return subprocess.run([python, "-B", __file__, *sys.argv[1:3]]).returncode


def main():
    if len(sys.argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        return 2
    if not installed():
        if len(sys.argv) == 4:
            return install(sys.argv[3])
        print("skipped: iphone-backup-decrypt is not installed", file=sys.stderr)
        return SKIPPED
    from iphone_backup_decrypt import EncryptedBackup

    with open(sys.argv[2], encoding="utf-8") as file:
        password = file.read().removesuffix("\n")
    with contextlib.redirect_stdout(sys.stderr), tempfile.TemporaryDirectory() as folder:
        backup = EncryptedBackup(backup_directory=sys.argv[1], passphrase=password)
        manifest = os.path.join(folder, "Manifest.db")
        backup.save_manifest_file(manifest)
        with contextlib.closing(sqlite3.connect(manifest)) as database:
            names = database.execute(
                "SELECT domain, relativePath FROM Files WHERE flags = 1 ORDER BY 1, 2").fetchall()
        lines = []
        for domain, path in names:
            content = backup.extract_file_as_bytes(path, domain_like=domain)
            lines.append({
                "name": f"{domain}/{path}", "bytes": len(content),
                "sha256": hashlib.sha256(content).hexdigest()})
    for line in lines:
        print(json.dumps(line))
    return 0


if __name__ == "__main__":
    sys.exit(main())
