import ManagedModel
import ManagedStore

/// The file that `--receipt` names: what `--json` prints in the end, for a log.
struct ReceiptFile: Sendable {
  let path: String

  static let option = Command.Option(
    "receipt", "FILE", "write the receipt there as JSON (of several stores an array)")

  /// - Throws: ``CoreDataError`` of kind usage before anything is begun, where it could not be written,
  ///   or is one of the stores.
  init?(_ arguments: Arguments, stores: [String]) throws {
    guard let path = arguments.value("receipt") else { return nil }
    self.path = path
    let folder = FileSystem.parent(of: path) ?? "."
    guard FileSystem.isDirectory(folder), FileSystem.isWritable(folder) else {
      throw CoreDataError(
        .usage, "the receipt cannot be written into that folder", path: path,
        hint: "Name a file in a folder that exists.")
    }
    let own = FileSystem.canonical(path)
    let isFree = FileSystem.status(path).map { $0.kind == .file } ?? true
    guard isFree, !stores.contains(where: { FileSystem.canonical($0) == own }),
      arguments.value("output").map(FileSystem.canonical) != own
    else {
      throw CoreDataError(
        .usage, "the receipt would replace a store or a folder", path: path,
        hint: "Name another file.")
    }
  }

  /// A file that a person named in the interface.
  ///
  /// - Throws: ``CoreDataError`` of kind refused where a file is there that is not to be replaced.
  init(path: String, replaces: Bool) throws {
    self.path = path
    guard let status = FileSystem.status(path) else { return }
    guard status.kind == .file, !Self.isStore(path) else {
      throw CoreDataError(
        .usage, "the receipt would replace a store or a folder", path: path,
        hint: "Name another file.")
    }
    guard replaces else {
      throw CoreDataError(
        .refused, "that file exists already; Enter again replaces it", path: path)
    }
  }

  private static func isStore(_ path: String) -> Bool {
    let head = try? FileSystem.read(path, limit: 16)
    return head == Array("SQLite format 3\0".utf8)
  }

  /// All of it or nothing: written beside, then renamed.
  func write(_ bytes: [UInt8]) throws {
    let temporary = path + ".strata-receipt"
    do {
      try FileSystem.write(bytes, to: temporary)
      try FileSystem.sync(temporary)
      try FileSystem.rename(temporary, to: path)
    } catch {
      FileSystem.remove(temporary)
      let reason = (error as? CoreDataError)?.message ?? "\(error)"
      throw CoreDataError(
        .unreadable, "the work is done, but the receipt could not be written: \(reason)",
        path: path, hint: "The stores are as the receipt above says.")
    }
  }
}
