import Files
import ManagedModel
import Salvage

/// A file beside a store that looks like its -wal, or its -journal, under another name.
///
/// Mail programs, browsers and people rename: `store (1).sqlite-wal`, `store.sqlite-wal.1`,
/// `store-wal`, `store.sqlite-journal.txt`.
package struct StrayLog: Sendable, Equatable {
  /// What the file is.
  package enum Kind: String, Sendable {
    /// A write-ahead log: frames that are not in the store.
    case log = "wal"
    /// A rollback journal: pages as they were before a save that was not finished.
    case journal
  }

  /// What strata itself calls a log that it set aside ends in this.
  static let setAsideSuffix = ".unapplied"

  /// The file's name, in the store's folder.
  package var name: String
  /// What it is.
  package var kind = Kind.log
  /// Frames in it, as far as they can be counted; of a -journal the pages that it would restore.
  package var frames: Int
  /// Whether the store was written to since, so that a -journal would restore what is older.
  package var isOfAnotherTime = false

  /// Those beside a store that hold what is not in it already.
  package static func all(beside path: String) -> [StrayLog] {
    let folder = FileSystem.parent(of: path) ?? "."
    let own = FileSystem.name(of: path)
    // A folder that cannot be listed has nothing to show.
    guard let names = try? FileSystem.list(folder) else { return [] }
    return candidates(in: names, besideStore: own).compactMap { name in
      let file = folder + "/" + name
      // What it is, its first bytes show: the name alone is no sign.
      guard let status = FileSystem.status(file), status.kind == .file, status.size > 32,
        let head = try? FileSystem.read(file, limit: 8), isHead(head)
      else { return nil }
      guard isLogHead(head) else { return journal(file, name, of: path) }
      guard let log = try? WriteAheadLog(at: file, of: path, comparing: true) else { return nil }
      let frames = (log.isCheckpointed ? 0 : log.frames) + (log.unapplied?.frames ?? 0)
      return frames > 0 ? StrayLog(name: name, frames: frames) : nil
    }
  }

  private static func journal(_ file: String, _ name: String, of path: String) -> StrayLog? {
    guard let main = try? OpenFile(path),
      let journal = try? RollbackJournal(path: file, main: main), journal.state == .hot,
      // Where none of them differs from the store's, nothing would be restored.
      let changes = try? journal.changes(in: main), changes > 0
    else { return nil }
    return StrayLog(
      name: name, kind: .journal, frames: journal.pages, isOfAnotherTime: journal.isOfAnotherTime)
  }

  /// Names of a folder that could have become of a store's log's.
  package static func candidates(in names: [String], besideStore own: String) -> [String] {
    let known = Set(names)
    return names.filter {
      name in
      name != own && !name.hasSuffix(setAsideSuffix) && looksLike(name, logOf: own)
        // Not the store's own log, nor that of another file that is there.
        && !StoreSuffix.content.contains {
          name == own + $0 || name.hasSuffix($0) && known.contains(String(name.dropLast($0.count)))
        }
    }.prefix(20).map(\.self)
  }

  /// Whether bytes are the first of a log or of a journal.
  package static func isHead(_ bytes: [UInt8]) -> Bool {
    isLogHead(bytes) || bytes.starts(with: JournalHeader.magic)
  }

  /// Whether bytes are the first of a log.
  package static func isLogHead(_ bytes: [UInt8]) -> Bool {
    bytes.starts(with: [0x37, 0x7F, 0x06, 0x82]) || bytes.starts(with: [0x37, 0x7F, 0x06, 0x83])
  }

  /// Whether the name could have become of the log's: it has the store's stem, and `wal` besides.
  static func looksLike(_ name: String, logOf store: String) -> Bool {
    let name = name.lowercased()
    let stem = FileSystem.stem(of: store).lowercased()
    guard !stem.isEmpty, let place = name.firstRange(of: stem) else { return false }
    // A short stem is part of too many words.
    guard stem.utf8.count > 2 || place.lowerBound == name.startIndex else { return false }
    let rest = name[..<place.lowerBound] + "/" + name[place.upperBound...]
    return rest.contains("wal") || rest.contains("journal")
  }
}

extension StrayLog {
  /// - Parameter isNeeded: whether the store has no such file of its own.
  package func sentence(store: String, isNeeded: Bool) -> String {
    let name = FileSystem.name(of: store)
    if kind == .journal {
      let what =
        "The file \(self.name) beside the store looks like its -journal under another name (\(NumberText.counted(frames, "page")), not rolled back)."
      if isOfAnotherTime {
        return what + " The store was written to since then: the -journal is of an earlier save."
      }
      return isNeeded
        ? what
          + " The store may hold half of a save. In a copy of both, rename it to \(name)-journal and check again."
        : what
    }
    let what =
      "The file \(self.name) beside the store looks like its -wal under another name (\(NumberText.counted(frames, "frame")), not applied)."
    return isNeeded
      ? what + " Rows may be missing. In a copy of both, rename it to \(name)-wal and check again."
      : what
  }
}
