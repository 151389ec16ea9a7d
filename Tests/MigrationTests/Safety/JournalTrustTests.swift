import Files
import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Migration

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A folder with what a store is made of, and one beside it that is none of the store's business.
private struct JournalPlace {
  let folder: TemporaryFolder
  let names: StoreNames
  let contents = ["Library.sqlite": 1, "Library.sqlite-wal": 2, "Library.backup-1": 3]

  init(supportLink: String? = nil) throws {
    folder = try TemporaryFolder()
    for name in ["in", "out/_EXTERNAL_DATA", "out/deep"] {
      try FileSystem.makeDirectory(folder.path(name))
    }
    names = StoreNames(FileSystem.canonical(folder.path("in")) + "/Library.sqlite")
    for (name, byte) in contents { try FileSystem.write([UInt8(byte)], to: names.path(name)) }
    for name in ["secret", "_EXTERNAL_DATA/A", "deep/B"] {
      try FileSystem.write(Array(name.utf8), to: folder.path("out/" + name))
    }
    if let supportLink {
      _ = symbolicLink(names.support, to: supportLink)
    } else {
      try FileSystem.makeDirectory(names.support + "/_EXTERNAL_DATA")
      for (name, byte) in [("A", 4), ("B", 5)] {
        try FileSystem.write([UInt8(byte)], to: names.support + "/_EXTERNAL_DATA/" + name)
      }
    }
  }

  func outside() throws -> [String: [UInt8]] { try SafetyPlace.files(in: folder.path("out")) }

  /// The bytes of all files in the store's folder that are not of a run, in order.
  func inside() throws -> [[UInt8]] {
    try SafetyPlace.files(in: folder.path("in")).filter { !$0.key.contains(".strata-") }
      .map(\.value).sorted { $0.lexicographicallyPrecedes($1) }
  }

  func leave(_ bytes: [UInt8]) throws {
    let journal = names.path(names.journal)
    try FileSystem.write(bytes, to: journal)
    chmod(journal, 0o600)
  }
}

@Suite("A journal that nobody vouches for")
struct JournalTrustTests {
  @Test(
    "with links for components moves nothing out of the folder, whatever the link leads to",
    arguments: ["../out", "../out/deep", "/", "nowhere", "."])
  func links(target: String) throws {
    let place = try JournalPlace(supportLink: target)
    let (outside, inside) = (try place.outside(), try place.inside())
    let names = place.names
    let work = names.newWork()
    let external = work + MigrationJournal.externalSuffix
    let file = try #require(FileIdentity(of: place.folder.path("out/_EXTERNAL_DATA/A")))
    let link = try #require(FileIdentity(of: names.support))
    let support = StoreSuffix.supportFolder(of: names.store)
    try place.leave(
      JournalRecord.encode([
        .run(.output), .work(work),
        .bring(
          .init(from: external + "/_EXTERNAL_DATA/A", to: support + "/_EXTERNAL_DATA/A", file: file)
        ),
        .bring(.init(from: external, to: support, file: link)),
        .aside(.init(from: support, to: ".Library-backup-1_SUPPORT", file: link)),
        .aside(.init(from: support + "/../../out/secret", to: "Library.backup-2", file: file)),
        .bring(.init(from: work, to: names.store, file: file)), .go,
      ]))
    _ = StoreMigration.cleanUp(after: names.path(names.store))
    #expect(try place.outside() == outside)
    #expect(try place.inside() == inside)
  }

  @Test(
    "those that were made up or changed move nothing out of the folder, and lose nothing in it")
  func madeUp() throws {
    let count = TestScale.count(200, ofAll: 1_500, variable: "STRATA_JOURNALS")
    var generator = SeededGenerator(seed: 2_026)
    var (moved, refused, batch) = (0, 0, 0)
    var place = try JournalPlace()
    var (outside, inside) = (try place.outside(), try place.inside())
    for number in 0..<count {
      // Fresh now and then, with links in place of the folder in turn.
      if batch == 0 {
        let links: [String?] = [nil, "../out", nil, "../out/deep", "..", nil]
        place = try JournalPlace(supportLink: links.randomElement(using: &generator) ?? nil)
        (outside, inside) = (try place.outside(), try place.inside())
        batch = 20
      }
      batch -= 1
      try place.leave(Self.journal(in: place, using: &generator))
      let before = try FileSystem.list(place.folder.path("in"))
      let told = StoreMigration.cleanUp(after: place.names.path(place.names.store))
      if told.contains(where: { $0.contains("not trusted") }) { refused += 1 }
      if try FileSystem.list(place.folder.path("in")) != before { moved += 1 }
      guard try place.outside() == outside, try place.inside() == inside else {
        Issue.record("journal \(number): \(told) \(try FileSystem.list(place.folder.path("in")))")
        return
      }
      for name in try FileSystem.list(place.folder.path) where !["in", "out"].contains(name) {
        Issue.record("journal \(number) made \(name)")
        return
      }
    }
    print("\(count) journals: \(moved) changed names, \(refused) were not believed")
    #expect(moved > 0 && refused > 0)
  }

  private static func journal(
    in place: JournalPlace, using generator: inout SeededGenerator
  ) throws -> [UInt8] {
    let names = place.names
    let work = names.newWork()
    let support = StoreSuffix.supportFolder(of: names.store)
    let own = [
      names.store, names.store + "-wal", support, support + "/_EXTERNAL_DATA/A",
      support + "/_EXTERNAL_DATA", support + "/../../out/secret", "../out/secret",
      support + "/deep",
    ]
    let other = [
      "Library.backup-1", "Library.backup-2", "Library-backup-1.sqlite",
      ".Library-backup-1_SUPPORT",
      "Library.undone-1", "../out/new", "Library.unrepaired-1",
    ]
    let made = [
      work, work + ".next", work + ".external", work + ".external/_EXTERNAL_DATA/A",
      work + ".external/../../out/secret", work + ".backup", work + ".external/deep",
    ]
    let files =
      (own + other).compactMap { FileIdentity(of: names.path($0)) }
      + ["out/secret", "out/_EXTERNAL_DATA/A", "out/deep", "out"].compactMap {
        FileIdentity(of: place.folder.path($0))
      } + [FileIdentity(device: 1, inode: 2)]
    func pick(_ list: [String]) -> String { list.randomElement(using: &generator) ?? "" }
    func file() -> FileIdentity {
      files.randomElement(using: &generator) ?? FileIdentity(device: 0, inode: 0)
    }
    let operations: [MigrationJournal.Operation] = [
      .migration, .reset, .rollback, .output, .repair,
    ]
    var records: [JournalRecord] = [
      .run(operations.randomElement(using: &generator) ?? .reset), .work(pick(made + own)),
    ]
    let isLong = Int.random(in: 0..<50, using: &generator) == 0
    for _ in 0..<Int.random(in: 1...(isLong ? 200 : 6), using: &generator) {
      switch Int.random(in: 0..<10, using: &generator) {
      case 0...3: records.append(.aside(.init(from: pick(own), to: pick(other), file: file())))
      case 4...7:
        records.append(.bring(.init(from: pick(made), to: pick(own + other), file: file())))
      case 8: records.append(.remove(pick(own + other), file()))
      default: records.append(.seal(pick(own)))
      }
    }
    if Int.random(in: 0..<8, using: &generator) > 0 { records.append(.go) }
    if Int.random(in: 0..<4, using: &generator) == 0 { records.append(.done) }
    if Int.random(in: 0..<4, using: &generator) == 0 {
      records.append(.remove(pick(other), file()))
    }
    var bytes = JournalRecord.encode(records)
    for _ in 0..<Int.random(in: 0...2, using: &generator) where !bytes.isEmpty {
      let index = Int.random(in: 0..<bytes.count, using: &generator)
      bytes[index] = UInt8.random(in: 0...255, using: &generator)
    }
    return bytes
  }

  @Test("a run's own journal is sealed; one that another hand changed is not believed as sealed")
  func seals() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("journal")
    let word = try #require(RunWord(keptFor: path))
    defer { RunWord.forget(path) }
    #expect(RunWord(knownFor: path) == word)
    let file = FileIdentity(device: 1, inode: 2)
    let first = JournalRecord.encode([.run(.reset), .work("w")])
    var bytes = first + JournalRecord.encode([.seal(word.seal(first))])
    let second = JournalRecord.encode([.go])
    bytes += second
    bytes += JournalRecord.encode([.seal(word.seal(bytes))])
    #expect(
      JournalRecord.sealed(bytes, by: word)?.contains(.go) == true
        && JournalRecord.sealed(bytes, by: word)?.count == 4)
    // What a crash cut off is not there, and the rest is still sealed.
    #expect(JournalRecord.sealed(bytes + Array("aside\0Lib".utf8), by: word)?.contains(.go) == true)
    #expect(JournalRecord.sealed(Array(bytes.dropLast(10)), by: word)?.contains(.go) == false)
    // Added, changed, or sealed with another word.
    let added = JournalRecord.encode([.remove("Library.backup-1", file)])
    #expect(
      JournalRecord.sealed(bytes + added, by: word)?
        .contains(.remove("Library.backup-1", file)) == false)
    var changed = bytes
    changed[14] ^= 1
    #expect(JournalRecord.sealed(changed, by: word) == nil)
    let other = try #require(RunWord(keptFor: folder.path("other")))
    RunWord.forget(folder.path("other"))
    #expect(JournalRecord.sealed(bytes, by: other) == nil)
  }

  @Test(
    "after a real kill the store is the old one or the new one, though the word is gone",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"),
    arguments: InterruptedRun.allCases)
  func killed(run: InterruptedRun) async throws {
    for (withLog, steps) in run.kills() {
      let whole = try run.prepare(withLog: withLog)
      try run.run(in: whole.path) { _ in }
      let after = try InterruptedRun.state(of: whole.path)
      for step in steps {
        let folder = try run.prepare(withLog: withLog)
        let before = try InterruptedRun.state(of: folder.path)
        let (path, number) = (folder.path, run.steps.firstIndex(of: step) ?? 0)
        await #expect(processExitsWith: .signal(SIGKILL)) {
          [run = run as InterruptedRun, path = path as String, number = number as Int] in
          try run.run(in: path) { if $0 == run.steps[number] { kill(getpid(), SIGKILL) } }
        }
        let store = FileSystem.canonical(folder.path) + "/Library.sqlite"
        for name in ["/Library.sqlite", "/Out.sqlite"] {
          let names = StoreNames(FileSystem.canonical(folder.path) + name)
          RunWord.forget(names.path(names.journal))
        }
        let announced = StoreMigration.pendingRecovery(at: store)
        #expect(announced.count == 1, "\(run) \(step): \(announced)")
        let done = StoreMigration.cleanUp(after: store)
        let state = try InterruptedRun.state(of: folder.path)
        // Everything that was there before is there, or everything that is there after; what a run made
        // may have been kept beside it.
        let wanted = step == .done ? after : before
        for (name, content) in wanted {
          #expect(state[name] == content, "\(run) \(withLog) \(step): \(name) \(done)")
        }
        for name in state.keys where wanted[name] == nil {
          let first = name.split(separator: "/").first.map(String.init) ?? name
          #expect(
            done.contains { $0.contains(first) } || name.contains("backup"),
            "\(run) \(withLog) \(step): \(name) is there, and nothing said so: \(done)")
        }
        #expect(
          try !FileSystem.list(folder.path).contains { $0.hasPrefix(".strata-") },
          "\(run) \(step): \(done)")
      }
    }
  }

  @Test("without the word nothing is removed that a journal says is to go")
  func removal() throws {
    let place = try JournalPlace()
    let names = place.names
    let backup = try #require(names.file("Library.backup-1"))
    try place.leave(
      JournalRecord.encode([
        .run(.reset), .work(names.newWork()), .go, .done, .remove("Library.backup-1", backup),
      ]))
    let done = StoreMigration.cleanUp(after: names.path(names.store))
    #expect(names.file("Library.backup-1") == backup)
    #expect(done.contains { $0.contains("Library.backup-1 was to be removed and is kept") })
  }

  @Test(
    "with more moves than the folder has names, or of a file with other names, it is not believed")
  func doubt() throws {
    for kind in ["many", "links", "link"] {
      let place = try JournalPlace()
      let names = place.names
      let inside = try place.inside()
      let file = try #require(names.file("Library.sqlite"))
      var records: [JournalRecord] = [.run(.reset), .work(names.newWork())]
      switch kind {
      case "many":
        for number in 1...60 {
          records.append(
            .aside(
              .init(
                from: "Library.sqlite", to: "Library.backup-\(number)",
                file: FileIdentity(device: file.device, inode: UInt64(number)))))
        }
      case "links":
        #expect(names.link("Library.sqlite", to: "Other.sqlite"))
        try names.rename("Library.sqlite", to: "Library-backup-1.sqlite")
        records.append(
          .aside(.init(from: "Library.sqlite", to: "Library-backup-1.sqlite", file: file)))
      default:
        #expect(symbolicLink(names.path("Library.undone-1"), to: "../out/secret"))
        let link = try #require(names.file("Library.undone-1"))
        try names.remove("Library.sqlite-wal")
        records.append(
          .aside(.init(from: "Library.sqlite-wal", to: "Library.undone-1", file: link)))
      }
      try place.leave(JournalRecord.encode(records + [.go]))
      let list = try FileSystem.list(place.folder.path("in"))
      let done = StoreMigration.cleanUp(after: names.path(names.store))
      #expect(done.contains { $0.contains("is not trusted") }, "\(kind): \(done)")
      #expect(try FileSystem.list(place.folder.path("in")) == list, "\(kind)")
      if kind == "many" { #expect(try place.inside() == inside) }
    }
  }
}
