import Files

/// Archives that are read, distinguished by their first bytes.
package enum ArchiveForm: String, Sendable, Equatable {
  case zip
  case tar
  case gzip = "tar.gz"
  case bzip2 = "tar.bz2"
  case xz = "tar.xz"
  case zstd = "tar.zst"

  /// What it is, as a noun.
  package var noun: String {
    switch self {
    case .zip: "a ZIP archive"
    case .tar: "a tar archive"
    case .gzip, .bzip2, .xz, .zstd: "a packed tar archive (.\(rawValue))"
    }
  }

  /// The program that unpacks it, where none is linked, and the package it comes in.
  var program: (name: String, package: String)? {
    switch self {
    case .zip, .tar, .gzip: nil
    case .bzip2: ("bzip2", "bzip2")
    case .xz: ("xz", "xz-utils")
    case .zstd: ("zstd", "zstd")
    }
  }

  init?(at path: String) {
    guard let head = try? FileSystem.read(path, limit: 512), head.count >= 22 else { return nil }
    let signatures: [(ArchiveForm, [UInt8])] = [
      (.zip, [0x50, 0x4B, 3, 4]), (.zip, [0x50, 0x4B, 5, 6]), (.gzip, [0x1F, 0x8B, 8]),
      (.bzip2, Array("BZh".utf8)), (.xz, [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0]),
      (.zstd, [0x28, 0xB5, 0x2F, 0xFD]),
    ]
    if let found = signatures.first(where: { head.starts(with: $0.1) }) {
      self = found.0
    } else if TarHeader.isHeader(head) {
      self = .tar
    } else {
      return nil
    }
  }
}
