import JSON
import ManagedModel
import ManagedStore
import Terminal

/// `strata search`: where a text stands, in all entities.
enum SearchCommand {
  private static let text = Argument("TEXT")
  private static let entities = Option(
    repeating: "entity", "ENTITY", .entity, "only in this entity")
  private static let limit = Option<Int?>(
    number: "limit", "most hits for each entity (100 without it)")
  static let command = Command(
    "search", .look, "finds a text, number, UUID or reference in all entities",
    arguments: [Argument.store, text], options: [entities, limit, Option.json, Option.model],
    example: "strata search Recipes.sqlite 'creme brulee'", run: run)

  @Sendable private static func run(
    _ arguments: Arguments, _ console: Console
  ) throws -> CommandStatus {
    let limit = arguments[limit] ?? 100
    let store = try StoreOpening.reading(
      arguments[.store], model: arguments[.model], checksAll: true)
    let entities = arguments[entities]
    let isJSON = arguments[.json]
    var found = 0
    var cut: [String] = []
    try Interruption.watching {
      try store.search(
        for: arguments[text], in: entities.isEmpty ? nil : entities, limit: limit,
        isCancelled: { Interruption.isRequested }
      ) { progress in
        for hit in progress.hits {
          found += 1
          isJSON ? console.json { write(hit, to: &$0) } : print(hit, console)
        }
        if progress.isCut { cut.append(progress.entity) }
      }
    }
    if !isJSON {
      if found == 0 { console.note("nothing found") }
      if !cut.isEmpty {
        console.note("more than \(limit) in \(cut.joined(separator: ", ")); --limit finds more")
      }
    }
    return console.finish(store, found == 0 ? .no : .done)
  }

  private static func print(_ hit: StoreSearchProgress.Hit, _ console: Console) {
    let place = hit.property.isEmpty ? "\(hit.object)" : "\(hit.object)  \(hit.property)"
    console.line("\(place)  \(hit.excerpt)")
  }

  private static func write(_ hit: StoreSearchProgress.Hit, to json: inout JSONWriter) {
    json.field("excerpt", hit.excerpt)
    json.field("object", hit.object.description)
    json.field("property", hit.property.isEmpty ? nil : hit.property)
  }
}
