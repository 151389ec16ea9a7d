import ManagedModel
import Terminal

@testable import Interface
@testable import ManagedStore
@testable import Mapping
@testable import Migration
@testable import StoreTables

/// A store of literals that answers the interface's effects: ten thousand recipes, three people.
struct SampleStore {
  static let recipes = 10_000

  static func person() -> Entity {
    var person = Entity("Person")
    person.attributes = [Attribute("name", .string)]
    person.relationships = [
      Relationship("recipes", to: "Recipe", inverse: "author", toMany: true, optional: true)
    ]
    return person
  }

  static func model(_ version: Int) throws -> Model {
    var recipe = Entity("Recipe")
    var serves = Attribute(version == 1 ? "serves" : "portions", .integer16, optional: true)
    if version > 1 { serves.renamingIdentifier = "serves" }
    recipe.attributes = [
      Attribute("title", .string), serves, Attribute("createdAt", .date, optional: true),
      Attribute("photo", .binary, optional: true),
    ]
    if version > 1 {
      var rating = Attribute("rating", .double)
      rating.defaultValue = .double(0)
      recipe.attributes.append(rating)
    }
    recipe.relationships = [
      Relationship("author", to: "Person", inverse: "recipes", optional: version == 1)
    ]
    var soup = Entity("Soup", parent: "Recipe")
    soup.attributes = version == 1 ? [Attribute("isHot", .boolean, optional: true)] : []
    return try Model(
      entities: [recipe, soup, person()] + (version == 1 ? [draft()] : []),
      versionIdentifiers: [String(version)])
  }

  private static func draft() -> Entity {
    var draft = Entity("Draft")
    draft.attributes = [Attribute("title", .string, optional: true)]
    return draft
  }

  static func summary(_ version: Int = 1) throws -> StoreSummary {
    let model = try model(version)
    var columns: [String: [RowColumn]] = [:]
    for entity in model.entities {
      columns[entity.name] =
        model.attributes(of: entity.name).map {
          RowColumn(name: $0.name, kind: .attribute($0.type))
        }
        + model.relationships(of: entity.name).map {
          RowColumn(
            name: $0.name,
            kind: $0.isToMany
              ? .toMany(destination: $0.destination) : .toOne(destination: $0.destination))
        }
    }
    var summary = StoreSummary(
      path: "Recipes.sqlite", fileName: "Recipes.sqlite", model: model, modelMatches: true,
      uuid: "A", walFrames: 12, columns: columns,
      tables: model.entitiesInStoreOrder.compactMap {
        StoreSchema(model: model).entityTable(of: $0.name)
      })
    summary.hasHistory = true
    return summary
  }

  static func versions() throws -> [ModelVersion] {
    [
      ModelVersion(
        name: "Recipes 1", path: "Recipes.xcdatamodeld@Recipes 1", isStores: true,
        result: .success(try model(1))),
      ModelVersion(
        name: "Recipes 2", path: "Recipes.xcdatamodeld@Recipes 2", isCurrent: true,
        result: .success(try model(2))),
    ]
  }

  static func row(_ key: Int64) -> RowPage.Row {
    RowPage.Row(
      id: ObjectID(entity: key.isMultiple(of: 7) ? "Soup" : "Recipe", key: key),
      values: [
        .value(.string("Recipe number \(key)")), .value(.integer(key % 9)),
        .value(.date(Double(key) * 86_400)),
        .data(
          DataValue(
            location: key == 3 ? .missing(name: "A") : .row, count: key == 3 ? 0 : 1_200_000,
            bytes: [0xFF, 0xD8, 0xFF])),
        .toOne(key.isMultiple(of: 5) ? nil : ObjectID(entity: "Person", key: key % 3 + 1)),
      ])
  }

  /// The recipes that every filter takes.
  static let filtered = stride(from: Int64(100), through: Int64(recipes), by: 100)

  /// What a store would answer to a jump.
  static func placed(_ query: RowQuery, _ place: RowPlace) -> PlacedRows? {
    let key: Int64
    switch place {
    case .ordinal(let ordinal): key = Int64(ordinal) + 1
    case .object(let id): key = id.key
    }
    let count = query.entity == "Recipe" ? recipes : 3
    guard (1...Int64(count)).contains(key) else { return nil }
    var all = query
    all.filter = nil
    all.anchor = .after(RowCursor(key: max(0, key - 101)))
    let rows = page(all).rows
    return PlacedRows(
      entity: query.entity, rows: rows, selected: rows.firstIndex { $0.id.key == key } ?? 0,
      ordinal: max(0, Int(key) - 101), hasStart: key <= 101,
      hasEnd: rows.last?.id.key == Int64(count),
      isUnfiltered: query.filter != nil && key % 100 != 0)
  }

  /// What a store would answer to a query by key, with at most `limit` rows.
  static func page(_ query: RowQuery) -> RowPage {
    let columns = (try? summary().columns[query.entity]) ?? []
    guard query.entity == "Recipe" else {
      return RowPage(
        entity: query.entity, columns: columns,
        rows: (1...3).map {
          RowPage.Row(
            id: ObjectID(entity: query.entity, key: $0),
            values: [.value(.string("Ann \($0)")), .toMany(ToMany(count: 2))])
        })
    }
    if query.filter != nil {
      guard query.anchor == .start || query.anchor == .end else {
        return RowPage(entity: query.entity, columns: columns, rows: [])
      }
      return RowPage(entity: query.entity, columns: columns, rows: filtered.map(row))
    }
    let limit = Int64(query.limit)
    let last = Int64(recipes)
    let keys: ClosedRange<Int64>? =
      switch query.anchor {
      case .start: 1...min(limit, last)
      case .end: max(1, last - limit + 1)...last
      case .after(let cursor):
        cursor.key >= last ? nil : (cursor.key + 1)...min(cursor.key + limit, last)
      case .before(let cursor):
        cursor.key <= 1 ? nil : max(1, cursor.key - limit)...(cursor.key - 1)
      }
    return RowPage(entity: query.entity, columns: columns, rows: keys.map { $0.map(row) } ?? [])
  }

  static func plan(checks: [DataCheck] = [], losses: [Loss]? = nil) throws -> MigrationPlan {
    let (source, destination) = (try model(1), try model(2))
    let mapping = try MappingInference.mapping(from: source, to: destination)
    return MigrationPlan(
      storePath: "Recipes.sqlite",
      steps: [
        .init(
          from: "Recipes 1", to: "Recipes 2", source: source, destination: destination,
          mapping: mapping, rows: ["IEM_Transform_Recipe": 8_572, "IEM_Copy_Person": 3])
      ],
      losses: losses ?? [
        Loss(entity: "Draft", values: 2, samples: ["Draft/p1", "Draft/p2"]),
        Loss(entity: "Soup", property: "isHot", values: 1_428, samples: ["true", "false"]),
      ], checks: checks, storeBytes: 1_200_000, bytesNeeded: 1_800_000,
      bytesFree: 9_000_000_000, notes: [])
  }

  static let receipt = MigrationReceipt(
    storePath: "Recipes.sqlite", resultPath: "Recipes.sqlite", from: "Recipes 1", to: "Recipes 2",
    strategy: .inPlace,
    entities: [
      .init(entity: "Recipe", before: 10_000, after: 10_000),
      .init(entity: "Draft", before: 2, after: 0),
    ], links: ["Recipe.author": 8_000], verified: [.init(what: "attribute values", count: 50_000)],
    uuid: "A", checksum: "x", seconds: 1.25, verificationSeconds: 0.5, bytes: 1_300_000,
    backupPath: "Recipes.backup-1")
}
