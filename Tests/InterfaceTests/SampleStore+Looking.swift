import ManagedModel
import Terminal

@testable import Interface
@testable import ManagedStore
@testable import StoreTables

extension SampleStore {
  static let longText = (1...3_000).map { "line \($0) of the text" }.joined(separator: "\n")

  /// What a store would answer.
  static func answers(to request: StoreRequest) throws -> [Answer] {
    switch request {
    case .count: [.counted(["Recipe": 8_572, "Soup": 1_428, "Person": 3, "Draft": 2])]
    case .rows(let query): [.rows(page(query))]
    case .object(let id): [.object(Inspection(try object(id)))]
    case .value(let id, let property): [.value(try object(id)[property])]
    case .values(let id, let names):
      [.values(try names.map { name in try object(id)[name] })]
    case .deletion(let id, _): [.deletion(deletion(id))]
    case .countRows: [.countedRows(100)]
    case .countBefore(_, let cursor): [.countedRows(Int(cursor.key) - 1)]
    case .place(let query, let place): [.placed(placed(query, place))]
    case .facts: [.facts(facts)]
    case .transactions(let before, let scope, _): [transactions(before, of: scope)]
    case .changes: [.changes(changes, labels: labels)]
    case .frequencies(let entity, let path, _): [.frequencies(frequencies(entity, path))]
    case .search(let text, _): search(text)
    case .decoded: [.decoded(decoded)]
    case .content(_, _, let offset, let count):
      [
        .content(
          StoredContent(
            total: longText.utf8.count, offset: offset,
            bytes: Array(longText.utf8.dropFirst(offset).prefix(count)), isText: true))
      ]
    case .find(let text, _, _, _, _): [.matched(text == "line 2000" ? 42_871 : nil)]
    case .impacts: []
    }
  }

  /// With an object two of the next ones go.
  private static func deletion(_ id: ObjectID) -> [ObjectID] {
    (0...2).map { ObjectID(entity: id.entity, key: id.key + $0) }
  }

  static let decoded = DecodedText(
    "gzip of keyed archive", ["dictionary of 1", "  title: \"Leek\u{1B}[2J soup\""])

  static func exported(_ request: ExportRequest) -> [Answer] {
    request.replaces
      ? [.exporting(done: 500, total: 1_000), .exported(request, rows: 1_000, bytes: 12_345)]
      : [.fileExists]
  }

  static let picture: [Answer] =
    Raster(width: 4, height: 3, pixels: Array(repeating: 200, count: 48)).map { [.picture($0)] }
    ?? []

  static func object(_ id: ObjectID) throws -> StoredObject {
    let columns = try summary().columns[id.entity] ?? []
    let values: [PropertyValue] =
      id.entity == "Person"
      ? [
        .value(.string("Ann \(id.key)")),
        .toMany(
          ToMany(
            count: 2,
            first: [ObjectID(entity: "Recipe", key: 3), ObjectID(entity: "Soup", key: 7)])),
      ] : row(id.key).values
    return StoredObject(id: id, columns: columns, values: values)
  }

  private static var facts: StoreFacts {
    var facts = StoreFacts()
    facts.files = [
      StoreFile(role: .main, path: "Recipes.sqlite", bytes: 1_200_000, modified: 0),
      StoreFile(role: .support, path: ".Recipes_SUPPORT", bytes: 3_000, modified: nil, files: 2),
    ]
    facts.metadata = StoreMetadata(uuid: "A", values: ["NSStoreType": .string("SQLite")])
    facts.numbers = [
      EntityNumber(
        name: "Recipe", number: 1, parent: 0, maximum: 9, entity: "Recipe", greatestKey: 12)
    ]
    facts.external = [
      ExternalFile(
        name: "GONE", state: .missing, bytes: 0, object: ObjectID(entity: "Person", key: 2),
        property: "photo")
    ]
    facts.externalReport = ExternalDataReport(referenced: 1, missing: ["GONE"])
    facts.hasHistory = true
    facts.authors = [HistoryAuthor(name: "app", transactions: 2, counts: .init(inserted: 3))]
    facts.warnings = ["Z_MAX is below a key that is in use"]
    return facts
  }

  private static let history = [
    HistoryEntry(
      transaction: HistoryTransaction(
        number: 2, timestamp: 1, author: "app", context: "ui",
        counts: .init(inserted: 3, updated: 5, deleted: 1)), day: "2024-03-01", time: "14:02:11"),
    HistoryEntry(
      transaction: HistoryTransaction(number: 1, timestamp: 0, counts: .init(inserted: 1)),
      day: "2024-02-29",
      time: "08:00:00"),
  ]

  private static let labels = [ObjectID(entity: "Recipe", key: 3): "Leek soup"]

  private static func transactions(_ before: Int64?, of scope: HistoryScope) -> Answer {
    guard before == nil else { return .transactions([], labels: [:]) }
    guard scope != .all else { return .transactions(history, labels: [:]) }
    var entry = history[0]
    entry.changes = changes.filter { change in
      scope.object == change.object
        || change.tombstones.contains { $0.value == .value(.string(scope.text ?? "")) }
    }
    return .transactions(entry.changes.isEmpty ? [] : [entry], labels: labels)
  }

  private static let changes = [
    HistoryChange(number: 1, kind: .insert, object: ObjectID(entity: "Person", key: 3)),
    HistoryChange(
      number: 2, kind: .update, object: ObjectID(entity: "Recipe", key: 3),
      properties: ["title", "serves"]),
    HistoryChange(
      number: 3, kind: .delete, object: ObjectID(entity: "Tag", key: 7),
      tombstones: [.init(property: "name", value: .value(.string("quick")))]),
  ]

  private static func frequencies(_ entity: String, _ path: String) -> Frequencies {
    Frequencies(
      entity: entity, path: path, kind: .attribute(.integer16), total: 100, nulls: 10, distinct: 3,
      entries: [
        .init(value: .value(.integer(4)), count: 60), .init(value: .value(.integer(2)), count: 25),
        .init(value: .value(.integer(8)), count: 5),
      ], minimum: .integer(2), maximum: .integer(8), mean: 3.5)
  }

  private static func search(_ text: String) -> [Answer] {
    [
      .searching(
        StoreSearchProgress(
          entity: "Person", done: 1, total: 2,
          hits: [
            .init(
              object: ObjectID(entity: "Person", key: 2), property: "name",
              excerpt: "so \(text) it is")
          ])),
      .searching(StoreSearchProgress(entity: "Recipe", done: 2, total: 2, isCut: true)),
    ]
  }
}
