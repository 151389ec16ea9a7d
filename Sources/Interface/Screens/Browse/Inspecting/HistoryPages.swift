import ManagedModel
import ManagedStore
import Terminal

/// The part of persistent history that was read, a line a transaction; some are unfolded.
struct HistoryPages: Sendable, Equatable {
  static let page = 100
  static let changes = 200

  private var entries: [HistoryEntry] = []
  private var hasAll = false
  private var pageTask: TaskID?
  private var unfolded: [Int64: [HistoryChange]] = [:]
  private var complete: Set<Int64> = []
  private var changesTasks: [TaskID: Int64] = [:]

  func isUnfolded(_ number: Int64) -> Bool { unfolded[number] != nil }

  /// Asks for the next page where the lines that are left are few.
  mutating func wanted(isShown: Bool, _ left: Int, in context: inout Context) -> [Effect] {
    guard isShown, !hasAll, pageTask == nil, left < 50 else { return [] }
    let last = entries.last?.transaction.number
    return context.ask(&pageTask) { .ask($0, .transactions(before: last)) }
  }

  mutating func toggle(_ number: Int64, in context: inout Context) -> [Effect] {
    guard unfolded.removeValue(forKey: number) == nil else { return [] }
    unfolded[number] = []
    complete.remove(number)
    return readChanges(of: number, after: nil, in: &context)
  }

  mutating func readChanges(of number: Int64, after: Int64?, in context: inout Context) -> [Effect]
  {
    guard !changesTasks.values.contains(number) else { return [] }
    let task = context.newTask()
    changesTasks[task] = number
    return [.ask(task, .changes(of: number, after: after))]
  }

  mutating func take(_ answer: Answer, to task: TaskID) {
    if task == pageTask, case .transactions(let page) = answer {
      pageTask = nil
      entries += page
      hasAll = page.count < Self.page
      return
    }
    guard let number = changesTasks[task], case .changes(let changes) = answer else { return }
    changesTasks[task] = nil
    if unfolded[number] != nil {
      unfolded[number]?.append(contentsOf: changes)
      if changes.count < Self.changes { complete.insert(number) }
    }
  }

  /// - Returns: whether the task was one of its own.
  mutating func fail(_ task: TaskID) -> Bool {
    if pageTask.end(task) {
      hasAll = true
      return true
    }
    return changesTasks.removeValue(forKey: task) != nil
  }

  mutating func stop() -> [Effect] {
    defer { changesTasks = [:] }
    return (pageTask.stop() ?? []) + changesTasks.keys.map { .cancel($0) }
  }

  func lines(_ facts: StoreFacts) -> [PanelLine] {
    typealias Piece = PanelLine.Piece
    var lines: [PanelLine] = facts.authors.prefix(5).map { author in
      .fact(
        author.name ?? "no author",
        "\(NumberText.counted(author.transactions, "transaction"))  \(Self.sum(author.counts))")
    }
    var day: String?
    for entry in entries {
      if entry.day != day {
        lines += [.blank, .title(entry.day)]
        day = entry.day
      }
      let transaction = entry.transaction
      let who = [
        transaction.author, transaction.context, transaction.process ?? transaction.bundle,
      ]
      .compactMap { $0 }.joined(separator: "  ")
      lines.append(
        PanelLine(
          [
            Piece(text: isUnfolded(transaction.number) ? "▾ " : "▸ ", role: .dim),
            Piece(text: entry.time, role: .date, width: 10),
            Piece(text: Self.sum(transaction.counts), role: .number, width: 16),
            Piece(text: who.isEmpty ? "no author" : who, role: who.isEmpty ? .dim : .string),
            Piece(text: "  #\(transaction.number)", role: .dim),
          ], .transaction(transaction.number)))
      lines += changeLines(transaction.number)
    }
    if !hasAll { lines.append(.note("…")) }
    if entries.isEmpty, hasAll { lines.append(.note("History has no transactions.")) }
    return lines
  }

  private func changeLines(_ number: Int64) -> [PanelLine] {
    guard let changes = unfolded[number] else { return [] }
    var lines = changes.map(Self.line)
    if complete.contains(number) {
      if changes.isEmpty { lines.append(.note("    no changes")) }
    } else if let last = changes.last, !changesTasks.values.contains(number) {
      lines.append(
        PanelLine(
          [.init(text: "    Enter for more", role: .dim)],
          .moreChanges(of: number, after: last.number)))
    } else {
      lines.append(.note("    …"))
    }
    return lines
  }

  private static func line(_ change: HistoryChange) -> PanelLine {
    let (sign, role): (String, Theme.Role) =
      switch change.kind {
      case .insert: ("+", .added)
      case .update: ("~", .changed)
      case .delete: ("−", .removed)
      case nil: ("?", .dim)
      }
    var rest = change.properties.map { "  " + $0.joined(separator: ", ") } ?? ""
    for tombstone in change.tombstones {
      let column = RowColumn(name: "", kind: .attribute(.binary))
      rest +=
        "  \(tombstone.property ?? "?") was \(ValueText(tombstone.value, of: column).text.prefix(80))"
    }
    return PanelLine(
      [
        .init(text: "    \(sign) ", role: role),
        .init(text: "\(change.object)", role: .relationship), .init(text: rest, role: .dim),
      ], change.kind == .delete ? .none : .object(change.object))
  }

  /// `+3 ~5 −1`
  private static func sum(_ counts: HistoryCounts) -> String {
    [("+", counts.inserted), ("~", counts.updated), ("−", counts.deleted)]
      .filter { $0.1 > 0 }.map { $0.0 + NumberText.grouped($0.1) }.joined(separator: " ")
  }
}
