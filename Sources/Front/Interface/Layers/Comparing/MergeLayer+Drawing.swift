import Comparison
import ManagedModel
import Merging
import Reports
import Terminal

/// How a merge looks: whose objects come where, what is asked for, and what becomes of the objects.
extension MergeLayer {
  enum Line {
    case field(Field)
    case text(String, Theme.Role)
    case change(ObjectChange, note: String)
  }

  /// Conflicts that stand before the numbers.
  private static let mostBeforeCounts = 5

  /// Cells of a line, beside the mark of the selected one.
  private static func width(in body: Rect) -> Int { max(1, body.width - 7) }

  func lines(_ context: Context) -> [Line] {
    let width = Self.width(in: context.body)
    func text(_ report: Report) -> [Line] {
      ReportText.lines(report.worded(Self.words), width: width).map { .text($0.text, $0.role) }
    }
    var lines: [Line] = Field.allCases.map { .field($0) } + [.text("", .text)]
    if task != nil {
      return lines + [.text("\(doing) …  ^C stops", .dim)]
    }
    if let error {
      let hint = error.advice.map { [$0.text(naming: Self.words)] } ?? []
      let path = error.path.map { [context.known.named($0)] } ?? []
      lines += Wrapping.lines("✗ " + error.message, .error, width: width).map {
        .text($0.text, $0.role)
      }
      lines += (path + hint).flatMap { Wrapping.lines($0, width: width) }.map { .text($0, .text) }
    }
    guard let report else { return lines }
    let outcome = Report(outcomeOf: report).sections
    // The verdict comes first, then warnings, and then what a person decides: the rest may be long.
    lines += text(Report(Array(outcome.suffix(1))))
    let remarks = outcome.dropLast().flatMap(\.lines)
    func isWarning(_ line: Report.Line) -> Bool { line.mark == .warning }
    lines += text(Report([Report.Section(remarks.filter(isWarning))]))
    let conflicts = report.conflicts.map {
      Line.change($0.change, note: $0.winner.sentence ?? "")
    }
    let first = conflicts.prefix(Self.mostBeforeCounts)
    let count = report.conflictCount
    if count > 0 {
      let below = count - first.count
      lines.append(
        .text(
          "\(NumberText.counted(count, "conflict")): OLD’s value → NEW’s value"
            + (below > 0 ? "; \(NumberText.grouped(below)) more below" : ""), .columnTitle))
      lines += first
    }
    lines += text(Report(countsOf: report))
    lines += text(Report([Report.Section(remarks.filter { !isWarning($0) })]))
    if count > first.count {
      lines.append(.text("more conflicts", .columnTitle))
      lines += conflicts.dropFirst(first.count)
      let rest = count - conflicts.count
      if rest > 0 { lines.append(.text("… and \(NumberText.grouped(rest)) more", .dim)) }
    }
    if !report.losses.isEmpty {
      lines.append(.text("not in the result", .columnTitle))
      lines += report.losses.map { .change($0.change, note: $0.sentence) }
    }
    return lines
  }

  /// What the popup has for what a command line takes.
  private static func words(_ choice: Advice.Choice, _ values: [String]) -> String {
    switch choice {
    case .mergeBase: "“base”"
    case .mergeMatch: "“paired by”" + (values.first.map { " \($0)" } ?? "")
    case .mergePreference: values.map { "“\($0)”" }.joined(separator: " ")
    case .mergeKeepsDeleted: "“deleted in NEW”"
    case .mergeRehearsal: "this list"
    default: Advice.typed(choice, values)
    }
  }

  private func title(_ field: Field) -> String {
    switch field {
    case .output: "new store"
    case .base: "base"
    case .matches: "paired by"
    case .preferences: "conflicts"
    case .entities: "take over"
    case .deleted: "deleted in NEW"
    }
  }

  /// What is chosen, and what that means.
  private func value(_ field: Field) -> (text: String, about: String) {
    switch field {
    case .output: (output, "")
    case .base:
      order.base.isEmpty
        ? ("none", "the copy that both come from")
        : (order.base, "shows which of the two changed a value")
    case .matches:
      switch order.matches {
      case "":
        order.base.isEmpty
          ? ("identifiers", "unique values, UUIDs, …ID")
          : ("keys", "up to the last key of the base")
      case "key": ("key", "objects with equal keys are one")
      default: (order.matches, "")
      }
    case .preferences:
      switch order.preferences {
      case "": ("undecided", "values that both changed")
      case "new": ("new", "NEW’s values win")
      case "old": ("old", "OLD’s values win")
      default: (order.preferences, "")
      }
    case .entities:
      order.entities.isEmpty
        ? ("all entities", "") : (order.entities, "OLD’s objects of others are left out")
    case .deleted:
      order.keepsDeleted
        ? ("stay deleted", "if the base or NEW’s history shows it")
        : ("restored from OLD", "")
    }
  }

  /// What may be typed.
  private func hint(_ field: Field) -> String {
    switch field {
    case .output: "Path of the new store. OLD and NEW are only read."
    case .base: "Path of the store that OLD and NEW are copies of. Leave it empty if there is none."
    case .matches:
      "key, unique, NAME,NAME or ENTITY=NAME,NAME; several, separated by spaces. Empty: identifiers."
    case .preferences:
      "new, old or ENTITY=ATTRIBUTE:newest, which takes the later date or greater number; several, separated by spaces."
    case .entities:
      "Names of entities, separated by spaces; their subentities are included. Empty: all."
    case .deleted: ""
    }
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ body: Rect) {
    let title = report?.outputPath == nil ? "Merge two stores" : "Merged"
    let inside = Popup(title, size: body.size).draw(in: &grid, body, theme: theme)
    guard inside.height > 4 else { return }
    let own = context.storePath
    let other = context.known.named(order.other)
    for (row, name, path, about) in [
      (0, "OLD", order.isOtherNewer ? own : other, "its other objects and values are added"),
      (
        1, "NEW", order.isOtherNewer ? other : own,
        "is copied, with its keys, history, iCloud state"
      ),
    ] {
      let room = max(1, inside.width - 5 - TextWidth.of(about) - 2)
      let shown = TextWidth.of(path) <= room ? path : "…" + path.suffix(max(1, room - 1))
      grid.write(
        [
          Span(name + "  ", theme[.attribute]), Span(Sanitize.text(shown), theme[.entity]),
          Span("  " + about, theme[.dim]),
        ], at: inside.row(row).origin, within: inside.width)
    }
    let rest = inside.droppingRows(3)
    if let typed {
      typed.path.draw(
        in: &grid, rest, label: self.title(typed.field) + " › ", hint: hint(typed.field),
        theme: theme)
      return
    }
    list.draw(lines(context), in: &grid, rest, theme: theme) { line, isSelected in
      spans(line, isSelected, context, theme)
    }
  }

  private func spans(
    _ line: Line, _ isSelected: Bool, _ context: Context, _ theme: Theme
  ) -> [Span] {
    switch line {
    case .text(let text, let role): return [theme.span(isSelected, text, role)]
    case .field(let field):
      let (text, about) = value(field)
      return [
        theme.span(isSelected, title(field).padded(to: 16), .attribute),
        theme.span(isSelected, Sanitize.text(text), .text),
        theme.span(isSelected, about.isEmpty ? "" : "  " + about, .dim),
      ]
    case .change(let change, let note):
      return [
        theme.span(isSelected, change.title + "  ", .entity),
        theme.span(isSelected, note.isEmpty ? "" : note + "  ", .dim),
        theme.span(isSelected, change.summary(context.store), .text),
      ]
    }
  }
}

extension Report {
  /// The same with other words for what a person may choose.
  fileprivate func worded(_ words: (Advice.Choice, [String]) -> String) -> Report {
    Report(
      sections.map { section in
        var section = section
        section.lines = section.lines.map { line in
          var line = line
          line.text = "\(line.text.text(naming: words))"
          return line
        }
        return section
      })
  }
}
