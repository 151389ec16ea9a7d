import JSON
import ManagedModel
import Reports
import Terminal

/// Where a command writes: the process's streams, or a test's buffers.
package final class Console {
  private let out: ([UInt8]) -> Void
  private let err: ([UInt8]) -> Void
  /// Whether messages go to a person at a terminal, so that a line may be rewritten in place.
  let isErrorTerminal: Bool
  package let isTerminal: Bool
  /// Whether a person can be asked at the terminal of this process.
  let canAsk: Bool
  /// Cells that a line of text may take before it is broken: a pipe has none, and gets 120.
  package let width: Int
  /// Whether reports are read aloud, a sentence a line, instead of looked at.
  package var readsAloud = false
  private let errorWidth: () -> Int
  private let environment: (String) -> String?
  /// Whether a word behind the program's name makes a command of both, which is not broken.
  private let isCommand: (String) -> Bool
  private var colorsOutput = false
  private var colorsErrors = false
  /// Cells that a line is cut to: of what is rewritten, lest the terminal breaks it.
  private var lineLimit = Int.max

  /// - Parameter environment: what TERM and NO_COLOR say.
  package init(
    isTerminal: Bool = false, isErrorTerminal: Bool = false, width: Int = 100,
    canAsk: Bool = false, errorWidth: @escaping () -> Int = { 80 },
    environment: @escaping (String) -> String? = { _ in nil },
    isCommand: @escaping (String) -> Bool = { _ in false },
    out: @escaping ([UInt8]) -> Void,
    err: @escaping ([UInt8]) -> Void
  ) {
    self.isTerminal = isTerminal
    self.canAsk = canAsk
    self.width = width
    self.errorWidth = errorWidth
    // A terminal that cannot move its cursor is as good as a file.
    self.isErrorTerminal = isErrorTerminal && environment("TERM") != "dumb"
    self.environment = environment
    self.isCommand = isCommand
    self.out = { out(ShownPaths.applied(to: $0)) }
    self.err = { err(ShownPaths.applied(to: $0)) }
  }

  /// Colours lines from now on, where that is asked for.
  package func color(_ choice: ColorChoice) {
    colorsOutput = choice.applies(toTerminal: isTerminal, environment: environment)
    colorsErrors = choice.applies(toTerminal: isErrorTerminal, environment: environment)
  }

  /// A result, as it is: JSON, or text that was sanitised already.
  func write(_ bytes: [UInt8]) { if !bytes.isEmpty { out(bytes) } }
  package func write(_ text: String) { write(Array(text.utf8)) }

  /// A line of a result; what came out of a store cannot steer the terminal.
  ///
  /// - Parameter role: what its colour shows besides; without one the sign at its beginning says.
  package func line(_ text: String = "", as role: Theme.Role? = nil) {
    write(painted(Sanitize.text(text, limit: lineLimit), role, colorsOutput) + "\n")
  }

  /// Lines of a result, written together: each written by itself would be a call of the system.
  func lines(_ texts: [String]) {
    var bytes: [UInt8] = []
    for text in texts {
      bytes += painted(Sanitize.text(text, limit: lineLimit), nil, colorsOutput).utf8
      bytes.append(UInt8(ascii: "\n"))
    }
    write(bytes)
  }

  /// The lines that `body` writes on a console like this one, each cut to the terminal's width.
  func lines(of body: (Console) -> Void) -> [String] {
    var bytes: [UInt8] = []
    let console = Console(
      isTerminal: isTerminal, width: width, environment: environment, isCommand: isCommand,
      out: { bytes += $0 }, err: { _ in })
    console.colorsOutput = colorsOutput
    console.lineLimit = min(width, progressWidth)
    body(console)
    return String(decoding: bytes, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false
    ).dropLast().map(String.init)
  }

  /// A console like this one that writes results elsewhere.
  func writing(_ out: @escaping ([UInt8]) -> Void) -> Console {
    let console = Console(
      isTerminal: isTerminal, width: width, environment: environment, isCommand: isCommand,
      out: out, err: err)
    (console.colorsOutput, console.lineLimit) = (colorsOutput, lineLimit)
    return console
  }

  /// A small table whose first row names the columns.
  func table(_ alignments: [TextTable.Alignment], _ rows: [[String]], limit: Int = 60) {
    let table = TextTable(alignments, fitting: rows, limit: limit)
    for (index, row) in rows.enumerated() {
      let line = table.line(row)
      write((index == 0 ? heading(line) : line) + "\n")
    }
  }

  /// The names of columns as they look over the rows of a table.
  func heading(_ line: String) -> String { painted(line, .columnTitle, colorsOutput) }

  /// A line of a message; on a terminal, lines that are broken between words.
  package func note(_ text: String) {
    let text = Sanitize.text(text)
    let role = LineColor.role(of: text)
    let lines =
      isErrorTerminal
      ? Wrapping.message(text, width: errorWidth(), isCommand: isCommand)
      : [text]
    for line in lines {
      err(Array((painted(line, role, colorsErrors) + "\n").utf8))
    }
  }

  /// What was left out of models, or taken for granted, each once.
  func warn(_ warnings: [String]) {
    var told: Set<String> = []
    for warning in warnings where told.insert(warning).inserted { note("! " + warning) }
  }

  /// Rewrites the last line of a terminal; nothing elsewhere, since it takes an escape sequence.
  func rewrite(_ text: String) {
    guard isErrorTerminal else { return }
    err(Self.rewriting(text, width: progressWidth))
  }

  /// Rewrites the last lines on this process's standard error, from any thread.
  ///
  /// - Parameters:
  ///   - lines: as they are written: cut to the terminal's width.
  ///   - former: how many lines were written so the last time; the cursor is behind the last one.
  static func rewriteProcessLines(_ lines: [String], over former: Int) {
    Output.error(rewriting(lines, over: former))
  }

  static func rewriting(_ lines: [String], over former: Int) -> String {
    "\r" + (former > 1 ? "\u{1B}[\(former - 1)A" : "") + "\u{1B}[J" + lines.joined(separator: "\n")
  }

  private static func rewriting(_ text: String, width: Int) -> [UInt8] {
    Array(("\r\u{1B}[K" + Sanitize.text(text, limit: width)).utf8)
  }

  /// Cells that a line which is rewritten may take: one less, lest the terminal breaks it.
  var progressWidth: Int { max(1, errorWidth() - 1) }

  package func json(_ body: (inout JSONWriter) -> Void) {
    write(JSONWriter.line(body))
  }

  private func painted(_ text: String, _ role: Theme.Role?, _ isColored: Bool) -> String {
    guard isColored, let role = role ?? LineColor.role(of: text) else { return text }
    return LineColor.paint(text, role)
  }
}

/// Colour for lines of text, by the roles of themes: the sixteen colours that a person's own terminal
/// gives a look to, since nobody knows on what background the line will stand.
///
/// A line has the colour of the sign it begins with: every fact is shown by a sign or a word first.
enum LineColor {
  private static let signs: [(sign: Character, role: Theme.Role)] = [
    ("✓", .success), ("✗", .error), ("!", .warning), ("+", .added), ("−", .removed),
    ("~", .changed),
  ]
  private static let heads: [(head: String, role: Theme.Role)] = [
    ("strata:", .error), ("warning:", .warning), ("note:", .dim),
  ]

  /// Codes of Select Graphic Rendition.
  private static let codes: [Theme.Role: String] = [
    .success: "32", .error: "1;31", .warning: "33", .added: "32", .removed: "31", .changed: "33",
    .dim: "2", .columnTitle: "1", .title: "1",
  ]

  static func role(of line: String) -> Theme.Role? {
    let text = line.drop { $0 == " " }
    if let first = text.first, let found = signs.first(where: { $0.sign == first }),
      text.dropFirst().first.map({ $0 == " " }) ?? true
    {
      return found.role
    }
    // Words count only where a line begins: further in they are somebody's text.
    return text.startIndex == line.startIndex
      ? heads.first { text.hasPrefix($0.head) }?.role : nil
  }

  /// Text that was sanitised, between the codes of a role.
  static func paint(_ text: String, _ role: Theme.Role) -> String {
    codes[role].map { "\u{1B}[\($0)m\(text)\u{1B}[0m" } ?? text
  }
}

/// When text is coloured.
package enum ColorChoice: String, CaseIterable {
  case auto, always, never

  /// What the words of a command line ask for; the last `--color` counts.
  package init(_ words: [String]) {
    self = .auto
    let option = Option.color.declaration.word
    for (index, word) in words.prefix(while: { $0 != "--" }).enumerated() {
      let value =
        word == option
        ? words.dropFirst(index + 1).first
        : word.hasPrefix(option + "=") ? String(word.dropFirst(option.count + 1)) : nil
      if let choice = value.flatMap(ColorChoice.init(rawValue:)) { self = choice }
    }
  }

  /// - Parameter environment: `NO_COLOR` always wins; a dumb terminal has none of its own accord.
  func applies(toTerminal isTerminal: Bool, environment: (String) -> String?) -> Bool {
    if let noColor = environment("NO_COLOR"), !noColor.isEmpty { return false }
    switch self {
    case .always: return true
    case .never: return false
    case .auto: return isTerminal && environment("TERM").map { $0 != "dumb" && $0 != "" } == true
    }
  }
}

/// A text with its wrong words underlined, in two lines of a terminal.
enum MarkedLines {
  /// Cells of text shown on either side of the marked words.
  private static let around = 60

  static func lines(_ mark: TextMark) -> [String] {
    // Line ends would tear the two lines apart.
    let before = Array(Sanitize.text(mark.before))
    let marked = Sanitize.text(String(mark.marked.prefix(around)))
    let after = String(decoding: mark.text.utf8.dropFirst(mark.range.upperBound), as: UTF8.self)
    let shown = (before.count > around ? "…" : "") + String(before.suffix(around))
    let rest = Sanitize.text(String(after.prefix(around)))
    return [
      "  " + shown + marked + rest,
      "  " + String(repeating: " ", count: TextWidth.of(shown))
        + String(repeating: "^", count: max(1, TextWidth.of(marked))),
    ]
  }
}

extension Console {
  /// A report as it is laid out for the eyes, or as sentences to be read aloud.
  func report(_ report: Report) {
    for line in text(of: report, width: width) { self.line(line.text, as: line.role) }
  }

  /// The same, where errors and questions go.
  func note(_ report: Report) {
    for line in text(of: report, width: progressWidth) { note(line.text) }
  }

  /// All that stands in the way of a store's migration, where errors go.
  func refuse(_ path: String, _ report: Report) {
    Interruption.waitForEnd()
    note("strata: \(path): \(PlanVerdict.cannot)")
    note(report)
  }

  private func text(of report: Report, width: Int) -> [TextLine] {
    readsAloud ? ReportText.spoken(report) : ReportText.lines(report, width: width)
  }

  /// A text in lines that fit, those after the first as far in as `indent` says.
  func paragraph(_ text: String, indent: Int) {
    for line in Wrapping.paragraph(text, width: width, indent: indent) { self.line(line) }
  }
}
