import Files
import ManagedModel

/// The placeholder of a file that iCloud Drive has not downloaded: `.NAME.icloud` in place of `NAME`.
///
/// Where placeholders are looked for, is decided here alone. macOS 14 and later keep the name and leave the
/// file empty of data instead; copied to another system, such a file has its content.
package struct CloudPlaceholder: Sendable, Equatable {
  /// Path of the file that is not on this machine.
  package var file: String
  /// Size of that file, where the placeholder states it.
  package var bytes: Int?

  /// Name of the placeholder itself.
  package var name: String { Self.name(for: FileSystem.name(of: file)) }

  /// The placeholder of a file; `nil` where the file itself has content, or no placeholder is there.
  package init?(for file: String) {
    guard (FileSystem.status(file)?.size ?? 0) == 0 else { return nil }
    let path =
      (FileSystem.parent(of: file) ?? ".") + "/" + Self.name(for: FileSystem.name(of: file))
    guard let status = FileSystem.status(path), status.kind == .file else { return nil }
    self.file = file
    guard status.size <= Self.largest, let list = try? FileSystem.read(path, limit: Self.largest),
      case .integer(let size)? = (try? PropertyList.read(list))?["NSURLFileSizeKey"], size >= 0
    else { return }
    bytes = Int(clamping: size)
  }

  /// Those of the -wal and the -journal of a store, as far as these hold anything.
  package static func companions(ofStore path: String) -> [CloudPlaceholder] {
    StoreSuffix.content.compactMap { CloudPlaceholder(for: path + $0) }.filter {
      // A log of a header alone, or an ended journal: nothing is missing.
      $0.bytes.map { $0 > 32 } ?? true
    }
  }

  /// Name of a file's placeholder.
  package static func name(for file: String) -> String { "." + file + suffix }

  /// Name or path of the file that a name or a path of a placeholder stands for; `nil` for any other.
  package static func file(ofPlaceholder path: String) -> String? {
    let name = FileSystem.name(of: path)
    guard name.hasPrefix("."), name.hasSuffix(suffix), name.utf8.count > suffix.utf8.count + 1
    else {
      return nil
    }
    return String(path.dropLast(name.count)) + name.dropFirst().dropLast(suffix.count)
  }

  private static let suffix = ".icloud"
  /// A placeholder is a small property list.
  private static let largest = 1 << 16
}

extension CloudPlaceholder {
  /// Whether it is that of a -wal.
  package var isLog: Bool { file.hasSuffix("-wal") }

  private var place: String { Self.place(name, bytes) }

  private static func place(_ name: String, _ bytes: Int?) -> String {
    "only its placeholder \(name)\(bytes.map { " (for \($0) bytes)" } ?? "") is here"
  }

  /// Why the file cannot be read, and what to do.
  package var error: CoreDataError { Self.error(for: file, bytes: bytes) }

  /// The same for a file whose placeholder is known to be there.
  package static func error(for file: String, bytes: Int? = nil) -> CoreDataError {
    CoreDataError(
      .unreadable, code: .persistentStoreOpen,
      "the file is not downloaded from iCloud: \(place(name(for: FileSystem.name(of: file)), bytes))",
      path: file, hint: advice(file))
  }

  /// That a companion of a store is not here, as a sentence.
  package var sentence: String {
    let what = isLog ? "-wal" : "-journal"
    let follows =
      isLog
      ? "The last saves are in it: rows may be missing or older."
      : "A save was not finished: the store may hold half of it."
    return "The \(what) of the store is not downloaded from iCloud: \(place). \(follows)"
  }

  /// How to get a file, as sentences.
  package static func advice(_ file: String) -> String {
    "On a Mac with the same iCloud account, run: brctl download \(ShellText.quoted(FileSystem.name(of: file))) in its folder, or choose Download Now in Finder. Then copy the store again, with all files beside it."
  }
}

extension StoreFiles {
  /// Refuses a store that iCloud Drive has not downloaded.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable.
  package func refuseNotDownloaded() throws {
    if let placeholder = CloudPlaceholder(for: path) { throw placeholder.error }
  }
}
