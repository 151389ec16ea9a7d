import Files
import ManagedStore
import SQLite
import Salvage

/// Stores with mutated pages, logs and journals, for ``Fuzzing``.
public enum SalvageFuzzing {
  /// Reads whatever can be read of the bytes as a store: those before a mark are its main file, those behind it its
  /// -wal or its -journal. Of every other input the checksums are made right again, so that its pages are believed.
  public static func target(in folder: TemporaryFolder) throws -> Fuzzing.Target {
    let path = folder.path("hostile.sqlite")
    let model = try CompositeSamples.library()
    let made = folder.path("made.sqlite")
    try CompositeSamples.writeLibrary(to: made)
    let sample = try Sample(of: made)
    let corpus = [
      sample.main, sample.main + Mark.log.bytes + sample.log,
      sample.main + Mark.journal.bytes + sample.journal,
    ]
    return Fuzzing.Target("pages of a store", corpus: corpus) { bytes in
      for suffix in ["", "-wal", "-journal"] { FileSystem.remove(path + suffix) }
      let mark = Mark.allCases.first { bytes.firstRange(of: $0.bytes) != nil }
      let place = mark.flatMap { bytes.firstRange(of: $0.bytes) }
      try FileSystem.write(Array(bytes[..<(place?.lowerBound ?? bytes.count)]), to: path)
      if let mark, let place {
        var companion = Array(bytes[place.upperBound...])
        if bytes.reduce(0, { $0 &+ Int($1) }) % 2 == 0 { mark.seal(&companion) }
        try FileSystem.write(companion, to: path + mark.suffix)
      }
      try? look(path)
      try salvage(path, model)
    }
  }

  /// What `info` and `dump` do.
  private static func look(_ path: String) throws {
    let store = try Store(path: path)
    _ = try store.counts()
    for table in store.entityTables {
      let cursor = try ObjectCursor(store, entity: table.entity)
      while try cursor.next() != nil {}
    }
    _ = try store.externalData()
  }

  private static func salvage(_ path: String, _ model: Model) throws {
    let copy = path + ".copy"
    let source = try SalvageSource(path: path, log: .ownIfFitting)
    for copiesTrees in [true, false] {
      for suffix in ["", RemainsCopy.listSuffix] { FileSystem.remove(copy + suffix) }
      do {
        let made = try SalvagedCopy(of: source, at: copy, model: model, copiesTrees: copiesTrees)
        // Pages that were copied may hold anything; SQLite tells.
        _ = try made.connection.rows("PRAGMA integrity_check(5)")
      } catch  where copiesTrees {}
    }
    for suffix in ["", RemainsCopy.listSuffix] { FileSystem.remove(copy + suffix) }
    _ = try RemainsCopy(of: source, at: copy, model: model)
  }
}

/// What stands between a main file and the file beside it.
private enum Mark: CaseIterable {
  case log, journal

  var suffix: String { self == .log ? "-wal" : "-journal" }
  var bytes: [UInt8] { Array("\0\0 beside it: \(suffix) \0\0".utf8) }

  /// Makes the checksums of a file right for what it holds.
  func seal(_ file: inout [UInt8]) {
    switch self {
    case .log: Self.sealLog(&file)
    case .journal: Self.sealJournal(&file)
    }
  }

  private static func put(_ word: UInt32, into file: inout [UInt8], at offset: Int) {
    for index in 0..<4 {
      file[offset + index] = UInt8(truncatingIfNeeded: word >> (24 - 8 * index))
    }
  }

  private static func sealLog(_ file: inout [UInt8]) {
    guard file.count > 32 else { return }
    let isBigEndian = file[3] & 1 == 1
    var sum = LogChecksum()
    func put(at offset: Int) {
      Self.put(sum.first, into: &file, at: offset)
      Self.put(sum.second, into: &file, at: offset + 4)
    }
    sum.add(file, 0..<24, bigEndian: isBigEndian)
    put(at: 24)
    let frame = 24 + Sample.pageSize
    for start in stride(from: 32, through: file.count - frame, by: frame) {
      file.replaceSubrange(start + 8..<start + 16, with: file[16..<24])
      sum.add(file, start..<start + 8, bigEndian: isBigEndian)
      sum.add(file, start + 24..<start + frame, bigEndian: isBigEndian)
      put(at: start + 16)
    }
  }

  private static func sealJournal(_ file: inout [UInt8]) {
    let record = Sample.pageSize + 8
    for start in stride(from: 512, through: file.count - record, by: record) {
      let page = file[start + 4..<start + 4 + Sample.pageSize]
      put(Sample.checksum(page), into: &file, at: start + 4 + Sample.pageSize)
    }
  }
}

/// The files of a store: its main file, a -wal that goes on from it, and a -journal of a save that was not finished.
private struct Sample {
  static let pageSize = 4096
  private static let nonce: UInt32 = 20_240_501
  let main: [UInt8]
  let log: [UInt8]
  let journal: [UInt8]

  init(of path: String) throws {
    let connection = try Connection(path: path, mode: .create)
    try StoreFunctions.define(on: connection)
    try connection.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
    _ = try connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    for row in try connection.rows(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%Z_OPT%'")
    {
      guard let name = row.first?.text else { continue }
      try connection.execute("UPDATE \(quoted(name)) SET Z_OPT = Z_OPT + 1 WHERE Z_PK % 2 = 1")
    }
    (main, log) = (try FileSystem.read(path), try FileSystem.read(path + "-wal"))
    connection.close()
    func word(_ value: Int) -> [UInt8] {
      (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }
    let pages = main.count / Self.pageSize
    var journal: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    for value in [pages, Int(Self.nonce), pages, 512, Self.pageSize] { journal += word(value) }
    journal += [UInt8](repeating: 0, count: 512 - journal.count)
    for number in 1...max(1, pages) where number * Self.pageSize <= main.count {
      let page = main[(number - 1) * Self.pageSize..<number * Self.pageSize]
      journal += word(number) + page + word(Int(Self.checksum(page)))
    }
    self.journal = journal
  }

  /// As a journal has it of a page.
  static func checksum(_ page: ArraySlice<UInt8>) -> UInt32 {
    stride(from: page.count - 200, to: 0, by: -200).reduce(nonce) { sum, place in
      sum &+ UInt32(page[page.startIndex + place])
    }
  }
}
