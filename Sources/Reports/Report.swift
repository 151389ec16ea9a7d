import ManagedModel

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

  /// Lines with a title, and with titles of columns where they have numbers.
  package struct Section: Sendable, Equatable {
    package var title: Advice
    package var columns: [String]
    package var lines: [Line]

    package init(_ title: Advice, columns: [String] = [], _ lines: [Line]) {
      (self.title, self.columns, self.lines) = (title, columns, lines)
    }

    package init(_ lines: [Line]) { self.init("", lines) }

    /// The title, then the lines.
    package var titled: [Line] {
      title.text.isEmpty ? lines : [Line(title, numbers: columns, as: .title)] + lines
    }
  }

  /// Only those that have lines.
  package let sections: [Section]

  package init(_ sections: [Section]) { self.sections = sections.filter { !$0.lines.isEmpty } }

  /// All lines, with an empty one between two sections.
  package var lines: [Line] {
    Array(sections.map(\.titled).joined(separator: [Line("")]))
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
