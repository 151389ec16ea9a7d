import JSON
import ManagedModel
import ManagedStore
import Terminal

/// `strata search`: where a text stands, in all entities.
enum SearchCommand {
  @Sendable static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let limit = try arguments.number("limit") ?? 100
    let store = try StoreOpening.reading(
      arguments[0], model: arguments.value("model"), checksAll: true)
    let entities = arguments.all("entity")
    let isJSON = arguments.flag("json")
    var found = 0
    var cut: [String] = []
    try Interruption.watching {
      try store.search(
        for: arguments[1], in: entities.isEmpty ? nil : entities, limit: limit,
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
