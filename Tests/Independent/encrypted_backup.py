#!/usr/bin/env python3
"""Makes an encrypted iOS backup of a folder, to try strata with by hand; it shares nothing with strata.

    encrypted_backup.py FOLDER BACKUP PASSWORD [ROUNDS]

The files of FOLDER become those of the app com.example.recipes, in its Documents. ROUNDS is the number of
rounds of the first derivation (default 1,000; iOS takes 10,000,000). AES comes from pycryptodome, which
iphone-backup-decrypt brings along.
"""
import hashlib
import os
import plistlib
import sqlite3
import struct
import sys
import tempfile

from Crypto.Cipher import AES

DOMAIN = "AppDomain-com.example.recipes"
CLASSES = (1, 2, 3, 4, 6, 7, 8)


def wrapped(key, with_key):
    """RFC 3394."""
    cipher = AES.new(with_key, AES.MODE_ECB)
    a = b"\xa6" * 8
    blocks = [key[i : i + 8] for i in range(0, len(key), 8)]
    for j in range(6):
        for i, block in enumerate(blocks):
            out = cipher.encrypt(a + block)
            count = len(blocks) * j + i + 1
            a = struct.pack(">Q", struct.unpack(">Q", out[:8])[0] ^ count)
            blocks[i] = out[8:]
    return a + b"".join(blocks)


def encrypted(content, key):
    pad = 16 - len(content) % 16
    return AES.new(key, AES.MODE_CBC, bytes(16)).encrypt(content + bytes([pad]) * pad)


def block(tag, value):
    if isinstance(value, int):
        value = struct.pack(">I", value)
    return tag.encode() + struct.pack(">I", len(value)) + value


def record(path, size, key):
    def name(*classes):
        return {"$classname": classes[0], "$classes": list(classes)}

    uid = plistlib.UID
    return plistlib.dumps(
        {
            "$version": 100000,
            "$archiver": "NSKeyedArchiver",
            "$top": {"root": uid(1)},
            "$objects": [
                "$null",
                {
                    "$class": uid(5), "Size": size, "RelativePath": uid(2), "EncryptionKey": uid(3),
                    "ProtectionClass": 3, "Mode": 0o100644, "LastModified": 1_700_000_000,
                    "Birth": 1_700_000_000, "Flags": 0,
                },
                path, {"NS.data": key, "$class": uid(4)},
                name("NSMutableData", "NSData", "NSObject"), name("MBFile", "NSObject"),
            ],
        },
        fmt=plistlib.FMT_BINARY)


def main():
    if len(sys.argv) not in (4, 5):
        print(__doc__, file=sys.stderr)
        return 2
    source, backup, password = sys.argv[1:4]
    rounds = int(sys.argv[4]) if len(sys.argv) == 5 else 1_000
    first, second = os.urandom(20), os.urandom(20)
    key = hashlib.pbkdf2_hmac("sha256", password.encode(), first, rounds)
    key = hashlib.pbkdf2_hmac("sha1", key, second, 10_000, 32)
    keys = {number: os.urandom(32) for number in CLASSES}
    bag = (
        block("VERS", 5) + block("TYPE", 1) + block("UUID", os.urandom(16))
        + block("HMCK", os.urandom(40)) + block("WRAP", 0) + block("SALT", second)
        + block("ITER", 10_000) + block("DPWT", 0) + block("DPIC", rounds) + block("DPSL", first))
    for number, class_key in keys.items():
        bag += (
            block("UUID", os.urandom(16)) + block("CLAS", number) + block("WRAP", 2)
            + block("KTYP", 0) + block("WPKY", wrapped(class_key, key)))
    os.makedirs(backup)
    with tempfile.TemporaryDirectory() as folder:
        manifest = os.path.join(folder, "Manifest.db")
        files = sqlite3.connect(manifest)
        files.execute(
            "CREATE TABLE Files (fileID TEXT PRIMARY KEY, domain TEXT, relativePath TEXT,"
            " flags INTEGER, file BLOB)")
        for place, _, names in os.walk(source):
            for name in names:
                whole = os.path.join(place, name)
                path = "Documents/" + os.path.relpath(whole, source)
                digest = hashlib.sha1(f"{DOMAIN}-{path}".encode()).hexdigest()
                with open(whole, "rb") as file:
                    content = file.read()
                file_key = os.urandom(32)
                wrapped_key = struct.pack("<I", 3) + wrapped(file_key, keys[3])
                files.execute(
                    "INSERT INTO Files VALUES (?, ?, ?, 1, ?)",
                    (digest, DOMAIN, path, record(path, len(content), wrapped_key)))
                os.makedirs(os.path.join(backup, digest[:2]), exist_ok=True)
                with open(os.path.join(backup, digest[:2], digest), "wb") as file:
                    file.write(encrypted(content, file_key))
        files.commit()
        files.close()
        with open(manifest, "rb") as file:
            list_key = os.urandom(32)
            content = encrypted(file.read(), list_key)
    with open(os.path.join(backup, "Manifest.db"), "wb") as file:
        file.write(content)
    with open(os.path.join(backup, "Manifest.plist"), "wb") as file:
        plistlib.dump(
            {
                "IsEncrypted": True, "Version": "10.0", "BackupKeyBag": bag,
                "ManifestKey": struct.pack("<I", 4) + wrapped(list_key, keys[4]),
                "Lockdown": {
                    "DeviceName": "Anna’s iPhone", "ProductVersion": "18.1",
                    "ProductType": "iPhone16,1",
                },
            },
            file, fmt=plistlib.FMT_BINARY)
    return 0


if __name__ == "__main__":
    sys.exit(main())
