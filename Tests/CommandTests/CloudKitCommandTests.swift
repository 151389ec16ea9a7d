import Files
import JSON
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Commands
@testable import Interface

@Suite("The state of mirroring to CloudKit")
struct CloudKitCommandTests {
  typealias Sample = CloudKitSamples

  private struct Line: Decodable {
    var object: String?
    var state: String?
    var record: String?
    var zone: String?
    var exists: Bool?
    var isToBeDeletedHere: Bool?
  }

  private static func object(_ index: Int) -> String {
    "\(index % 2 == 0 ? "Base" : "Thing")/p\(index + 1)"
  }

  @Test(
    "records of what is no number are no objects, and end no list; --entity takes those below it")
  func oddRecords() throws {
    let folder = try TemporaryFolder()
    let path = try Sample.store(in: folder, Sample.Form.allCases[0])
    func list(_ words: String...) -> [Substring] {
      let states = CloudObjectState.allCases.flatMap { ["--state", $0.rawValue] }
      return Captured(["cloudkit", path, "--json", "--limit", "100000"] + states + words).lines
        .dropFirst()
        .map { $0 }
    }
    let before = list()
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(
      """
      INSERT INTO ANSCKRECORDMETADATA (ZENTITYID, ZENTITYPK) \
      VALUES ('x', 1), ('x', 2), (1.5, 3), (1.5, 4), (1, 'y')
      """)
    connection.close()
    #expect(list() == before && !before.isEmpty)
    let base = list("--entity", "Base")
    #expect(base.contains { $0.contains("Thing/p") } && base.contains { $0.contains("Base/p") })
    let thing = list("--entity", "Thing")
    #expect(thing.allSatisfy { $0.contains("Thing/p") } && thing.count < base.count)
  }

  @Test(
    "each object is in the state that its record and history say", arguments: Sample.Form.allCases)
  func states(form: Sample.Form) throws {
    let folder = try TemporaryFolder()
    let path = try Sample.store(in: folder, form)
    let before = try FileSystem.read(path, limit: .max)
    let listed = Captured(
      ["cloudkit", path, "--json"] + CloudObjectState.allCases.flatMap { ["--state", $0.rawValue] })
    #expect(listed.status == .done)
    try FormatsArticle.expectMembers(of: try #require(listed.lines.last), like: "{\"exists\"")
    let lines = try listed.lines.dropFirst().map {
      try Captured.decoded(Line.self, from: Array($0.utf8))
    }
    let found = Dictionary(uniqueKeysWithValues: lines.map { ($0.object ?? "", $0) })
    var expected: [String: Int] = [:]
    for (index, one) in Sample.Case.all.enumerated() {
      let line = try #require(found[Self.object(index)], "\(one)")
      #expect(line.state == one.state, "\(one)")
      #expect(line.exists == one.exists, "\(one)")
      #expect(line.isToBeDeletedHere == (one.flags?[2] ?? false), "\(one)")
      #expect(
        line.record == (one.flags != nil && one.isNamed ? "record \(index + 1)" : nil), "\(one)")
      #expect((line.zone != nil) == (one.flags != nil), "\(one)")
      expected[one.state, default: 0] += 1
    }
    #expect(found.count == Sample.Case.all.count)
    let state = try #require(try Store(path: path).cloudKitState())
    let counts = state.objects.map { ($0.key.rawValue, $0.value) }
    #expect(Dictionary(uniqueKeysWithValues: counts) == expected)
    // Nothing was written, and nothing stands beside the store.
    #expect(try FileSystem.read(path, limit: .max) == before)
    #expect(try FileSystem.list(folder.path("")) == ["Cloud.sqlite"])
  }

  @Test("filters know the state", arguments: Sample.Form.allCases)
  func filters(form: Sample.Form) throws {
    let folder = try TemporaryFolder()
    let path = try Sample.store(in: folder, form)
    for state in CloudObjectState.allCases {
      let rows = Captured(
        "rows", path, "Base", "--where", "@cloud == \"\(state.rawValue)\"", "--format", "ndjson",
        "--columns", "title")
      let titles = Sample.Case.all.enumerated()
        .filter { $1.exists && $1.state == state.rawValue }.map { "Case \($0.offset)" }
      #expect(rows.lines.count == titles.count, "\(state)")
      for title in titles { #expect(rows.out.contains("\"\(title)\""), "\(title)") }
    }
    let unknown = Captured("rows", path, "Base", "--where", "@cloud == \"sent\"")
    #expect(unknown.status == .usage)
    #expect(unknown.err.contains("pendingUpload"))
    #expect(Captured("rows", path, "Base", "--where", "@cloud > \"synced\"").status == .usage)
    let several = Captured(
      "rows", path, "Thing", "--where", "@cloud IN {\"synced\", \"unanalysed\"}", "--format",
      "ndjson")
    #expect(
      several.lines.count
        == Sample.Case.all.enumerated().count {
          $1.exists && $0 % 2 == 1 && ["synced", "unanalysed"].contains($1.state)
        })
  }

  @Test("the account, zones, what waits, and the last runs with their errors in words")
  func summary() throws {
    let folder = try TemporaryFolder()
    let path = try Sample.store(in: folder, .model16)
    let state = try #require(try Store(path: path).cloudKitState())
    #expect(state.account == "_account")
    #expect(state.framework == 1243)
    #expect(state.zones.first?.needs == ["import"])
    #expect(state.zones.first?.database == "Private")
    #expect((state.backlog.pendingLinks, state.backlog.pendingLinkDeletes) == (3, 2))
    #expect(state.backlog.incompleteLinks == 1)
    // Of three transactions one is before the token's, and one the mirroring's own.
    #expect(state.backlog.unanalysedTransactions == 1)
    #expect(state.newestExport?.error == "CKErrorDomain 2")
    #expect((state.lastExport, state.lastImport) == (10.5, 12.5))
    #expect(state.events.map(\.start) == [13, 11, 10, 9])
    let shown = Captured("cloudkit", path)
    #expect(shown.status == .done)
    for text in ["_account", "CKError.partialFailure", "1 link to upload", "did not end", "needs"] {
      #expect(shown.flat.contains(text) == (text != "1 link to upload"), "\(text)")
    }
    #expect(shown.flat.contains("3 links to upload"))
    #expect(Captured("object", path, "Base/p1").flat.contains("CloudKit never exported"))
  }

  @Test("a store that is not mirrored: status 1")
  func notMirrored() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Plain.sqlite")
    try StoreWriter(creating: path, model: Sample.model(), uuid: Sample.uuid).finish()
    let plain = Captured("cloudkit", path)
    #expect(plain.status == .no)
    #expect(plain.err.contains("not mirrored"))
    #expect(Captured("cloudkit", path, "--json").out == "{\"cloudKit\":null}\n")
    let filter = Captured("rows", path, "Base", "--where", "@cloud == \"synced\"")
    #expect(filter.status == .usage)
    #expect(filter.err.contains("not mirrored"))
  }

  @Test(
    "the inspector has the record's name and state, the panel the counts, the completion the states"
  )
  func interface() throws {
    let folder = try TemporaryFolder()
    let store = try Store(path: Sample.store(in: folder, .later))
    let index = try #require(
      Sample.Case.all.firstIndex { $0.exists && $0.isNamed && $0.state == "pendingUpload" })
    let id = try store.objectID(Self.object(index))
    guard
      case .object(let inspection?) = try StoreRequest.object(id).answer(
        from: store, localTime: { _ in nil }, post: { _ in })
    else {
      Issue.record("no inspection")
      return
    }
    let lines = inspection.lines.drop { $0.label != "@cloud" }.map(\.value.text)
    #expect(lines.first == "waits to be uploaded")
    #expect(lines.contains("record record \(index + 1)"), "\(lines)")
    guard
      case .facts(let facts) = try StoreRequest.facts(versions: []).answer(
        from: store, localTime: { _ in nil }, post: { _ in })
    else {
      Issue.record("no facts")
      return
    }
    let text = CloudKitPanel(facts, width: 200).lines.map { line in
      line.pieces.map(\.text).joined(separator: " ")
    }.joined(separator: "\n")
    for part in ["_account", "CKError.partialFailure", "to upload", "needs import"] {
      #expect(text.contains(part), "\(part)")
    }
  }
}
