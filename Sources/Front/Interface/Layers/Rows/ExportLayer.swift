import ManagedModel
import ManagedStore
import Terminal

/// Rows into a file: the format, the name, and then how far it is.
struct ExportLayer: LayerContent {
  private(set) var isDone = false

  private enum Phase: Sendable, Equatable {
    case asking
    /// There is such a file; Enter once more replaces it.
    case confirming
    case writing(TaskID, done: Int, total: Int)
  }

  private let table: RowTable
  private let query: RowQuery
  private let total: Int?
  private var format = ExportRequest.Format.csv
  private var prompt: Prompt
  private var phase = Phase.asking
  private var error: CoreDataError?

  /// - Parameter total: how many rows there are, where that is known.
  init(_ table: RowTable, total: Int?) {
    (self.table, query) = (table, table.exported)
    self.total = total
    prompt = Prompt(Self.name(query.entity, .csv))
  }

  private static func name(_ entity: String, _ format: ExportRequest.Format) -> String {
    entity + "." + format.fileExtension
  }

  private var task: TaskID? {
    if case .writing(let task, _, _) = phase { task } else { nil }
  }

  func bindings(_ context: Context) -> [Binding] {
    if task != nil {
      return [
        Binding(
          [.escape], "stop and remove the partial file", asks("cancel") { $0.cancel(in: &$1) ?? [] }
        )
      ]
    }
    let command = table.arguments(format).flatMap {
      context.known.rowCommand(
        context.known.command("rows", "\($0) > \(ShellText.quoted(prompt.text))"))
    }
    return [
      Binding(
        [.enter], phase == .confirming ? "replace the file" : "write",
        asks("confirm") { $0.write(in: &$1) },
        unless: prompt.text.isEmpty ? "the file needs a name" : nil,
        command: command),
      Binding([.tab, .down], label: "Tab", "format", changes("nextPane") { $0.turn(1) }),
      Binding(
        [.backTab, .up], "previous format", changes("previousPane") { $0.turn(-1) }, footer: false),
      closing([.escape]),
    ]
  }

  private mutating func turn(_ step: Int) {
    let all = ExportRequest.Format.allCases
    let index = all.firstIndex(of: format) ?? 0
    let next = all[(index + step + all.count) % all.count]
    // A name that the person wrote is kept but for its extension.
    let former = "." + format.fileExtension
    if prompt.text.hasSuffix(former) {
      prompt = Prompt(String(prompt.text.dropLast(former.count)) + "." + next.fileExtension)
    }
    format = next
    phase = .asking
  }

  private mutating func write(in context: inout Context) -> [Effect] {
    let task = context.newTask()
    let request = ExportRequest(
      query: query, format: format, path: prompt.text, replaces: phase == .confirming)
    phase = .writing(task, done: 0, total: total ?? 0)
    error = nil
    return [.export(task, request)]
  }

  mutating func type(_ key: Key, in context: inout Context) -> [Effect] {
    guard task == nil else { return [] }
    prompt.handle(key)
    phase = .asking
    return []
  }

  mutating func take(_ answer: Answer, to task: TaskID, in context: inout Context) -> [Effect] {
    guard task == self.task else { return [] }
    switch answer {
    case .exporting(let done, let total): phase = .writing(task, done: done, total: total)
    case .fileExists: phase = .confirming
    case .exported(let request, let rows, let bytes):
      phase = .asking
      isDone = true
      context.notice = Notice(
        "\(NumberText.counted(rows, "row")) in \(request.path), \(NumberText.bytes(bytes))",
        .success)
    default: break
    }
    return []
  }

  mutating func fail(_ task: TaskID, _ error: CoreDataError, in context: inout Context) -> [Effect]
  {
    guard task == self.task else { return [] }
    phase = .asking
    self.error = error
    return []
  }

  mutating func cancel(in context: inout Context) -> [Effect]? {
    // The task answers when the half file is gone.
    task.map { [.cancel($0)] }
  }

  /// `, by title descending`
  private var order: String {
    guard let property = query.sort.property else {
      return query.sort.isDescending ? ", by key descending" : ""
    }
    return ", by \(property)" + (query.sort.isDescending ? " descending" : "")
  }

  /// Where pictures are that a table has no room for.
  private var fileNote: String {
    let hasFiles = table.columns.contains { column in
      [.attribute(.binary), .attribute(.transformable)].contains(table.property(column)?.kind)
    }
    return hasFiles
      ? "Pictures and other data are left out: strata export writes them as files, and w on a value writes one."
      : ""
  }

  /// The columns of the file by name: its rows begin with entity and key.
  private func columnLines(_ width: Int) -> [String] {
    let names = query.properties ?? []
    let text =
      "\(NumberText.counted(names.count + 2, "column")): "
      + (["entity", "key"] + names).joined(separator: ", ")
    let lines = Wrapping.lines(text, width: width)
    return lines.count > 4 ? lines.prefix(3) + ["…"] : lines
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ body: Rect) {
    let width = max(1, min(64, body.width - 4))
    let condition = query.filter.flatMap { $0.text.isEmpty ? nil : " where \($0.text)" } ?? ""
    let count = total.map { NumberText.counted($0, "row") } ?? "rows"
    let what =
      (table.related != nil
        ? "related \(count) of \(query.entity)"
        : query.filter == nil ? "all \(count) of \(query.entity)" : "\(count) of \(query.entity)")
      + condition
    let message =
      error.map {
        Wrapping.lines("✗ " + $0.description + ($0.typedHint.map { ". \($0)" } ?? ""), width: width)
      } ?? []
    let facts =
      Wrapping.lines(what + order, width: width) + columnLines(width)
      + (fileNote.isEmpty ? [] : Wrapping.lines(fileNote, width: width))
    let inside = Popup("Export", width, facts.count + 6 + message.count)
      .draw(in: &grid, body, theme: theme)
    func line(_ row: Int) -> Rect {
      inside.row(min(row + facts.count - 1, max(0, inside.height - 1)))
    }
    grid.write(facts, in: inside, style: theme[.dim])
    var formats: [Span] = [Span("format  ", theme[.attribute])]
    for other in ExportRequest.Format.allCases {
      formats.append(
        other == format
          ? Span("▸\(other.title)  ", theme[.headerActive]) : Span(" \(other.title)  ", theme[.dim])
      )
    }
    grid.write(formats, at: line(2).origin, within: inside.width)
    prompt.draw(in: &grid, line(4), label: [Span("file    ", theme[.attribute])], theme: theme)
    switch phase {
    case .asking: break
    case .confirming:
      grid.write(
        "! The file exists: Enter again replaces it.", at: line(6).origin,
        style: theme[.warning], within: inside.width)
    case .writing(_, let done, let total):
      grid.cursor = nil
      let text = total > 0 ? "\(NumberText.grouped(done)) of \(NumberText.grouped(total))" : "…"
      Gauge(done, of: total).draw(
        in: &grid, Rect(x: inside.x, y: line(6).y, width: max(1, inside.width - 24), height: 1),
        theme: theme)
      grid.write(
        text, in: Rect(x: inside.right - 22, y: line(6).y, width: min(22, inside.width), height: 1),
        align: .trailing)
    }
    for (index, text) in message.enumerated() {
      grid.write(text, at: line(6 + index).origin, style: theme[.error], within: inside.width)
    }
  }
}
