import Files
import ManagedModel
import SQLite
import Synchronization
import TestSupport
import Testing

@testable import Commands
@testable import ManagedStore
@testable import strata

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Demo stores in a folder of their own, as an app and its extensions would have them.
struct StoreFolder {
  let folder: TemporaryFolder
  let bundle: String

  init() throws {
    folder = try TemporaryFolder()
    _ = try DemoCommand.write(to: folder.path("models"), objects: 60)
    bundle = folder.path("models/Recipes.xcdatamodeld")
    try FileSystem.makeDirectory(folder.path("stores"))
  }

  var stores: String { folder.path("stores") }

  /// Another copy of the demo's store.
  func add(_ name: String) throws -> String {
    let path = folder.path("stores/" + name)
    try FileSystem.makeDirectory(FileSystem.parent(of: path) ?? ".")
    let source = StoreFiles(path: folder.path("models/Recipes.sqlite"))
    try FileSystem.copyOver(source.path, to: path)
    let target = StoreFiles(path: path)
    if FileSystem.isDirectory(source.externalDataFolder) {
      try FileSystem.makeDirectory(target.externalDataFolder)
      for name in try FileSystem.list(source.externalDataFolder) {
        try FileSystem.copyOver(
          source.externalDataFolder + "/" + name, to: target.externalDataFolder + "/" + name)
      }
    }
    return path
  }

  func identifiers(_ path: String) throws -> [String] {
    try Store(path: path).metadata.versionIdentifiers
  }
}

@Suite("migrate with several stores")
struct SeveralStoresTests {
  private let place: StoreFolder

  init() throws { place = try StoreFolder() }

  @Test("a folder stands for the stores in it and one folder below, and for nothing else")
  func folder() throws {
    let one = try place.add("A.sqlite")
    let two = try place.add("Group/B.db")
    _ = try place.add("Group/Deeper/C.sqlite")
    _ = try place.add("A.backup-1")
    _ = try place.add("A.undone-2")
    _ = try place.add("A.unrepaired-1")
    _ = try place.add("A-backup-1.sqlite")
    _ = try place.add(".hidden.sqlite")
    let other = try Connection(path: place.folder.path("stores/plain.sqlite"), mode: .create)
    try other.execute("CREATE TABLE t (a)")
    other.close()
    try FileSystem.write([1, 2, 3], to: place.folder.path("stores/notes.txt"))
    try FileSystem.copyOver(one, to: one + "-wal")
    #expect(try StoreList([place.stores + "/"]).paths == [one, two])
    FileSystem.remove(one + "-wal")
    // A damaged store is not passed over.
    let damaged = place.folder.path("stores/Z.sqlite")
    try FileSystem.write(Array(try FileSystem.read(one).prefix(5000)), to: damaged)
    #expect(try StoreList([place.stores]).paths == [one, damaged, two])
    let empty = try TemporaryFolder()
    #expect(throws: CoreDataError.self) { try StoreList([empty.path]) }
  }

  @Test("a file that is called like a store and is none is told, and counts as unreadable")
  func misnamed() throws {
    let one = try place.add("A.sqlite")
    let broken = place.folder.path("stores/B.STORE")
    try FileSystem.write(Array("no header of SQLite's".utf8), to: broken)
    let empty = place.folder.path("stores/C.db")
    try FileSystem.write([], to: empty)
    #expect(try StoreList([place.stores]).paths == [one, broken, empty])
    let run = Captured("rehearse", place.stores, "--to", place.bundle)
    #expect(run.status == .unreadable)
    #expect(run.err.contains(broken) && run.err.contains(empty))
    #expect(run.out.contains("✓ rehearsed “Recipes” → “Recipes 2” in "))
  }

  @Test("two names of one file are one store")
  func names() throws {
    let one = try place.add("A.sqlite")
    let link = place.folder.path("link.sqlite")
    #expect(symbolicLink(link, to: one))
    let list = try StoreList([one, link, one])
    #expect(list.paths == [one] && list.isOne)
    #expect(try !StoreList([place.stores]).isOne)
    #expect(try StoreList(["none", "none"]).paths == ["none"])
  }

  @Test("each store gets its receipt, a failure does not stop the rest, the gravest status counts")
  func receipts() throws {
    let paths = try ["A.sqlite", "B.sqlite", "C.sqlite"].map(place.add)
    try FileSystem.write(Array("no store at all".utf8), to: paths[1])
    let run = Captured(
      "migrate", paths[0], paths[1], paths[2], "--to", place.bundle, "--jobs", "2")
    #expect(run.status == .unreadable)
    #expect(run.err.contains(paths[1]))
    #expect(run.flat.contains("✓ migrated “Recipes” → “Recipes 2” in "))
    #expect(run.lines.contains { $0.hasPrefix("\(paths[0]), ") }, "\(run.out)")
    let table = run.lines.suffix(4)
    #expect(table.first?.hasPrefix("store") == true)
    #expect(
      table.dropFirst().map { $0.split(separator: " ").last ?? "" }.enumerated().allSatisfy {
        $0.offset == 1 || $0.element == "done"
      })
    #expect(try place.identifiers(paths[0]) == ["2"] && place.identifiers(paths[2]) == ["2"])
    // In the order named, whichever is done first.
    let places = paths.compactMap { path in run.lines.lastIndex { $0.hasPrefix(path) } }
    #expect(places == places.sorted() && places.count == 3)
    FileSystem.remove(paths[1])
    let again = Captured("migrate", place.stores, "--to", place.bundle)
    #expect(again.status == .done && again.out.contains("nothing to do"))
  }

  private struct Line: Decodable {
    struct Receipt: Decodable { let from, to: String }
    struct Failure: Decodable { let message: String, path: String? }
    struct Row: Decodable {
      let store, result: String
      let from: String?
      let objects: Int?
      let status: Int
    }
    struct Progress: Decodable {}
    let store: String?
    let receipt: Receipt?
    let progress: Progress?
    let error: Failure?
    let summary: [Row]?
    let status: Int?
    let seconds: Double?
    let stores: Int?
    let done: Int?
  }

  @Test("with --json each line names its store, and the summary comes last")
  func json() throws {
    let paths = try ["A.sqlite", "B.sqlite"].map(place.add)
    let run = Captured(
      "migrate", paths[0], paths[1], place.folder.path("none"), "--to", place.bundle, "--json")
    #expect(run.status == .unreadable && run.err == "")
    let lines = try run.lines.map {
      try JSONDecoder().decode(Line.self, from: Data($0.utf8))
    }
    #expect(lines.dropLast().allSatisfy { $0.store != nil })
    #expect(Set(lines.filter { $0.receipt != nil }.compactMap(\.store)) == Set(paths))
    let summary = try #require(lines.last?.summary)
    #expect(summary.map(\.store) == paths + [place.folder.path("none")])
    #expect(summary.map(\.status) == [0, 0, 4])
    #expect(try summary.first?.objects == Store(path: paths[0]).counts().values.reduce(0, +))
  }

  @Test(
    "with --json there is one line a store with its status and seconds, before the next one is begun",
    arguments: ["migrate", "rehearse"])
  func lines(command: String) throws {
    let paths = try ["A.sqlite", "B.sqlite", "C.sqlite"].map(place.add)
    try FileSystem.write(Array("no store at all".utf8), to: paths[1])
    let run = Captured([command, place.stores, "--to", place.bundle, "--json", "--jobs", "1"])
    let lines = try run.lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    let told = lines.filter { $0.store != nil && $0.progress == nil }
    #expect(told.map(\.store) == paths && told.map(\.status) == [0, 4, 0])
    #expect(told.allSatisfy { ($0.seconds ?? -1) >= 0 })
    let first = try #require(lines.firstIndex { $0.store == paths[0] && $0.status != nil })
    let next = try #require(lines.firstIndex { $0.store == paths[2] })
    #expect(first < next)
    let last = try #require(lines.last)
    #expect(last.stores == 3 && last.done == 2 && last.status == 4 && last.summary?.count == 3)
    #expect(run.status == .unreadable)
  }

  @Test("no event of any store is lost, however many threads tell of theirs at once")
  func events() {
    var seen = [Int](repeating: 0, count: 400)
    BatchWork.run(Array(0..<400), jobs: 16) { item, send in
      for step in 0..<50 { send(step) }
    } handle: { index, step in
      if seen[index] == step { seen[index] += 1 }
    }
    #expect(seen.allSatisfy { $0 == 50 })
  }

  @Test("tables that are in the -wal alone tell a store from a database of another kind, too")
  func logged() throws {
    for (name, table) in [("A.db", "Z_METADATA"), ("B.db", "other")] {
      let made = try Connection(path: place.folder.path(name), mode: .create)
      try made.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
      try made.execute("CREATE TABLE \(table) (a); CREATE TABLE Z_PRIMARYKEY (a)")
      for suffix in ["", "-wal"] {
        try FileSystem.copyOver(
          place.folder.path(name + suffix), to: place.folder.path("stores/" + name + suffix))
      }
    }
    #expect(try StoreList([place.stores]).paths == [place.folder.path("stores/A.db")])
  }

  @Test("losses are refused for each store, and an output is for one only")
  func refused() throws {
    let paths = try ["A.sqlite", "B.sqlite"].map(place.add)
    let run = Captured("migrate", place.stores, "--to", place.bundle + "@Recipes 3")
    #expect(run.status == .refused)
    #expect(try paths.allSatisfy { try place.identifiers($0) == ["1"] })
    let output = Captured(
      "migrate", paths[0], paths[1], "--to", place.bundle, "--output", "x.sqlite")
    #expect(output.status == .usage && output.err.contains("--output"))
    #expect(Captured("migrate", paths[0], "--to", place.bundle, "--jobs", "0").status == .usage)
  }

  @Test("work goes on as many threads as asked for, never more; events arrive in order")
  func threads() {
    final class Box: Sendable {
      let running = Atomic<Int>(0)
      let most = Atomic<Int>(0)
    }
    let box = Box()
    var seen: [Int: [Int]] = [:]
    BatchWork.run(Array(0..<20), jobs: 3) { item, send in
      let now = box.running.add(1, ordering: .sequentiallyConsistent).newValue
      _ = box.most.max(now, ordering: .sequentiallyConsistent)
      for step in 0..<5 { send(item * 10 + step) }
      box.running.subtract(1, ordering: .sequentiallyConsistent)
    } handle: { index, event in
      seen[index, default: []].append(event)
    }
    #expect(seen.count == 20)
    #expect(seen.allSatisfy { index, events in events == (0..<5).map { index * 10 + $0 } })
    #expect(box.most.load(ordering: .sequentiallyConsistent) <= 3)
  }

  @Test("two stores whose names differ only in how a letter is spelled are two stores")
  func twins() throws {
    let composed = try place.add("Caf\u{E9}.sqlite")
    let decomposed = try place.add("Cafe\u{301}.sqlite")
    let names = try FileSystem.list(place.stores).filter { $0.hasSuffix(".sqlite") }
    guard names.count == 2 else {
      print("skipped: this file system takes both spellings for one name")
      return
    }
    let list = try StoreList([composed, decomposed])
    #expect(!list.isOne && list.paths.count == 2)
    let told = Captured("migrate", composed, decomposed, "--to", place.bundle)
    #expect(told.status == .done, "\(told.err)")
    for path in [composed, decomposed] { #expect(try place.identifiers(path) == ["2"]) }
  }
}
