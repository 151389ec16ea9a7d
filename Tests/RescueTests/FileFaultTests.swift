import Demo
import Files
import Interface
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Rescue

@Suite("Faults of the file are named, and nothing is written")
struct FileFaultTests {
  @Test("cut off: at a page, and within one", arguments: [0, 1234])
  func cutOff(rest: Int) throws {
    let patient = try Patient()
    try patient.spoil { $0.removeLast($0.count / 3 / 4096 * 4096 + rest) }
    let diagnosis = try patient.diagnosis()
    #expect(diagnosis.findings.first?.kind == .cutOff)
    #expect(diagnosis.isReadable && !diagnosis.isComplete)
    #expect(
      diagnosis.findings.first?.command?.typed
        == "strata salvage \(patient.path) --output \(patient.folder.path("Recipes-salvaged.sqlite")) --model MODEL"
    )
    // With the pages of the schema and of the model's cache gone, that is what a salvage asks for.
    let refusal = #expect(throws: CoreDataError.self) {
      _ = try StoreSalvage.run(path: patient.path, output: patient.folder.path("Saved.sqlite"))
    }
    #expect(refusal?.advice?.names(.model) == true)
  }

  @Test("a sound file without model and without rows of Z_PRIMARYKEY is mended by its model")
  func nameless() throws {
    let patient = try Patient(objects: 200)
    try patient.change("DELETE FROM Z_PRIMARYKEY; DROP TABLE Z_MODELCACHE")
    let found = try #require(try patient.diagnosis().findings.first)
    #expect(found.kind == .primaryKey && found.severity == .error)
    #expect(
      found.command?.typed == "strata repair \(patient.path) --fix primary-key --model MODEL")
  }

  @Test("cut off within the header")
  func header() throws {
    let patient = try Patient(objects: 200)
    try patient.spoil { $0 = Array($0.prefix(60)) }
    let diagnosis = try patient.diagnosis()
    #expect(diagnosis.findings.first?.kind == .cutOff)
    #expect(!diagnosis.isReadable)
  }

  @Test(
    "a header that is overwritten, in part or whole, with the page behind it or without",
    arguments: TestScale.some(2, of: [16, 100, 4096]))
  func overwritten(count: Int) throws {
    let patient = try Patient()
    try patient.spoil { bytes in for index in 0..<count { bytes[index] = 0xA5 } }
    let diagnosis = try patient.diagnosis()
    #expect(diagnosis.findings.contains { $0.kind == .header && $0.severity == .error })
    #expect(diagnosis.isReadable && !diagnosis.isComplete)
  }

  @Test("a file of which a single page of a table is left is a store that lost the rest")
  func onePageLeft() throws {
    let patient = try Patient()
    let root = try patient.root(of: "ZTAG")
    try patient.spoil { bytes in
      for place in bytes.indices where place / 4096 != root - 1 { bytes[place] = 0xFF }
    }
    let diagnosis = try patient.diagnosis()
    let found = try #require(diagnosis.findings.first)
    #expect(found.kind == .header && found.severity == .error)
    #expect(found.command?.typed.hasPrefix("strata salvage ") == true)
  }

  @Test("a page size that is not the pages' own")
  func pageSize() throws {
    let patient = try Patient()
    try patient.spoil { bytes in (bytes[16], bytes[17]) = (0x20, 0) }
    let found = try patient.finding(.pageSize)
    #expect(found.sentence.contains("8192") && found.sentence.contains("4096"))
  }

  @Test("a page count that is too low or too high", arguments: [-40, 60])
  func pageCount(change: Int) throws {
    let patient = try Patient()
    var stated = 0
    try patient.spoil { bytes in
      stated = bytes[28..<32].reduce(0) { $0 << 8 | Int($1) } + change
      for index in 0..<4 {
        bytes[28 + index] = UInt8(truncatingIfNeeded: stated >> (24 - 8 * index))
      }
    }
    let found = try patient.finding(.pageCount)
    #expect(found.count == abs(change) && found.sentence.contains("\(stated)"))
  }

  @Test("a list of tables that is gone")
  func schema() throws {
    let patient = try Patient()
    try patient.spoil { bytes in for index in 100..<4096 { bytes[index] = 0 } }
    let diagnosis = try patient.diagnosis()
    #expect(diagnosis.findings.first?.kind == .schemaGone && diagnosis.isReadable)
  }

  @Test("a page of a table that is zeros costs its rows, and links to them wait for salvaging")
  func leaf() throws {
    let patient = try Patient()
    var file = try DamagedFile(patient.path)
    let leaves = file.leaves(root: try patient.root(of: "ZRECIPE"))
    try #require(leaves.count > 2)
    file.zero(page: leaves[1])
    try file.write()
    let diagnosis = try patient.diagnosis()
    let lost = try #require(diagnosis.findings.first)
    #expect(lost.kind == .pageUnreadable && lost.entity == "Recipe" && (lost.count ?? 0) > 0)
    #expect(lost.first.first?.hasPrefix("p") == true)
    let links = diagnosis.findings.filter { $0.kind == .toOneDangling || $0.kind == .joinDangling }
    #expect(!links.isEmpty && links.allSatisfy { $0.command == lost.command })
  }

  @Test("an index that cannot be read, and one that is not what its table says")
  func indexes() throws {
    let patient = try Patient()
    var file = try DamagedFile(patient.path)
    file.zero(page: try patient.root(of: "ZSTEP_ZRECIPE_INDEX"))
    try file.write()
    let gone = try patient.finding(.indexWrong)
    #expect(gone.first == ["ZSTEP_ZRECIPE_INDEX"])
    let other = try Patient()
    try other.change(
      """
      PRAGMA writable_schema = ON;
      CREATE INDEX AOWN ON ZTAG (ZNAME);
      UPDATE sqlite_master SET sql = 'CREATE INDEX AOWN ON ZTAG (ZCOLOUR)' WHERE name = 'AOWN';
      """)
    #expect(try other.finding(.indexWrong).first == ["AOWN"])
  }

  @Test("free pages that are not free")
  func freelist() throws {
    let patient = try Patient()
    let root = try patient.root(of: "ZSTEP")
    let leaf = try #require(DamagedFile(patient.path).leaves(root: root).last)
    try patient.spoil { bytes in
      for (index, byte) in [0, 0, UInt8(leaf >> 8), UInt8(leaf & 255), 0, 0, 0, 7].enumerated() {
        bytes[32 + index] = byte
      }
    }
    let found = try patient.diagnosis().findings.filter { $0.severity == .error }
    #expect(found.map(\.kind) == [.freelist])
  }

  @Test("bytes of an encrypted file")
  func encrypted() throws {
    let patient = try Patient()
    var random = SeededGenerator(seed: 7)
    try patient.spoil { bytes in
      for index in bytes.indices { bytes[index] ^= UInt8.random(in: 0...255, using: &random) }
    }
    let diagnosis = try patient.diagnosis()
    #expect(diagnosis.findings.map(\.kind) == [.encrypted])
    #expect(diagnosis.findings.first?.command == nil)
    #expect(!diagnosis.isReadable && diagnosis.refusal != nil)
  }

  @Test("another file, an empty one, and none")
  func others() throws {
    let folder = try TemporaryFolder()
    var random = SeededGenerator(seed: 3)
    let noise = (0..<20_000).map { _ in UInt8.random(in: 0...255, using: &random) }
    for (name, bytes) in [
      ("a.txt", Array("some text".utf8)), ("a.zip", [0x50, 0x4B, 3, 4] + noise),
      ("a.png", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + noise),
    ] {
      try FileSystem.write(bytes, to: folder.path(name))
      let diagnosis = try Diagnosis(of: folder.path(name))
      #expect(diagnosis.findings.isEmpty && !diagnosis.isReadable && diagnosis.refusal != nil)
    }
    try FileSystem.write([], to: folder.path("empty.sqlite"))
    let empty = try Diagnosis(of: folder.path("empty.sqlite"))
    #expect(empty.findings.map(\.kind) == [.emptyMain] && !empty.isReadable)
    #expect(throws: CoreDataError.self) { try Diagnosis(of: folder.path("none.sqlite")) }
    #expect(throws: CoreDataError.self) { try Diagnosis(of: folder.path) }
    let own = try Connection(path: folder.path("own.sqlite"), mode: .create)
    try own.execute("CREATE TABLE notes (text)")
    own.close()
    let foreign = try Diagnosis(of: folder.path("own.sqlite"))
    #expect(!foreign.isReadable && foreign.findings.isEmpty)
  }

  @Test(
    "metadata and model cache that are missing or garbage",
    arguments: TestScale.some(
      3,
      of: [
        ("DELETE FROM Z_METADATA", FindingKind.metadata),
        ("DROP TABLE Z_METADATA", .metadata),
        ("UPDATE Z_METADATA SET Z_PLIST = x'62706C69737430300001'", .metadata),
        ("DROP TABLE Z_MODELCACHE", .modelCache),
        ("UPDATE Z_MODELCACHE SET Z_CONTENT = x'0011223344'", .modelCache),
        ("DELETE FROM Z_PRIMARYKEY", .primaryKey),
      ] as [(String, FindingKind)]))
  func bookkeeping(sql: String, kind: FindingKind) throws {
    let patient = try Patient(objects: 400)
    try patient.change(sql)
    let found = try patient.finding(kind)
    #expect(found.severity == kind.severity)
    let model = kind == .modelCache ? " --model MODEL" : ""
    #expect(found.command?.typed == "strata repair \(patient.path) --fix \(kind.rawValue)\(model)")
    // The objects are looked at all the same.
    #expect(try patient.diagnosis().isComplete)
  }

  @Test("a model that is not the one that made the store")
  func otherModel() throws {
    let patient = try Patient(objects: 400)
    let second = try DemoModels.versions()[1].model
    let found = try patient.diagnosis(model: second).findings
    #expect(found.contains { $0.kind == .versionHashes && $0.severity == .error })
    #expect(found.first { $0.kind == .versionHashes }?.consequence?.meaning.code == 134100)
    // The objects are judged by the store's own model.
    #expect(found.filter { $0.severity != .note }.count == 1)
  }
}
