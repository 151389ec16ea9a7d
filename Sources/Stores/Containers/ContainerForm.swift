import Files

/// What a person has handed over instead of a store.
package enum ContainerForm: Sendable, Equatable {
  /// A folder with stores somewhere in it.
  case folder
  /// What Xcode downloads of an app from a device.
  case appData
  /// An iOS backup, whose files are named by digests.
  case backup
  case archive(ArchiveForm)

  /// What it is, as a noun.
  package var noun: String {
    switch self {
    case .folder: "a folder"
    case .appData: "an app's data (.xcappdata)"
    case .backup: "an iOS backup"
    case .archive(let form): form.noun
    }
  }

  /// A word for programs.
  package var identifier: String {
    switch self {
    case .folder: "folder"
    case .appData: "xcappdata"
    case .backup: "ios-backup"
    case .archive(let form): form.rawValue
    }
  }

  /// What is at a path, by what is in it; `nil` for a file that is no archive, and for nothing.
  package init?(at path: String) {
    guard let status = FileSystem.status(path) else { return nil }
    switch status.kind {
    case .other: return nil
    case .file:
      guard let form = ArchiveForm(at: path) else { return nil }
      self = .archive(form)
    case .directory:
      if BackupManifest.isBackup(path) {
        self = .backup
      } else if Self.isAppData(path) {
        self = .appData
      } else {
        self = .folder
      }
    }
  }

  private static func isAppData(_ path: String) -> Bool {
    FileSystem.name(of: path).lowercased().hasSuffix(".xcappdata")
      || FileSystem.isFile(path + "/AppDataInfo.plist") && FileSystem.isDirectory(path + "/AppData")
  }
}

/// Archives that are read, distinguished by their first bytes.
package enum ArchiveForm: String, Sendable, Equatable {
  case zip
  case tar
  case gzip = "tar.gz"
  case bzip2 = "tar.bz2"
  case xz = "tar.xz"
  case zstd = "tar.zst"
  /// One file, packed with gzip, and no archive in it.
  case packedFile = "gz"

  /// What it is, as a noun.
  package var noun: String {
    switch self {
    case .zip: "a ZIP archive"
    case .tar: "a tar archive"
    case .gzip, .bzip2, .xz, .zstd: "a packed tar archive (.\(rawValue))"
    case .packedFile: "a packed file (.gz)"
    }
  }

  /// The program that unpacks it, where none is linked, and the package it comes in.
  var program: (name: String, package: String)? {
    switch self {
    case .zip, .tar, .gzip, .packedFile: nil
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
      self = found.0 == .gzip && !PackedFile(path: path).holdsTar ? .packedFile : found.0
    } else if TarHeader.isHeader(head) {
      self = .tar
    } else {
      return nil
    }
  }
}
