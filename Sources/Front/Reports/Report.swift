import Lint
import ManagedModel
import Rescue

/// What came of a piece of work, as sections of lines.
///
/// A report is made once from a result. Commands print it, screens draw it, `--plain` reads it aloud and
/// files hold it, so that all of them say the same. Its texts name commands and options by marks, which each
/// front end words.
package struct Report: Sendable, Equatable {
  /// The sign before a line.
  package enum Mark: String, Sendable {
    case none = " "
    case success = "✓"
    case warning = "!"
    case error = "✗"
    case note = "·"
    case added = "+"
    case removed = "−"
  }

  /// What a line is among the others.
  package enum Role: Sendable {
    case text, title
    /// Of less weight than the others.
    case detail
    /// About what comes, goes or becomes another.
    case added, removed, changed
    /// Words to be pasted, which are never broken.
    case code
  }

  /// A sentence or a name, with numbers in the columns of its section.
  package struct Line: Sendable, Equatable {
    package var mark: Mark
    package var role: Role
    package var text: Advice
    package var numbers: [String]
    /// How far it is indented: below what it is about.
    package var depth: Int

    package init(
      _ mark: Mark, _ text: Advice, numbers: [String] = [], as role: Role = .text, depth: Int = 0
    ) {
      (self.mark, self.text, self.numbers) = (mark, text, numbers)
      (self.role, self.depth) = (role, depth)
    }

    package init(
      _ text: Advice, numbers: [String] = [], as role: Role = .text, depth: Int = 0
    ) {
      self.init(.none, text, numbers: numbers, as: role, depth: depth)
    }
  }

  /// Cells that stand below each other, in rows.
  package struct Table: Sendable, Equatable {
    /// A row, and what there is to say of it.
    package struct Row: Sendable, Equatable {
      package var cells: [String]
      package var role: Role = .text
      /// What stands behind the cells, and below them where the line has no room for it.
      package var note = ""
      /// What stands behind them only where the line has room for it.
      package var aside = ""
      package var below: [Line] = []
    }

    package var rows: [Row]
    /// The columns that hold numbers.
    package var numbers: Set<Int> = []
    /// Most places of a terminal that a column takes.
    package var widest = 40
    /// Whether columns for which a line has no room are left out.
    package var isCut = false

    /// The rows as lines that can each stand alone.
    var lines: [Line] {
      rows.flatMap { row in
        let words = (row.cells + [row.note]).map { $0.drop { $0 == " " } }
        return [
          Line("\(words.filter { !$0.isEmpty }.joined(separator: " "))\(row.aside)", as: row.role)
        ] + row.below
      }
    }
  }

  /// Lines with a title, and with titles of columns where they have numbers; or a table.
  package struct Section: Sendable, Equatable {
    package var title: Advice
    package var columns: [String]
    package var lines: [Line]
    /// Stands after the lines.
    package var table: Table?
    /// Whether no empty line separates it from the section before.
    package var isClose = false

    package init(_ title: Advice, columns: [String] = [], _ lines: [Line]) {
      (self.title, self.columns, self.lines) = (title, columns, lines)
    }

    package init(_ lines: [Line]) { self.init("", lines) }

    /// A table that follows the section before at once.
    package init(_ table: Table) {
      self.init([])
      (self.table, isClose) = (table, true)
    }

    /// The title, then the lines that are not of the table.
    package var heading: [Line] {
      title.text.isEmpty ? lines : [Line(title, numbers: columns, as: .title)] + lines
    }

    /// The title, then the lines, those of the table too.
    package var titled: [Line] { heading + (table?.lines ?? []) }
  }

  /// Only those that have lines.
  package let sections: [Section]

  package init(_ sections: [Section]) {
    self.sections = sections.filter { !$0.lines.isEmpty || $0.table?.rows.isEmpty == false }
  }

  /// All lines, with an empty one between two sections.
  package var lines: [Line] { Self.joined(sections, empty: Line(""), \.titled) }

  /// What is made of sections, one after the other.
  package static func joined<T>(
    _ sections: [Section], empty: T, _ lines: (Section) -> [T]
  ) -> [T] {
    sections.enumerated().flatMap { index, section in
      (index > 0 && !section.isClose ? [empty] : []) + lines(section)
    }
  }
}

extension [Report.Line] {
  /// Names and their numbers, in the order of the names.
  package init(counts: [String: Int], _ mark: Report.Mark = .none) {
    self = counts.sorted { $0.key < $1.key }.map {
      Report.Line(mark, "\($0.key)", numbers: [NumberText.grouped($0.value)])
    }
  }

  /// Sentences that are notes.
  package init(notes: [String]) { self = notes.map { Report.Line(.note, "\($0)") } }
}

extension Finding {
  /// What was found, and the first of it.
  package var found: [Report.Line] {
    guard !first.isEmpty else { return [Report.Line(Report.Mark(severity), "\(sentence)")] }
    // Five are named at most.
    let more = first.count >= 5 && (count ?? .max) > 5 ? " …" : ""
    return [
      Report.Line(Report.Mark(severity), "\(sentence)"),
      Report.Line("first: \(first.joined(separator: ", "))\(more)", as: .detail, depth: 1),
    ]
  }

  /// What Core Data reports; empty where it reports nothing.
  package var reported: [Report.Line] {
    consequence.map { [Report.Line("Core Data: \($0.text)", depth: 1)] } ?? []
  }

  /// What helps.
  package var help: [Report.Line] {
    [Report.Line(advice, depth: 1)]
      + (command.map { [Report.Line($0, as: .code, depth: 2)] } ?? [])
  }
}

extension Report {
  /// Everything that is wrong with a store, the gravest first.
  package init(_ diagnosis: Diagnosis) {
    var lines: [Line] = []
    var rest = diagnosis.findings[...]
    while let finding = rest.first {
      // What follows from them, and what helps, is said once for all that agree in it.
      let group = rest.prefix {
        ($0.kind, $0.severity, $0.advice, $0.command)
          == (finding.kind, finding.severity, finding.advice, finding.command)
      }
      for finding in group {
        var found = finding.found
        found[0].text = "\(found[0].text) [\(finding.kind.rawValue)]"
        lines += found
      }
      lines += finding.reported + finding.help
      rest = rest.dropFirst(group.count)
    }
    var summary: [Line] = []
    // Of another program's database nothing is wrong: it is no store.
    if diagnosis.refusal?.code != .persistentStoreInvalidType || diagnosis.isReadable {
      summary.append(Self.summary(diagnosis))
    }
    let checks = diagnosis.migrationChecks
    if !checks.isEmpty {
      summary.append(
        Line(.warning, "The store \(PlanVerdict.cannot) as it is: \(checks.summary)"))
    }
    self.init([Section(lines), Section(summary)])
  }

  /// How many findings there are of each severity.
  private static func summary(_ diagnosis: Diagnosis) -> Line {
    guard diagnosis.isReadable else { return Line(.error, "nothing of the store can be read") }
    let counts = Finding.Severity.allCases.filter { diagnosis.count($0) > 0 }.map {
      NumberText.counted(diagnosis.count($0), $0.rawValue)
    }.joined(separator: ", ")
    guard diagnosis.isComplete else {
      let head = counts.isEmpty ? "" : counts + "; "
      return Line("\(head)the store does not open, so its objects were not checked")
    }
    guard diagnosis.count(.error) + diagnosis.count(.warning) == 0 else { return Line("\(counts)") }
    return Line(.success, "nothing is wrong\(counts.isEmpty ? "" : " (\(counts))")")
  }
}

extension Advice.Choice {
  /// Whether findings are listed that shipped as they are.
  package static let known = Advice.Choice("known", "LintOptions.tellsKnown")
}

extension LintFinding {
  /// What was found, what happens on a device, and what to do.
  ///
  /// - Parameter place: whether the file is named.
  package func lines(withPlace place: Bool) -> [Report.Line] {
    let file = place ? (line.map { "\(path):\($0)" } ?? path) + ": " : ""
    return [
      Report.Line(
        severity == .error ? .error : .warning, "\(file)[\(rule.id)] \(subject ?? "")", as: .code),
      Report.Line("\(message)", depth: 1), Report.Line("on a device: \(deviceText)", depth: 1),
      Report.Line(advice, depth: 1),
    ]
  }
}

extension Report {
  /// What the rules found in models.
  package init(_ run: LintRun) {
    let (errors, warnings) = (run.count(.error), run.count(.warning))
    let silenced = run.silenced.isEmpty ? "" : "; \(run.silenced.count) silenced"
    let known: Advice =
      run.known.isEmpty
      ? ""
      : "; \(NumberText.counted(run.known.count, "warning")) shipped as it is (\(.known))"
    let models: Advice = "\(NumberText.counted(run.models.count, "model"))\(silenced)\(known)"
    let counts = [(errors, "error"), (warnings, "warning")].filter { $0.0 > 0 }
      .map { NumberText.counted($0, $1) }.joined(separator: ", ")
    self.init([
      Section(run.findings.flatMap { $0.lines(withPlace: true) }),
      Section(
        [
          counts.isEmpty
            ? Line(.success, "no findings in \(models)") : Line("\(counts) in \(models)")
        ] + run.destinations.prefix(3).map { Line("current version: \($0)") }
          + (run.base.map { [Line("shipped: \($0)")] } ?? [])),
    ])
  }
}
