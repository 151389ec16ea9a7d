import ExportText
import JSON
import ManagedModel
import ManagedStore
import Terminal

/// `strata search`: where a text stands, in all entities.
package enum SearchCommand {
  private static let text = Argument("TEXT")
  private static let entities = Option(
    repeating: "entity", "ENTITY", .entity, "only in this entity")
  private static let limit = Option<Int?>(
    number: "limit", "most hits for each entity (default 100)")
  private static let deep = Option(
    "deep", "look into binary and transformable values, too: gzip, archives, property lists, JSON")
  package static let command = Command(
    "search", .look, "finds a text, number, UUID or reference in all entities",
    arguments: [Argument.store, text],
    options: [entities, limit, deep, Option.json, Option.model],
    example: "strata search Recipes.sqlite 'creme brulee'", run: run)

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let limit = arguments[limit] ?? 100
    let store = try StoreOpening.reading(
      arguments[.store], model: arguments[.model], checksAll: true)
    let entities = arguments[entities]
    let isJSON = arguments[.json]
    var found = 0
    var cut: [String] = []
    var unread = (count: 0, first: "")
    try Interruption.watching {
      try store.search(
        for: arguments[text], in: entities.isEmpty ? nil : entities, limit: limit,
        isDeep: arguments[deep], isCancelled: { Interruption.isRequested }
      ) { progress in
        for hit in progress.hits {
          found += 1
          isJSON ? console.json { write(hit, to: &$0) } : print(hit, console)
        }
        if progress.isCut { cut.append(progress.entity) }
        guard progress.isEntityDone else { return }
        if unread.count == 0 { unread.first = progress.firstUnread }
        unread.count += progress.unreadValues
      }
    }
    if !isJSON {
      if found == 0 {
        console.note("nothing found" + (arguments[deep] ? "" : "; --deep looks into data, too"))
      }
      if !cut.isEmpty {
        console.note("more than \(limit) in \(cut.joined(separator: ", ")); --limit finds more")
      }
    }
    if unread.count > 0 {
      console.note(
        "! \(NumberText.counted(unread.count, "value")) not searched as a whole. First: \(unread.first.printable)"
      )
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

/// `strata frequencies`: how often each value of a property occurs.
package enum FrequenciesCommand {
  private static let property = Argument("PROPERTY")
  private static let limit = Option<Int?>(
    number: "limit", "most values to list (default 50)")
  package static let command = Command(
    "frequencies", .look, "counts how often each value of a property occurs",
    arguments: [Argument.store, Argument.entity, property],
    options: [Option.predicate, limit, Option.json, Option.model],
    example: "strata frequencies Recipes.sqlite Recipe author.name", run: run)

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let limit = arguments[limit] ?? 50
    let store = try StoreOpening.reading(arguments[.store], model: arguments[.model])
    let filter = try arguments[.predicate].map {
      try RowFilter($0, entity: arguments[.entity], store: store)
    }
    let found = try Interruption.watching {
      try store.frequencies(
        of: arguments[property], in: arguments[.entity], where: filter, limit: limit,
        isCancelled: { Interruption.isRequested })
    }
    arguments[.json] ? console.json { write(found, to: &$0) } : print(found, console)
    return console.finish(store)
  }

  private static func print(_ found: Frequencies, _ console: Console) {
    console.line("\(found.entity).\(found.path)")
    var facts = [
      NumberText.counted(found.total, "object"),
      NumberText.counted(found.distinct, "distinct value"),
      "\(NumberText.grouped(found.nulls)) without a value",
    ]
    if let minimum = found.minimum, let maximum = found.maximum {
      facts.append("\(minimum.line) to \(maximum.line)")
    }
    if let mean = found.mean { facts.append("mean \(NumberText.short(mean))") }
    console.line(facts.joined(separator: ", "))
    var rows: [[String]] = []
    if found.nulls > 0 { rows.append(row("∅", found.nulls, of: found)) }
    for entry in found.entries { rows.append(row(text(entry), entry.count, of: found)) }
    console.write(TextTable.text([.right, .right, .left, .left], rows))
    if found.distinct > found.entries.count {
      console.note(
        "\(NumberText.grouped(found.entries.count)) of \(NumberText.grouped(found.distinct)) values; --limit lists more"
      )
    }
  }

  private static func row(_ value: String, _ count: Int, of found: Frequencies) -> [String] {
    let share = found.share(of: count)
    let percent = "\((share * 1000).rounded() / 10) %"
    return [String(count), percent, Gauge(share).bar(width: 20), value]
  }

  private static func text(_ entry: Frequencies.Entry) -> String {
    switch entry.value {
    case .toOne(let id): (id?.description ?? "∅") + (entry.label.map { "  \($0)" } ?? "")
    case .toMany(let many): String(many.count)
    default: CellText.line(entry.value) + (entry.isCut ? "…" : "")
    }
  }

  private static func write(_ found: Frequencies, to json: inout JSONWriter) {
    json.fields([
      "distinct": found.distinct, "entity": found.entity, "maximum": found.maximum,
      "mean": found.mean, "minimum": found.minimum, "nulls": found.nulls, "property": found.path,
      "total": found.total,
    ])
    json.objects("values", found.entries) { json, entry in
      json.fields(["count": entry.count, "isCut": entry.isCut, "label": entry.label])
      json.key("value")
      if case .toMany(let many) = entry.value {
        json.number(many.count)
      } else {
        json.value(entry.value, blobs: false)
      }
    }
  }
}
