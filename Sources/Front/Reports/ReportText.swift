import ManagedModel
import Terminal

extension Theme.Role {
  /// The look of a line of a report.
  package init(_ line: Report.Line) {
    self =
      switch (line.mark, line.role) {
      case (.success, _): .success
      case (.warning, _): .warning
      case (.error, _): .error
      case (.added, _): .added
      case (.removed, _): .removed
      case (.note, _), (.none, .detail): .dim
      case (.none, .added): .added
      case (.none, .removed): .removed
      case (.none, .changed): .changed
      case (.none, .title): .columnTitle
      case (.none, .text), (.none, .code): .text
      }
  }
}

extension Report.Line {
  /// Its text with what a person types, and the keys that do the same where there are any.
  package func words(keys: [String: String] = [:]) -> String {
    text.text { choice, values in
      (keys[choice.id].map { $0 + ", or: " } ?? "") + Advice.typed(choice, values)
    }
  }

  /// What stands before its text, by its depth.
  package var indent: String { String(repeating: "  ", count: depth) }
}

/// A report as text: as commands print it and files hold it, and as it is read aloud.
package enum ReportText {
  /// Cells that a name in a table may take.
  private static let widest = 60

  /// The lines as a command prints them. Names and numbers of a section stand below each other.
  package static func lines(_ report: Report, width: Int) -> [TextLine] {
    Report.joined(report.sections, empty: ("", .text)) { section in
      lines(section, width) + (section.table.map { lines($0, width) } ?? [])
    }
  }

  private static func lines(_ table: Report.Table, _ width: Int) -> [TextLine] {
    var rows = table.rows.map(\.cells)
    let count = rows.map(\.count).max() ?? 0
    let alignments = (0..<count).map {
      table.numbers.contains($0) ? TextTable.Alignment.right : .left
    }
    if table.isCut {
      let room = TextTable(alignments, fitting: rows, limit: table.widest).columns(within: width)
      if room < count { rows = rows.map { Array($0.prefix(max(1, room - 1))) + ["…"] } }
    }
    let layout = TextTable(alignments, fitting: rows, limit: table.widest)
    return zip(table.rows, rows).flatMap { row, cells -> [TextLine] in
      var line = layout.line(cells)
      while line.last == " " { line.removeLast() }
      let role = Theme.Role(Report.Line("", as: row.role))
      let behind = row.aside + (row.note.isEmpty ? "" : "  " + row.note)
      let isFitting = TextWidth.of(line + behind) <= width
      return [(isFitting ? line + behind : line, role)]
        + (isFitting ? [] : hanging(row.note, 6, width))
        + row.below.flatMap { hanging($0.words(), 6 + 4 * $0.depth, width) }
    }
  }

  /// Text at a margin; the lines that follow the first stand two places further in.
  private static func hanging(_ text: String, _ margin: Int, _ width: Int) -> [TextLine] {
    guard !text.isEmpty else { return [] }
    let first = String(repeating: " ", count: margin)
    // What came out of a store holds no line of its own.
    return Wrapping.lines(Sanitize.text(text), width: max(20, width - margin - 2)).enumerated().map
    { (first + ($0.offset == 0 ? "" : "  ") + $0.element, .text) }
  }

  private static func lines(_ section: Report.Section, _ width: Int) -> [TextLine] {
    let rows = section.heading.filter { !$0.numbers.isEmpty }
    let isMarked = rows.contains { $0.mark != .none }
    func head(_ line: Report.Line) -> String {
      let sign = line.mark == .none ? "" : line.mark.rawValue + " "
      return line.indent + (sign.isEmpty && isMarked ? "  " : sign) + line.words()
    }
    let names = min(widest, rows.map { TextWidth.of(head($0)) }.max() ?? 0)
    let columns = section.columns.indices.map { column in
      rows.map { TextWidth.of($0.numbers.element(column) ?? "") }.max() ?? 0
    }
    return section.heading.flatMap { line -> [TextLine] in
      let role = Theme.Role(line)
      guard line.numbers.isEmpty else {
        let numbers = zip(line.numbers, columns).map { "  " + $0.trailing(in: $1) }.joined()
        return [(head(line).fitted(to: names) + numbers, role)]
      }
      guard line.role != .code else { return [(head(line), role)] }
      // Below a sign or a word that begins a list, what follows stands further in.
      let hanging = line.mark == .none && line.role == .text ? 0 : 2
      return Wrapping.paragraph(head(line), width: width, indent: 2 * line.depth + hanging)
        .map { ($0, role) }
    }
  }

  /// The lines as sentences that can each stand alone: no table, and each number with its title.
  package static func spoken(_ report: Report) -> [TextLine] {
    report.sections.flatMap { section in
      section.titled.map { line -> TextLine in
        let sign = line.mark == .none ? "" : line.mark.rawValue + " "
        let numbers = zip(section.columns, line.numbers).map { "\($0) \($1)" }
        let end = line.role == .title ? ":" : numbers.isEmpty ? "" : ": "
        return (
          sign + line.words() + end + (line.role == .title ? "" : numbers.joined(separator: ", ")),
          Theme.Role(line)
        )
      }
    }
  }

  /// The whole as a file holds it; nothing that a store holds is a line or a control of its own.
  package static func text(_ report: Report) -> String {
    lines(report, width: 100).map { $0.text.printable + "\n" }.joined()
  }
}
