import ManagedModel
import ManagedStore
import Reports
import Terminal

/// The part of persistent history that was read, a line a transaction; some are unfolded.
struct HistoryPages: Sendable, Equatable {
  static let page = 100
  static let changes = 200

  private(set) var scope: HistoryScope
  /// The attributes that label objects.
  private let labels: ObjectLabels
  /// The labels that are known.
  private var names: [ObjectID: String] = [:]
  private var entries: [HistoryEntry] = []
  private var hasAll = false
  private var pageTask: TaskID?
  private var unfolded: [Int64: [HistoryChange]] = [:]
  private var complete: Set<Int64> = []
  private var changesTasks: [TaskID: Int64] = [:]

  init(of scope: HistoryScope = .all, labels: ObjectLabels) {
    (self.scope, self.labels) = (scope, labels)
  }

  /// Reads a part of history, or all of it.
  mutating func read(_ scope: HistoryScope, in context: inout Context) -> [Effect] {
    let former = stop()
    self = HistoryPages(of: scope, labels: labels)
    return former + wanted(isShown: true, 0, in: &context)
  }

  func isUnfolded(_ number: Int64) -> Bool { unfolded[number] != nil }

  /// Asks for the next page where the lines that are left are few.
  mutating func wanted(isShown: Bool, _ left: Int, in context: inout Context) -> [Effect] {
    guard isShown, !hasAll, pageTask == nil, left < 50 else { return [] }
    let last = entries.last?.transaction.number
    return context.ask(&pageTask) { [scope, labels] in
      .ask($0, .transactions(before: last, of: scope, labels))
    }
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
    return [.ask(task, .changes(of: number, after: after, labels))]
  }

  mutating func take(_ answer: Answer, to task: TaskID) {
    if task == pageTask, case .transactions(let page, let labels) = answer {
      pageTask = nil
      names.merge(labels) { $1 }
      entries += page
      hasAll = page.count < Self.page
      return
    }
    guard let number = changesTasks[task], case .changes(let changes, let labels) = answer else {
      return
    }
    names.merge(labels) { $1 }
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
    var lines = heading(facts)
    var day: String?
    for entry in entries {
      if entry.day != day {
        lines += [.blank, .title(entry.day)]
        day = entry.day
      }
      let transaction = entry.transaction
      let who = transaction.who { "migrated from \(Self.name(of: $0, facts))" }
        .joined(separator: "  ")
      lines.append(
        PanelLine(
          [
            Piece(text: isUnfolded(transaction.number) ? "▾ " : "▸ ", role: .dim),
            Piece(text: entry.time, role: .date, width: 10),
            Piece(text: Self.sum(transaction.counts), role: .number, width: 16),
            Piece(text: who.isEmpty ? "no author" : who, role: who.isEmpty ? .dim : .string),
            Piece(text: "  #\(transaction.number)", role: .dim),
          ], .transaction(transaction.number)))
      lines +=
        isUnfolded(transaction.number)
        ? changeLines(transaction.number) : entry.changes.map(line)
    }
    if !hasAll { lines.append(.note("…")) }
    if entries.isEmpty, hasAll {
      lines.append(
        .note(
          scope == .all
            ? "History has no transactions." : "History has no change of \(subject)."))
    }
    return lines
  }

  /// What is read, for a sentence.
  private var subject: String {
    switch scope {
    case .all: "any object"
    case .object(let id): "\(id)"
    case .text(let text): "“\(text)”"
    }
  }

  private func heading(_ facts: StoreFacts) -> [PanelLine] {
    guard scope != .all else {
      return [Self.noValues] + Self.versions(facts) + Self.authors(facts)
    }
    let name = scope.object.flatMap { names[$0] }
    return [
      PanelLine(
        [
          .init(text: "Only \(subject)", role: .title),
          .init(text: name.map { "  \($0)" } ?? "", role: .string),
        ], .none), Self.noValues,
    ]
  }

  /// Where old values are, which are looked for here.
  private static let noValues = PanelLine.note(
    "History keeps no old values; a backup does: C, Tab compares with one.")

  /// The log of migrations: when the store left a version.
  private static func versions(_ facts: StoreFacts) -> [PanelLine] {
    guard !facts.formerVersions.isEmpty else { return [] }
    let lines = facts.formerVersions.map { version in
      let date = version.timestamp.map { facts.localTimes[$0] ?? CoreDataDate.text($0) }
      let rest = [version.migrator.noun, version.stage.map { "stage \($0)" }, version.process]
      return PanelLine([
        .init(text: date ?? "no date", role: .date, width: 27),
        .init(text: "from \(name(of: version, facts))", role: .entity, width: 24),
        .init(text: "  " + rest.compactMap { $0 }.joined(separator: "  "), role: .dim),
      ])
    }
    return [.title("Migrations")] + lines + [.blank]
  }

  /// A version as a person knows it: by its name, else by the beginning of its digest.
  private static func name(of version: FormerVersion, _ facts: StoreFacts) -> String {
    facts.versionNames[version.digest].map { "“\($0)”" }
      ?? "model \(StoreSummary.prefix(ofDigest: version.digest))"
  }

  private static func authors(_ facts: StoreFacts) -> [PanelLine] {
    facts.authors.filter { $0.name.map(FormerVersion.isMigrator) != true }.prefix(5).map {
      .fact(
        $0.name ?? "no author",
        "\(NumberText.counted($0.transactions, "transaction"))  \(sum($0.counts))")
    }
  }

  private func changeLines(_ number: Int64) -> [PanelLine] {
    guard let changes = unfolded[number] else { return [] }
    var lines = changes.map(line)
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

  private func line(_ change: HistoryChange) -> PanelLine {
    let (sign, role): (String, Theme.Role) =
      switch change.kind {
      case .insert: ("+", .added)
      case .update: ("~", .changed)
      case .delete: ("−", .removed)
      case nil: ("?", .dim)
      }
    // Of one object the heading says how it is labelled.
    let label = scope.object == nil ? names[change.object] : nil
    var rest = change.properties.map { "  " + $0.joined(separator: ", ") } ?? ""
    for tombstone in change.tombstones {
      let column = RowColumn(name: "", kind: .attribute(.binary))
      rest +=
        "  \(tombstone.property ?? "?") was \(ValueText(tombstone.value, of: column).text.prefix(80))"
    }
    return PanelLine(
      [
        .init(text: "    \(sign) ", role: role),
        .init(text: "\(change.object)", role: .relationship),
        .init(text: label.map { "  \($0)" } ?? "", role: .string), .init(text: rest, role: .dim),
      ], change.kind == .delete ? .deleted(change.object) : .object(change.object))
  }

  /// `+3 ~5 −1`
  private static func sum(_ counts: HistoryCounts) -> String {
    [("+", counts.inserted), ("~", counts.updated), ("−", counts.deleted)]
      .filter { $0.1 > 0 }.map { $0.0 + NumberText.grouped($0.1) }.joined(separator: " ")
  }
}
