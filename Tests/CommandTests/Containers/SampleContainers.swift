import Files
import ManagedStore
import SQLite
import TestSupport

@testable import Commands
@testable import strata

/// A store with a -wal and external data, and everything that a person may bring it in.
final class SampleContainers {
  /// What a store comes in.
  enum Form: String, CaseIterable, Sendable {
    case folder
    case appData = "com.example.recipes 2026-01-02.xcappdata"
    case backup = "Backup"
    case zip = "stored.zip"
    case packedZip = "packed.zip"
    case tar = "App.tar"
    case packedTar = "App.tar.gz"
    case zippedBackup = "Backup.zip"
  }

  let folder: TemporaryFolder
  /// The store itself, in a folder of its own.
  let store: String
  /// Its files by their paths in that folder.
  let files: [(name: String, bytes: [UInt8])]
  static let title = "only in the -wal"

  init() throws {
    folder = try TemporaryFolder()
    let written = try DemoCommand.write(to: folder.path("made"), objects: 300)
    do {
      let connection = try Connection(path: written.store, mode: .readWrite)
      connection.keepLogOnClose()
      try connection.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
      try connection.run("UPDATE ZRECIPE SET ZTITLE = ? WHERE Z_PK = 1", [.text(Self.title)])
      // Copied while it is open: closing would empty the -wal.
      try FileSystem.makeDirectory(folder.path("plain"))
      for suffix in ["", "-wal"] {
        try FileSystem.copyOver(
          written.store + suffix, to: folder.path("plain/Recipes.sqlite") + suffix)
      }
    }
    let support = "/.Recipes_SUPPORT/_EXTERNAL_DATA"
    try FileSystem.makeDirectory(folder.path("plain") + support)
    var external: [String] = []
    for name in try FileSystem.list(folder.path("made") + support) {
      try FileSystem.copyOver(
        folder.path("made\(support)/\(name)"), to: folder.path("plain\(support)/\(name)"))
      external.append(".Recipes_SUPPORT/_EXTERNAL_DATA/" + name)
    }
    store = folder.path("plain/Recipes.sqlite")
    let plain = folder.path("plain/")
    self.files = try (["Recipes.sqlite", "Recipes.sqlite-wal"] + external).map {
      ($0, try FileSystem.read(plain + $0))
    }
  }

  var model: String { folder.path("made/Recipes.xcdatamodeld") }

  private static let library = "AppData/Library/Application Support/"

  /// Makes one.
  ///
  /// - Returns: its path, and the store's path in it.
  func make(_ form: Form) throws -> (path: String, inner: String) {
    let path = folder.path(form.rawValue)
    switch form {
    case .folder:
      try write(to: path + "/a/b")
      return (path, "a/b/Recipes.sqlite")
    case .appData:
      try write(to: path + "/" + Self.library)
      try FileSystem.write([], to: path + "/AppDataInfo.plist")
      return (path, Self.library + "Recipes.sqlite")
    case .backup:
      let backup = try BackupWriter(path)
      try backup.add("AppDomain-com.example.recipes", "Documents", nil)
      for file in files {
        try backup.add("AppDomain-com.example.recipes", "Documents/" + file.name, file.bytes)
      }
      try backup.add("HomeDomain", "Library/notes.txt", Array("no store".utf8))
      return (path, "AppDomain-com.example.recipes/Documents/Recipes.sqlite")
    case .zip, .packedZip:
      var zip = ZipWriter()
      try zip.add("App.xcappdata/notes.txt", Array("no store".utf8))
      for file in files {
        try zip.add(
          "App.xcappdata/" + Self.library + file.name, file.bytes, isPacked: form == .packedZip)
      }
      try FileSystem.write(zip.bytes, to: path)
      return (path, "App.xcappdata/" + Self.library + "Recipes.sqlite")
    case .tar, .packedTar:
      var tar = TarWriter()
      tar.add("./", type: "5")
      tar.add("./long/" + String(repeating: "folder/", count: 20) + "notes.txt", [1, 2, 3])
      for file in files { tar.add("./" + Self.library + file.name, file.bytes) }
      try FileSystem.write(form == .tar ? tar.bytes : tar.packed, to: path)
      return (path, Self.library + "Recipes.sqlite")
    case .zippedBackup:
      let backup = try make(.backup)
      var zip = ZipWriter()
      for entry in try Tree(backup.path).files {
        try zip.add("0000-1111/" + entry.name, entry.bytes)
      }
      try FileSystem.write(zip.bytes, to: path)
      return (path, "0000-1111/" + backup.inner)
    }
  }

  private func write(to folder: String) throws {
    for file in files {
      let path = folder + "/" + file.name
      try FileSystem.makeDirectory(FileSystem.parent(of: path) ?? folder)
      try FileSystem.write(file.bytes, to: path)
    }
  }
}

/// Every file below a folder, to tell that nothing changed.
struct Tree: Equatable {
  struct File: Equatable {
    var name: String
    var bytes: [UInt8]
  }
  var files: [File] = []

  init(_ path: String) throws {
    guard FileSystem.isDirectory(path) else {
      files = [File(name: "", bytes: try FileSystem.read(path))]
      return
    }
    try add(path, "")
  }

  private mutating func add(_ path: String, _ prefix: String) throws {
    for name in try FileSystem.list(path) {
      if FileSystem.isDirectory(path + "/" + name) {
        try add(path + "/" + name, prefix + name + "/")
      } else {
        files.append(File(name: prefix + name, bytes: try FileSystem.read(path + "/" + name)))
      }
    }
  }
}
