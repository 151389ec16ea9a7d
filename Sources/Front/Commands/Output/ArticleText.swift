import Terminal

/// An article in DocC's markup as plain text: paragraphs and tables fit a width, code stays as it is.
package enum ArticleText {
  package struct Line: Equatable {
    package let text: String
    package var isHeading = false
  }

  private static let codeMargin = "    "
  private static let gap = 2
  /// Cells that the last column of a table needs at least to be wrapped beside the others.
  private static let narrowest = 24

  package static func lines(of article: String, width: Int) -> [Line] {
    var rest = article.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)[
      ...]
    var blocks: [[Line]] = []
    while let line = rest.first {
      if line.hasPrefix("## In Swift") || line.hasPrefix("## Topics") {
        // For readers of the library, at the end.
        break
      } else if line.hasPrefix("```") {
        rest.removeFirst()
        let code = take(from: &rest) { !$0.hasPrefix("```") }
        rest = rest.dropFirst()
        blocks.append(code.map { Line(text: $0.isEmpty ? "" : codeMargin + $0) })
      } else if line.hasPrefix("#") {
        rest.removeFirst()
        let title = plain(String(line.drop { $0 == "#" }.drop { $0 == " " }))
        if title != "Overview" { blocks.append([Line(text: title, isHeading: true)]) }
      } else if line.hasPrefix("|") {
        blocks.append(table(take(from: &rest) { $0.hasPrefix("|") }, width: width))
      } else if item(line) != nil {
        blocks.append(list(from: &rest, width: width))
      } else if line.isEmpty || line.hasPrefix("<!--") {
        rest.removeFirst()
      } else {
        let text = take(from: &rest) { continues($0) }.joined(separator: " ")
        blocks.append(wrapped(plain(text), width: width, indent: 0))
      }
    }
    return Array(blocks.joined(separator: [Line(text: "")]))
  }

  private static func take(
    from rest: inout ArraySlice<String>, while isPart: (String) -> Bool
  ) -> [String] {
    let part = rest.prefix(while: isPart)
    rest = rest.dropFirst(part.count)
    return Array(part)
  }

  /// Whether a line goes on with the text of the line before it.
  private static func continues(_ line: String) -> Bool {
    !line.isEmpty && !line.hasPrefix("#") && !line.hasPrefix("|") && !line.hasPrefix("```")
      && !line.hasPrefix("<!--") && item(line) == nil
  }

  // MARK: Lists

  /// The mark of a list's item, such as `- ` or `2. `; `nil` for other lines.
  private static func item(_ line: String) -> String? {
    if line.hasPrefix("- ") { return "- " }
    let digits = line.prefix { $0.isASCII && $0.isNumber }
    let mark = line.dropFirst(digits.count).prefix(2)
    return !digits.isEmpty && mark == ". " ? String(digits + mark) : nil
  }

  private static func list(from rest: inout ArraySlice<String>, width: Int) -> [Line] {
    var lines: [Line] = []
    while let line = rest.first, let mark = item(line) {
      rest.removeFirst()
      let more = take(from: &rest) { continues($0) }.map { $0.drop { $0 == " " } }
      let text = ([line[...]] + more).joined(separator: " ")
      lines += wrapped(plain(text), width: width, indent: mark.count)
      // An empty line between items keeps them one list.
      if rest.first?.isEmpty == true, let next = rest.dropFirst().first, item(next) != nil {
        rest.removeFirst()
      }
    }
    return lines
  }

  private static func wrapped(_ text: String, width: Int, indent: Int) -> [Line] {
    Wrapping.paragraph(text, width: width, indent: indent).map { Line(text: $0) }
  }

  // MARK: Tables

  private static func table(_ lines: [String], width: Int) -> [Line] {
    let rows = lines.map(cells).filter { row in
      !row.allSatisfy { !$0.isEmpty && $0.allSatisfy { "-: ".contains($0) } }
    }
    let count = rows.map(\.count).max() ?? 0
    let widths = (0..<count).map { column in
      rows.map { column < $0.count ? TextWidth.of($0[column]) : 0 }.max() ?? 0
    }
    let fixed = widths.dropLast().reduce(0) { $0 + $1 + gap }
    var result: [Line] = []
    for (index, row) in rows.enumerated() {
      let texts =
        fixed + narrowest <= width
        ? beside(row, widths, fixed, width: width) : under(row, width: width)
      result += texts.map { Line(text: $0, isHeading: index == 0) }
    }
    return result
  }

  /// A row whose last cell is wrapped beside the others.
  private static func beside(
    _ row: [String], _ widths: [Int], _ fixed: Int, width: Int
  ) -> [String] {
    let head = zip(row, widths).dropLast(row.count == widths.count ? 1 : 0).map { cell, width in
      cell + String(repeating: " ", count: width - TextWidth.of(cell) + gap)
    }.joined()
    guard row.count == widths.count, let last = row.last, !last.isEmpty else {
      return [String(head.reversed().drop { $0 == " " }.reversed())]
    }
    let margin = String(repeating: " ", count: fixed)
    return Wrapping.paragraph(last, width: max(narrowest, width - fixed), indent: 0)
      .enumerated().map { ($0.offset == 0 ? head : margin) + $0.element }
  }

  /// A row whose cells stand under the first one.
  private static func under(_ row: [String], width: Int) -> [String] {
    row.enumerated().filter { !$0.element.isEmpty }.flatMap { index, cell in
      index == 0
        ? Wrapping.paragraph(cell, width: width, indent: codeMargin.count)
        : Wrapping.paragraph(codeMargin + cell, width: width, indent: codeMargin.count)
    }
  }

  /// The cells of a row: a bar behind a backslash is part of one.
  private static func cells(_ line: String) -> [String] {
    var cells = [""]
    var isEscaped = false
    for character in line {
      if character == "|", !isEscaped {
        cells.append("")
      } else if character == "|" {
        cells[cells.count - 1].removeLast()
        cells[cells.count - 1].append("|")
      } else {
        cells[cells.count - 1].append(character)
      }
      isEscaped = character == "\\"
    }
    return cells.dropFirst().dropLast().map { cell in
      plain(cell.split(separator: " ").joined(separator: " "))
    }
  }

  // MARK: Marks within a line

  /// Text without emphasis and links; code keeps a backtick on each side, and another article is the command that
  /// prints it.
  static func plain(_ text: String) -> String {
    var result = ""
    var rest = text[...]
    while let character = rest.first {
      if character == "`" {
        let fence = rest.prefix { $0 == "`" }
        let inner = rest.dropFirst(fence.count)
        guard let end = inner.firstRange(of: fence) else {
          return result + rest
        }
        result += "`\(inner[..<end.lowerBound])`"
        rest = inner[end.upperBound...]
      } else if rest.hasPrefix("<doc:"), let end = rest.firstIndex(of: ">") {
        result += "`strata help \(rest[..<end].dropFirst(5).lowercased())`"
        rest = rest[end...].dropFirst()
      } else if character == "[", let link = link(rest) {
        result += plain(link.text)
        rest = rest.dropFirst(link.count)
      } else if character == "*", let emphasis = emphasis(rest) {
        result += plain(emphasis.text)
        rest = rest.dropFirst(emphasis.count)
      } else {
        result.append(character)
        rest.removeFirst()
      }
    }
    return result
  }

  /// `[text](address)` at the beginning.
  private static func link(_ rest: Substring) -> (text: String, count: Int)? {
    guard let end = rest.firstIndex(of: "]"), rest[end...].dropFirst().first == "(",
      let close = rest[end...].firstIndex(of: ")")
    else { return nil }
    return (String(rest[..<end].dropFirst()), rest.distance(from: rest.startIndex, to: close) + 1)
  }

  /// `*text*` or `**text**` at the beginning.
  private static func emphasis(_ rest: Substring) -> (text: String, count: Int)? {
    let fence = rest.prefix { $0 == "*" }
    let inner = rest.dropFirst(fence.count)
    guard fence.count <= 2, inner.first.map({ $0 != " " }) == true,
      let end = inner.firstRange(of: fence), inner[..<end.lowerBound].last != " "
    else { return nil }
    let text = String(inner[..<end.lowerBound])
    return (text, text.count + 2 * fence.count)
  }
}
