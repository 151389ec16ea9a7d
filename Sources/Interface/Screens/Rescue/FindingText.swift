import ManagedModel
import Reports
import Rescue
import Terminal

/// All that is known of a finding: what it is, what follows, what helps.
struct FindingText {
  private let finding: Finding
  /// Whether the keys that do what is advised are named.
  private let hints: Bool
  /// What Enter does about it; `nil` where nothing.
  private let going: String?

  init(_ finding: Finding, hints: Bool = true, going: String? = nil) {
    (self.finding, self.hints, self.going) = (finding, hints, going)
  }

  /// With the key beside an option that asks for it here.
  private var advice: String {
    finding.advice.text { choice, values in
      Advice.typed(choice, values) + (hints && choice == .model ? " (s asks for it)" : "")
    }
  }

  func lines(width: Int) -> [TextLine] {
    var lines: [TextLine] = []
    func add(_ text: String, _ role: Theme.Role) {
      lines += Wrapping.lines(text, width: width).map { ($0, role) }
    }
    for (index, line) in finding.found.enumerated() {
      add(line.words(), index == 0 ? .text : Theme.Role(line))
    }
    lines.append(("", .text))
    if finding.reported.isEmpty { add("Core Data reports no error.", .dim) }
    for line in finding.reported { add(line.words(), .text) }
    lines.append(("", .text))
    add("what helps", .columnTitle)
    // What brings everything back is reported before the key that gives it up.
    let isLastResort = finding.kind == .externalMissing
    if isLastResort { add(advice, .text) }
    if hints {
      if let going { add("→ ⏎: \(going)", .success) }
      if isLastResort {
        add("→ P: check again, once the folder is there", .success)
        add("→ f: without it, set the values to NULL, with a backup", .success)
      } else if finding.action == .salvage {
        add("→ s: salvage it into a new store", .success)
      } else if finding.action == .undelete {
        add("→ u: look for what is left of them", .success)
      } else if finding.isRepaired {
        add("→ f: repair it in the store, with a backup", .success)
      } else if finding.command != nil {
        add("→ y: copy the command", .success)
      }
    }
    if !isLastResort { add(advice, .text) }
    if let command = finding.command {
      lines += Wrapping.code(command.typed, width: width).map { ($0, .code) }
    }
    return lines
  }
}

extension Finding {
  /// The sign of its severity, and how it looks.
  var mark: (sign: String, role: Theme.Role) {
    let mark = Report.Mark(severity)
    return (mark.rawValue, Theme.Role(Report.Line(mark, "")))
  }
}
