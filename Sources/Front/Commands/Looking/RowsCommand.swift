import ExportText
import ManagedStore
import Migration

/// `strata rows`: objects of one entity, page by page, in memory that does not grow with them.
package enum RowsCommand {
  private static let page = 500
  private static let predicate = Option.predicate.help(
    "only objects that match, as an NSPredicate: title CONTAINS[c] \"soup\"")
  private static let sort = Option(
    "sort", "KEY[:desc]", "order by an attribute or a to-one (default: by key)")
  private static let limit = Option<Int?>(
    number: "limit", takesAll: true, "how many rows, or all (default 100 in a table, else all)")
  private static let offset = Option<Int?>(number: "offset", "rows to skip")
  private static let columns = Option("columns", "A,B,C", "the properties to show (default all)")
  private static let layout = Option<RowLayout?>(
    "layout", "LAYOUT", among: RowLayout.allCases,
    "a table with one line for each object (wide) or each property (long); auto: wide if it fits")
  package static let command = Command(
    "rows", .look, "prints objects of an entity as a table, JSON, CSV or Markdown",
    arguments: [Argument.store, Argument.entity],
    options: [
      predicate, sort, limit, offset, columns, layout, Option.rowFormat, Option.jsonFormat,
      Option.model,
    ],
    example: "strata rows Recipes.sqlite Recipe --where 'ANY tags.name == \"quick\"' "
      + "--sort createdAt:desc",
    run: run)

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let format = arguments[.json] ? .json : arguments[.rowFormat] ?? .table
    let store = try StoreOpening.reading(arguments[.store], model: arguments[.model])
    let entity = arguments[.entity]
    guard format == .table || arguments[layout] == nil else {
      throw CoreDataError(
        .usage, "only a table has a layout",
        hint: "Leave --layout or --format \(format.rawValue) out.")
    }
    let known = try store.columns(of: entity)
    // Every row begins with its key: naming it is no mistake, and adds nothing.
    var columns = arguments[columns].map { text in
      text.split(separator: ",").map(String.init)
        .filter { name in name != "key" || known.contains { $0.name == name } }
    }
    if columns == nil, format == .table, console.isTerminal {
      // A person sees what the interface shows; a program gets the order that it always got.
      let label = store.table(of: entity).flatMap {
        ObjectLabels().attribute(of: $0, in: store.model)
      }
      columns = ObjectLabels.order(known, label).map { known[$0].name }
    }
    var query = RowQuery(
      entity: entity, sort: try order(arguments[sort]), limit: page, properties: columns)
    query.filter = try arguments[.predicate].map {
      try RowFilter($0, entity: entity, store: store)
    }
    let limit = arguments[limit] ?? (format == .table ? 100 : .max)
    var left = limit
    var isPast = false
    if let offset = arguments[offset], offset > 0 {
      // The row before the first one; if none exists, no rows are left to print.
      if let last = try store.cursor(at: offset - 1, in: query) {
        query.anchor = .after(last)
      } else {
        left = 0
        isPast = true
      }
    }
    var writer = format.writer(
      isExact: !console.isTerminal, layout: arguments[layout] ?? .auto,
      width: console.isTerminal ? console.width : nil, heading: console.heading
    ) {
      console.write($0)
    }
    let bar = console.isTerminal ? nil : ProgressBar(console)
    let total = try bar?.isVisible == true ? Self.total(query, in: store, limit: limit) : nil
    var count = 0
    defer { bar?.clear() }
    var isFirst = true
    while left > 0 || isFirst {
      query.limit = min(page, left)
      let found = try store.rows(query)
      if isFirst { try writer.begin(found) }
      isFirst = false
      try writer.write(found)
      left -= found.rows.count
      count += found.rows.count
      bar?.show("rows", count, of: total, "rows")
      guard found.rows.count == query.limit, let last = found.rows.last else { break }
      query.anchor = .after(last.cursor)
    }
    try writer.end()
    if format == .table {
      if count == 0, limit > 0 {
        console.note("0 rows" + (query.filter?.doubt(store.layout).map { ". " + $0 } ?? ""))
      }
      if left == 0, !isPast, arguments[Self.limit] == nil {
        console.note("\(limit) rows; --limit all prints every one")
      }
      if !writer.leftOut.isEmpty {
        console.note(
          "no room for \(writer.leftOut.joined(separator: ", ")); --columns chooses, --layout long prints all"
        )
      }
    }
    bar?.clear()
    return console.finish(store)
  }

  /// How many rows will come at most; `nil` where a filter makes that unknown.
  private static func total(_ query: RowQuery, in store: Store, limit: Int) throws -> Int? {
    guard query.filter == nil else { return limit == .max ? nil : limit }
    let all = try store.counts().reduce(0) { sum, next in
      store.model.lineage(of: next.key).contains { $0.name == query.entity }
        ? sum + next.value : sum
    }
    return min(all, limit)
  }

  private static func order(_ text: String?) throws -> RowQuery.Sort {
    guard let text else { return RowQuery.Sort() }
    let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
    let isDescending = parts.count == 2 && parts[1] == "desc"
    guard parts.count == 1 || isDescending || parts[1] == "asc" else {
      throw CoreDataError(
        .usage, "“\(parts[1].printable)” is no direction",
        hint: "Use \(parts[0]):asc or \(parts[0]):desc.")
    }
    return RowQuery.Sort(property: parts.first, descending: isDescending)
  }
}

/// `strata dump`: every object of a store, a line of JSON each, in a fixed order.
package enum DumpCommand {
  private static let blobs = Option(
    "blobs", "print binary values in Base64 instead of their SHA-256 (files of up to 64 MB)")
  package static let command = Command(
    "dump", .look, "prints every object as a line of JSON, in a fixed order",
    arguments: [Argument.store],
    options: [blobs, Option.model, Option.json.help("print errors as JSON; the dump always is")],
    example: "strata dump Recipes.sqlite > before.ndjson", run: run)

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let store = try StoreOpening.reading(
      arguments[.store], model: arguments[.model], checksAll: true)
    let warnings = store.warnings(naming: \.typed)
    // A run that was killed amid the exchange of names may have left the external data under another one.
    for warning in StoreMigration.leftovers(of: store.path) + warnings {
      console.note("! " + warning)
    }
    // A bar among the lines of the dump would spoil both.
    let bar = console.isTerminal ? nil : ProgressBar(console)
    let total = bar?.isVisible == true ? try store.counts().values.reduce(0, +) : nil
    defer { bar?.clear() }
    try ObjectLines.write(
      store, blobs: arguments[blobs],
      report: { bar?.show("dump", $0, of: total, "objects") },
      note: { console.note("! " + $0) }
    ) { console.write($0) }
    bar?.clear()
    return console.finish(store, told: warnings)
  }
}
