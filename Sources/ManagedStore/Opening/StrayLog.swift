import Files
import ManagedModel

/// A file beside a store that looks like its -wal under another name.
///
/// Mail programs, browsers and people rename: `store (1).sqlite-wal`, `store.sqlite-wal.1`,
/// `store-wal`, `store.sqlite-wal.txt`.
package struct StrayLog: Sendable, Equatable {
  /// What strata itself calls a log that it set aside ends in this.
  static let setAsideSuffix = ".unapplied"

  /// The file's name, in the store's folder.
  package var name: String
  /// Frames in it, as far as they can be counted.
  package var frames: Int

  /// Those beside a store whose frames are not in it already.
  package static func all(beside path: String) -> [StrayLog] {
    let folder = FileSystem.parent(of: path) ?? "."
    let own = FileSystem.name(of: path)
    // A folder that cannot be listed has nothing to show.
    guard let names = try? FileSystem.list(folder) else { return [] }
    return candidates(in: names, besideStore: own).compactMap { name in
      let file = folder + "/" + name
      // What it is, its first bytes tell: the name alone is no sign.
      guard let status = FileSystem.status(file), status.kind == .file, status.size > 32,
        let head = try? FileSystem.read(file, limit: 4), isLogHead(head),
        let log = try? WriteAheadLog(at: file, of: path, comparing: true)
      else { return nil }
      let frames = (log.isCheckpointed ? 0 : log.frames) + (log.unapplied?.frames ?? 0)
      return frames > 0 ? StrayLog(name: name, frames: frames) : nil
    }
  }

  /// Names of a folder that could have become of a store's log's.
  package static func candidates(in names: [String], besideStore own: String) -> [String] {
    let known = Set(names)
    return names.filter {
      $0 != own && $0 != own + "-wal" && !$0.hasSuffix(setAsideSuffix)
        && looksLike($0, logOf: own)
        // Not the log of another file that is there.
        && !($0.hasSuffix("-wal") && known.contains(String($0.dropLast(4))))
    }.prefix(20).map(\.self)
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
    return (name[..<place.lowerBound] + "/" + name[place.upperBound...]).contains("wal")
  }
}

extension StrayLog {
  /// - Parameter isNeeded: whether the store has no log of its own.
  package func sentence(store: String, isNeeded: Bool) -> String {
    let name = FileSystem.name(of: store)
    let what =
      "The file \(self.name) beside the store looks like its -wal under another name (\(NumberOf.frames(frames)), not applied)."
    return isNeeded
      ? what + " Rows may be missing. In a copy of both, rename it to \(name)-wal and look again."
      : what
  }
}
