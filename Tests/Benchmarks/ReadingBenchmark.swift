import Files
import ManagedModel
import ManagedStore
import TestSupport

/// How fast a large store is looked at, beside the sqlite3 shell on the same file.
enum ReadingBenchmark {
  /// - Parameters:
  ///   - strata: the release binary.
  ///   - objects: of the demo store; 2,900,000 make about 500 MB.
  static func run(strata: String, objects: Int, rows: Int) throws {
    let folder = try TemporaryFolder()
    let demo = Measured.run(
      strata, ["demo", folder.path("demo"), "--objects", "\(objects)", "--no-open"])
    guard demo.status == 0 else { throw CoreDataError(.failed, "strata demo failed") }
    let path = folder.path("demo/Recipes.sqlite")
    let store = try Store(path: path)
    let size = FileSystem.status(path)?.size ?? 0
    print(
      "demo store: \(objects) objects, \(megabytes(size)), written in \(milliseconds(demo.seconds))"
    )

    let count = store.entityTables.filter(\.isWholeTable).map { table in
      table.numbers.count == 1
        ? "SELECT count(*) FROM \(table.table);"
        : "SELECT Z_ENT, count(*) FROM \(table.table) GROUP BY Z_ENT;"
    }.joined()
    let shell = Measured.best(of: 7, "sqlite3", ["file:\(path)?immutable=1", count])
    let info = Measured.best(of: 7, strata, ["info", path])
    let counted = try seconds(of: 7) { _ = try Store(path: path).counts() }
    let external = try seconds(of: 3) { _ = try store.externalData() }
    print(
      """
      info: \(milliseconds(info.seconds)), \(ratio(info.seconds, shell.seconds)) the sqlite3 shell counting \
      (\(milliseconds(shell.seconds))), \(megabytes(info.peakBytes))
        of it: opening and counting \(milliseconds(counted)), \(ratio(counted, shell.seconds)); \
      comparing external data with every row \(milliseconds(external))
      """)

    let dump = Measured.best(of: 2, strata, ["dump", path])
    print(
      "dump: \(Int(Double(objects) / dump.seconds)) objects a second, \(megabytes(dump.peakBytes))")

    let model = folder.path("Sixty.xcdatamodel")
    try FileSystem.makeDirectory(model)
    try FileSystem.write(Array(sixtyEntities.utf8), to: model + "/contents")
    let hash = Measured.best(of: 20, strata, ["hash", model])
    print("hash of 60 entities, process included: \(milliseconds(hash.seconds))")
    try table(of: rows, in: folder, strata: strata)
  }

  private static func table(of rows: Int, in folder: TemporaryFolder, strata: String) throws {
    let path = folder.path("Rows.sqlite")
    let writer = try StoreWriter(creating: path, model: Model(contents: Array(wide.utf8)))
    for index in 0..<rows {
      try writer.insert(
        ["Event", "Visit", "Error"][index % 3],
        attributes: ["name": .string("event \(index)"), "at": .date(Double(index))])
    }
    try writer.finish()
    for entity in ["Event", "Visit", "Error"] {
      let first = try seconds(of: 3) {
        _ = try Store(path: path).rows(RowQuery(entity: entity, limit: 60))
      }
      let last = try seconds(of: 3) {
        _ = try Store(path: path).rows(RowQuery(entity: entity, anchor: .end, limit: 60))
      }
      let shown = Measured.best(of: 3, strata, ["rows", path, entity, "--limit", "60"])
      print(
        """
        \(entity) of \(rows) rows: first page \(milliseconds(first)), last page \(milliseconds(last)), \
        strata rows \(milliseconds(shown.seconds)) and \(megabytes(shown.peakBytes))
        """)
    }
  }

  private static let wide = """
    <model><entity name="Event"><attribute name="name" optional="YES" attributeType="String"/>
    <attribute name="at" optional="YES" attributeType="Date"/></entity>
    <entity name="Visit" parentEntity="Event"/><entity name="Error" parentEntity="Event"/></model>
    """

  /// Sixty entities in chains of six, each with ten attributes and a relationship.
  private static let sixtyEntities: String = {
    var text = "<model>"
    for index in 0..<60 {
      let parent = index % 6 == 0 ? "" : " parentEntity=\"E\(index - 1)\""
      text += "<entity name=\"E\(index)\"\(parent)>"
      for attribute in 0..<10 {
        text +=
          "<attribute name=\"a\(index)x\(attribute)\" optional=\"YES\" attributeType=\"String\"/>"
      }
      text +=
        "<relationship name=\"r\(index)\" optional=\"YES\" maxCount=\"1\" destinationEntity=\"E\((index + 7) % 60)\"/></entity>"
    }
    return text + "</model>"
  }()
}
