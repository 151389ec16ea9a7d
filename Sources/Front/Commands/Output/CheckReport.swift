/// What a check found, in the shape that build servers read: a list of cases, each passed, skipped or
/// with problems.
///
/// A command fills one and prints it as ``junit`` or ``github``: `lint` has a case for each rule,
/// `rehearse` may have one for each store, `plan` and `verify` one for each loss, check or difference.
struct CheckReport: Sendable, Equatable {
  /// One thing that is wrong.
  struct Problem: Sendable, Equatable {
    enum Level: String, Sendable { case error, warning, notice }

    var level: Level
    /// What it is, in a few words.
    var title: String
    /// What is wrong and what to do, in lines.
    var message: String
    /// The file, and the line in it from 1, where there is one.
    var path: String?
    var line: Int?
  }

  /// One thing that was checked.
  struct Case: Sendable, Equatable {
    var name: String
    /// What it belongs to: a file, a store, a model.
    var group: String
    var problems: [Problem] = []
    /// Why it was not checked; `nil` where it was.
    var skipped: String?
    var seconds: Double?

    /// Whether the check fails over it.
    var isFailure: Bool { problems.contains { $0.level == .error } }
  }

  /// What the check is called.
  var name: String
  var cases: [Case] = []
  /// What else there is to know, as sentences.
  var notes: [String] = []
}

extension CheckReport {
  /// Formats that commands print besides their own.
  enum Format: String, CaseIterable, Sendable { case junit, github }

  func text(_ format: Format) -> String {
    switch format {
    case .junit: junit
    case .github: github
    }
  }

  /// XML as JUnit's runners write it and build servers read it: a suite for each group. An error is a
  /// failure, anything less stands in what the case printed.
  var junit: String {
    var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    text += "<testsuites name=\"\(xml(name))\" \(Self.counts(cases))>\n"
    for group in groups {
      let own = cases.filter { $0.group == group }
      text += "  <testsuite name=\"\(xml(group))\" \(Self.counts(own))>\n"
      for one in own { text += junit(one) }
      if !notes.isEmpty, group == groups.first {
        text += "    <system-out>\(xml(notes.joined(separator: "\n")))</system-out>\n"
      }
      text += "  </testsuite>\n"
    }
    return text + "</testsuites>\n"
  }

  private var groups: [String] {
    cases.reduce(into: []) { if !$0.contains($1.group) { $0.append($1.group) } }
  }

  private static func counts(_ cases: [Case]) -> String {
    let seconds = cases.compactMap(\.seconds)
    return "tests=\"\(cases.count)\" failures=\"\(cases.count(where: \.isFailure))\" errors=\"0\""
      + " skipped=\"\(cases.count { $0.skipped != nil })\""
      + (seconds.isEmpty ? "" : " time=\"\(Self.time(seconds.reduce(0, +)))\"")
  }

  /// Seconds with three digits behind the point.
  private static func time(_ seconds: Double) -> String {
    let thousandths = Int(max(0, min(seconds, 1e9)) * 1000)
    let rest = String(thousandths % 1000)
    return "\(thousandths / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
  }

  private func junit(_ one: Case) -> String {
    let head =
      "    <testcase name=\"\(xml(one.name))\" classname=\"\(xml(one.group))\""
      + (one.seconds.map { " time=\"\(Self.time($0))\"" } ?? "")
    var inner = ""
    if let reason = one.skipped { inner += "      <skipped message=\"\(xml(reason))\"/>\n" }
    let failures = one.problems.filter { $0.level == .error }
    if let first = failures.first {
      let lines = failures.map(Self.lines).joined(separator: "\n\n")
      inner += "      <failure type=\"\(xml(first.title))\" message=\"\(xml(first.summary))\">"
      inner += xml(lines) + "</failure>\n"
    }
    let others = one.problems.filter { $0.level != .error }
    if !others.isEmpty {
      let lines = others.map { "\($0.level.rawValue): " + Self.lines($0) }
      inner += "      <system-out>\(xml(lines.joined(separator: "\n\n")))</system-out>\n"
    }
    return inner.isEmpty ? head + "/>\n" : head + ">\n" + inner + "    </testcase>\n"
  }

  private static func lines(_ problem: Problem) -> String {
    (problem.place.map { $0 + ": " } ?? "") + problem.message
  }

  /// Text between tags and in quotes: control characters, which XML cannot hold, as `\u{1B}`.
  private func xml(_ text: String) -> String {
    text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
      .map { String($0).printable.escapedForXML }.joined(separator: "&#10;")
  }

  /// Workflow commands that GitHub shows beside the lines of a pull request.
  var github: String {
    var text = ""
    for problem in cases.flatMap(\.problems) {
      var properties: [String] = []
      if let path = problem.path { properties.append("file=" + Self.property(path)) }
      if let line = problem.line, problem.path != nil { properties.append("line=\(line)") }
      properties.append("title=" + Self.property(problem.title))
      text += "::\(problem.level.rawValue) \(properties.joined(separator: ","))::"
      text += Self.data(problem.message) + "\n"
    }
    return text
  }

  /// The runner reads a command up to the end of its line.
  private static func data(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { $0.printable }
      .joined(separator: "\n").replacing("%", with: "%25").replacing("\n", with: "%0A")
  }

  private static func property(_ text: String) -> String {
    data(text).replacing(":", with: "%3A").replacing(",", with: "%2C")
  }
}

extension CheckReport.Problem {
  /// `path:line`, as compilers write it.
  var place: String? { path.map { path in line.map { "\(path):\($0)" } ?? path } }

  /// The first line of the message.
  var summary: String { message.split(separator: "\n").first.map(String.init) ?? title }
}
