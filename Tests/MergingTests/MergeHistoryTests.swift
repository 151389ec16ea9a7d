import Comparison
import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Merging

@Suite("What an app sees of a merge")
struct MergeHistoryTests {
  private let library: Library

  init() throws { library = try Library() }

  /// The tables of history, with one transaction.
  private static let history =
    HistoryTables.statements(last: (4, 2, 1)) + """
      INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP) VALUES (2, 16002, 600000000.5);
      INSERT INTO ACHANGE VALUES (4, 16001, NULL, 0, 1, 1, 2, NULL)
      """

  @Test("one transaction has what came in and what changed, with its properties; no other rows")
  func transaction() throws {
    try Library.change(library.new, Self.history)
    let key = try library.add(library.old, "Came in")
    let likes = try library.join("likes")
    let place = try #require(likes.position)
    try Library.change(
      library.old,
      """
      UPDATE ZTHING SET ZTITLE = 'changed', ZX = 44 WHERE Z_PK = 6;
      INSERT INTO \(likes.table) (\(likes.owner), \(likes.destination), \(place)) VALUES (3, 9, 5000)
      """)
    let rehearsal = try library.merge(isRehearsal: true)
    let report = try library.merge()
    #expect(report.transaction == 3 && rehearsal.transaction == 3)
    let store = try Store(path: library.output)
    let newest = try #require(try store.transactions()?.first)
    #expect(newest.number == 3 && newest.author == ChangeHistory.author)
    let changes = try store.changes(of: 3)
    let inserted = changes.filter { $0.kind == .insert }
    #expect(inserted.map(\.object) == [ObjectID(entity: "Book", key: key)])
    let updated = changes.filter { $0.kind == .update }.reduce(into: [String: [String]]()) {
      $0["\($1.object)"] = $1.properties?.map { $0.filter { $0 != "?" } }.sorted()
    }
    #expect(
      updated == [
        "Film/p6": ["place.x", "title"], "Book/p3": ["likes"], "Book/p9": ["likedBy"],
        "Shelf/p1": ["things"],
      ], "\(updated)")
    #expect(changes.count == 5)
    // The shelf was saved as well, but nothing of it came from the older store.
    #expect(try library.texts("SELECT Z_OPT FROM ZSHELF ORDER BY Z_PK") == ["2", "1", "1", "1"])
    #expect(report.changed == 3)
    try library.expectSound()
  }

  @Test("nothing is added to history where nothing changes, or where the newer store keeps none")
  func none() throws {
    try library.add(library.old, "Came in")
    #expect(try library.merge().transaction == nil)
    let (old, new) = (library.base, library.new)
    try Library.change(new, Self.history)
    let place = library.folder.path("Same.sqlite")
    let report = try StoreMerge.run(
      Store(path: old), Store(path: new), base: Store(path: library.base), to: place)
    #expect(report.transaction == nil)
    #expect(try library.texts("SELECT count(*) FROM ATRANSACTION", place) == ["1"])
  }

  @Test("with the base, objects without a value of what pairs the others are one by their keys")
  func withoutValues() throws {
    try Library.change(library.old, "UPDATE ZTHING SET ZCODE = NULL WHERE Z_PK IN (3, 4)")
    try Library.change(library.new, "UPDATE ZTHING SET ZCODE = NULL WHERE Z_PK IN (4, 5)")
    try library.add(library.old, "Old without")
    try library.add(library.new, "New without")
    let matches = [ComparisonRequest.Match.attributes(entity: "Thing", names: ["code"])]
    let report = try library.merge { $0.matches = matches }
    let books = report.entities.filter { ["Book", "Film"].contains($0.entity) }
    #expect(books.reduce(0) { $0 + $1.paired } == 20 && report.added == 1)
    #expect(
      try library.texts("SELECT ZTITLE FROM ZTHING WHERE ZTITLE LIKE '%without' ORDER BY Z_PK")
        == ["New without", "Old without"])
    #expect(try library.texts("SELECT count(*) FROM ZTHING") == ["22"])
    try library.expectSound()
  }

  @Test("a file that is not what it was in its store fails the verification, and leaves nothing")
  func changedFile() throws {
    let refusal = #expect(throws: CoreDataError.self) {
      try StoreMerge.run(
        Store(path: library.old), Store(path: library.new), base: Store(path: library.base),
        to: library.output,
        progress: { what in
          // As a faulty disk would.
          guard what == "verifying" else { return }
          spoil()
        })
    }
    #expect(refusal?.kind == .failed, "\(refusal?.message ?? "")")
    #expect(refusal?.message.contains("differs from its source") == true)
    #expect(FileIdentity(of: library.output) == nil)
  }

  /// Appends a byte to a file of external data in the folder where a result is made.
  private func spoil() {
    let root = library.folder.path("")
    for name in (try? FileSystem.list(root)) ?? [] where name.hasPrefix(".strata") {
      let data = root + name + "/.Both_SUPPORT/_EXTERNAL_DATA"
      guard let file = (try? FileSystem.list(data))?.sorted().first,
        let bytes = try? FileSystem.read(data + "/" + file)
      else { continue }
      try? FileSystem.replace(data + "/" + file, with: bytes + [0], isPrivate: false)
    }
  }

  @Test("a partner that the older store has, or that neither has, is found by the verification")
  func partners() throws {
    let owner = try Store(path: library.base).table(of: "Pass")?.storage(of: "owner")
    let number = try #require(owner?.entityColumn)
    let pass = """
      INSERT INTO ZPASS (Z_PK, Z_ENT, Z_OPT, ZNUMBER, ZOWNER, \(number)) SELECT 6, Z_ENT, 1, 60, 10,
        (SELECT Z_ENT FROM ZTHING WHERE Z_PK = 10) FROM ZPASS LIMIT 1
      """
    try Library.change(library.old, "\(pass); UPDATE ZTHING SET ZPASS = 6 WHERE Z_PK = 10")
    let stores = MergedStores(
      old: try Store(path: library.old), new: try Store(path: library.new), base: nil)
    let connection = try stores.new.connection.clone(to: library.folder.path("Trial.sqlite"))
    connection.fireTriggers(false)
    try StoreFunctions.define(on: connection)
    try connection.attach(stores.old.connection, as: "src")
    try connection.attach(stores.new.connection, as: "now")
    let names = stores.new.model.entities.filter { !$0.isAbstract }.map(\.name).sorted()
    let entities = names.enumerated().compactMap { place, name in
      MergedEntity(name, place: place, stores, isIncluded: true)
    }
    let map = try ObjectMap(connection, stores, entities)
    for entity in entities {
      try connection.execute(
        """
        INSERT INTO temp.merge_key SELECT \(map.number(entity.old.table)), Z_PK, Z_PK, \(entity.place),
        Z_PK = 6 AND \(entity.name == "Pass"), 0, 0 FROM src.\(entity.old.table)
        WHERE Z_ENT = \(entity.old.entityID)
        """)
    }
    try connection.execute("\(pass.replacing("INSERT INTO ZPASS", "INSERT INTO main.ZPASS"))")
    let told = MergeTelling(
      MergeReport(oldPath: "", newPath: "", basePath: nil), stores, isCancelled: { false })
    let verification = PartnerVerification(map: map, told: told)
    let lost = #expect(throws: CoreDataError.self) { try verification.run() }
    #expect(lost?.message.contains("lost the partner") == true, "\(lost?.message ?? "")")
    try connection.execute("UPDATE main.ZTHING SET ZPASS = 6 WHERE Z_PK = 10")
    try verification.run()
    try connection.execute("UPDATE main.ZTHING SET ZPASS = 6 WHERE Z_PK = 11")
    let strange = #expect(throws: CoreDataError.self) { try verification.run() }
    #expect(strange?.message.contains("that neither store has") == true)
  }

  @Test(
    "what does not come along is named: the mirror's files, and what lies beside the older one's data"
  )
  func others() throws {
    for path in [library.old, library.new] { try FileSystem.makeDirectory(path + "_ckAssets") }
    let data = StoreFiles(path: library.old).externalDataFolder
    let support = try #require(FileSystem.parent(of: data))
    try FileSystem.create(support + "/own.txt", holding: [1])
    for isRehearsal in [true, false] {
      let notes = try library.merge(isRehearsal: isRehearsal).notes
      #expect(notes.count { $0.contains("_ckAssets was not copied") } == 2, "\(notes)")
      #expect(notes.contains { $0.contains("own.txt was not copied") }, "\(notes)")
    }
  }
}

extension String {
  fileprivate func replacing(_ text: String, _ other: String) -> String {
    guard let range = firstRange(of: text) else { return self }
    return self[..<range.lowerBound] + other + self[range.upperBound...]
  }
}
