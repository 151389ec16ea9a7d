import Files
import ManagedStore

/// What a run writes down before it does it, so that the next one can finish it or take it back.
///
/// On the disk a record is its fields, each ended by a zero byte, which no name can hold. A record
/// that was cut off by a crash is none: what it speaks of was not begun.
enum JournalRecord: Equatable {
  /// What kind of run it is.
  case run(MigrationJournal.Operation)
  /// The run's temporary files have names that begin so.
  case work(String)
  /// A file or folder of the old store gets a name beside it.
  case aside(Handover.Move)
  /// What was made gets its name; the last one is the store.
  case bring(Handover.Move)
  /// Which file was in the store's place before.
  case old(FileIdentity)
  /// From here on names change.
  case go
  /// All of it was taken back.
  case undone
  case done
  /// No longer needed now that the store is in place.
  case remove(String, FileIdentity)
  /// That what stands before it was written by the run whose word it was made with.
  case seal(String)

  private static let version = "strata-run-1"

  private var fields: [String] {
    func list(_ key: String, _ move: Handover.Move) -> [String] {
      [key, move.from, move.to, String(move.file.device), String(move.file.inode)]
    }
    return switch self {
    case .run(let operation): [Self.version, operation.rawValue]
    case .work(let name): ["work", name]
    case .aside(let move): list("aside", move)
    case .bring(let move): list("bring", move)
    case .old(let file): ["old", String(file.device), String(file.inode)]
    case .go: ["go"]
    case .undone: ["undone"]
    case .done: ["done"]
    case .remove(let name, let file):
      ["remove", name, String(file.device), String(file.inode)]
    case .seal(let value): ["seal", value]
    }
  }

  static func encode(_ records: [JournalRecord]) -> [UInt8] {
    records.flatMap { $0.fields.flatMap { Array($0.utf8) + [0] } }
  }

  /// The records that are whole; empty for what is no journal of this version.
  static func decode(_ bytes: [UInt8]) -> [JournalRecord] {
    guard let end = bytes.lastIndex(of: 0) else { return [] }
    var fields = bytes[..<end].split(separator: 0, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }[...]
    var records: [JournalRecord] = []
    while let key = fields.popFirst() {
      func take(_ count: Int) -> [String]? {
        guard fields.count >= count else { return nil }
        defer { fields = fields.dropFirst(count) }
        return Array(fields.prefix(count))
      }
      func identity(_ device: String, _ inode: String) -> FileIdentity? {
        guard let device = UInt64(device), let inode = UInt64(inode) else { return nil }
        return FileIdentity(device: device, inode: inode)
      }
      func move() -> Handover.Move? {
        guard let list = take(4), let file = identity(list[2], list[3]) else { return nil }
        return Handover.Move(from: list[0], to: list[1], file: file)
      }
      let record: JournalRecord? =
        switch key {
        case version:
          take(1).flatMap { MigrationJournal.Operation(rawValue: $0[0]) }.map(Self.run)
        case "work": take(1).map { .work($0[0]) }
        case "aside": move().map(Self.aside)
        case "bring": move().map(Self.bring)
        case "old": take(2).flatMap { identity($0[0], $0[1]) }.map(Self.old)
        case "go": .go
        case "seal": take(1).map { .seal($0[0]) }
        case "undone": .undone
        case "done": .done
        case "remove":
          take(3).flatMap { list in identity(list[1], list[2]).map { .remove(list[0], $0) } }
        default: nil
        }
      guard let record else { break }
      records.append(record)
    }
    guard case .run = records.first else { return [] }
    return records
  }
}

extension JournalRecord {
  /// The records that a word seals, up to its last seal; `nil` where it seals none.
  static func sealed(_ bytes: [UInt8], by word: RunWord) -> [JournalRecord]? {
    let mark = Array("\0seal\0".utf8)
    var start = bytes.count - mark.count
    // A crash leaves a part of one record behind the last seal, and nothing else does.
    var tries = 8
    while start >= 0, tries > 0 {
      defer { start -= 1 }
      guard bytes[start] == 0, bytes[start...].starts(with: mark) else { continue }
      tries -= 1
      let value = bytes[(start + mark.count)...].prefix { $0 != 0 }
      guard value.elementsEqual(word.seal(Array(bytes[...start])).utf8) else { continue }
      return decode(Array(bytes[...start]))
    }
    return nil
  }
}
