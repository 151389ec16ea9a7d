import ManagedModel
import ManagedStore
import Terminal

/// How often each value of a property occurs, with bars; Enter filters the rows to one.
struct FrequenciesLayer: TellingLayer, ChoosingLayer {
  private let entity: String
  private let path: String
  /// What the rows were filtered by, which the values are those of.
  private let filter: String?
  private var found: Frequencies?
  var error: CoreDataError?
  var task: TaskID?
  var list = List()

  /// - predicate: what a person filtered the rows by.
  init(_ path: String, of entity: String, predicate: String?) {
    filter = predicate
    (self.entity, self.path) = (entity, path)
  }

  /// Has the values of the rows counted that the filter takes.
  mutating func count(_ filter: RowFilter?, in context: inout Context) -> [Effect] {
    let (entity, path) = (entity, path)
    return context.ask(&task) { .ask($0, .frequencies(entity: entity, path: path, filter: filter)) }
  }

  func bindings(_ context: Context) -> [Binding] {
    let reason: String? =
      found == nil
      ? "it is not counted yet" : predicate == nil ? "no filter can name this value" : nil
    return [
      Binding(
        [.enter], "filter the rows to it", chooses, unless: reason,
        command: context.known.rowCommand(
          context.known.command(
            "frequencies", "\(ShellText.quoted(entity)) \(ShellText.quoted(path))")
            + (filter.map { " --where \(ShellText.quoted($0))" } ?? ""))),
      movement,
      closing(),
    ]
  }

  /// The lines: those without a value first, then each value.
  private var hasNulls: Bool { (found?.nulls ?? 0) > 0 }

  private func entry(_ row: Int) -> Frequencies.Entry? {
    found?.entries.element(hasNulls ? row - 1 : row)
  }

  private var predicate: String? {
    guard let found else { return nil }
    let value =
      hasNulls && list.selected == 0
      ? found.predicateForNull : entry(list.selected).flatMap { found.predicate(for: $0) }
    guard let value, let filter else { return value }
    return "(\(filter)) AND \(value)"
  }

  func room(_ context: Context) -> Int? { context.body.height - 5 }

  mutating func choose(in context: inout Context) -> LayerOutcome {
    guard let predicate else { return .stay() }
    return .close(context.on(BrowseScreen.self) { $0.setFilter(predicate, in: &$1) })
  }

  mutating func take(_ answer: Answer, in context: inout Context) -> [Effect] {
    guard case .frequencies(let found) = answer else { return [] }
    self.found = found
    list.setCount(found.entries.count + (found.nulls > 0 ? 1 : 0))
    return []
  }

  let stopped = "cancelled"

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ body: Rect) {
    let size = Size(width: min(100, body.width), height: max(3, list.count + 2))
    let inside = Popup("\(entity).\(path)", size: size).draw(in: &grid, body, theme: theme)
    guard let found else {
      let text = error.map { "✗ \($0.description)" } ?? "counting …  ^C stops"
      grid.write(Wrapping.lines(text, width: inside.width), in: inside, style: theme[.dim])
      return
    }
    let among = filter.map { ", where \($0)" } ?? ""
    grid.write(
      Self.summary(found) + among, at: inside.origin, style: theme[.dim], within: inside.width)
    let bar = max(4, min(24, inside.width / 4))
    let width = max(6, inside.width - bar - 24)
    let most = max(found.nulls, found.entries.first?.count ?? 0)
    let lines: [Frequencies.Entry?] = (hasNulls ? [nil] : []) + found.entries
    list.draw(lines, in: &grid, inside.droppingRows(2), theme: theme) { entry, isSelected in
      let value = entry.map { Self.text($0, of: found) } ?? ValueText("∅  no value", .null)
      let count = entry?.count ?? found.nulls
      let share = NumberText.fixed(found.share(of: count) * 100, digits: 1) + " %"
      let full = Gauge(count, of: most).bar(width: bar)
      return [
        theme.span(
          isSelected, Sanitize.text(value.text, limit: width).padded(to: width + 1), value.role),
        theme.span(isSelected, full.padded(to: bar, least: 0), .gauge),
        theme.span(isSelected, NumberText.grouped(count).trailing(in: 11, least: 1), .number),
        theme.span(isSelected, share.trailing(in: 9, least: 1), .dim),
      ]
    }
  }

  private static func text(_ entry: Frequencies.Entry, of found: Frequencies) -> ValueText {
    switch (entry.value, found.kind) {
    case (_, .presence): return ValueText("has a value", .boolean)
    case (.toMany(let many), _): return ValueText(NumberText.counted(many.count, "object"), .number)
    case (.toOne(let id?), _):
      return ValueText("→ \(id)" + (entry.label.map { "  \($0)" } ?? ""), .relationship)
    case (.value(.string("")), _): return ValueText("“”  empty text", .dim)
    default:
      let text = ValueText(entry.value, of: RowColumn(name: "", kind: .attribute(.undefined)))
      return ValueText(text.text + (entry.isCut ? "…" : ""), text.role)
    }
  }

  private static func summary(_ found: Frequencies) -> String {
    var parts = [
      NumberText.counted(found.total, "object"), NumberText.counted(found.distinct, "value"),
    ]
    if found.entries.count < found.distinct {
      parts.append("the \(NumberText.grouped(found.entries.count)) most frequent")
    }
    if let least = found.minimum, let greatest = found.maximum {
      parts.append("\(ValueText(least).text) to \(ValueText(greatest).text)")
    }
    if let mean = found.mean { parts.append("mean \(NumberText.fixed(mean, digits: 3))") }
    return parts.joined(separator: ", ")
  }
}
