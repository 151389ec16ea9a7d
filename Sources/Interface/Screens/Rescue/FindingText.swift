import ManagedModel
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
    add(finding.sentence, .text)
    if !finding.first.isEmpty {
      // Five are reported at most.
      let more = finding.first.count >= 5 && (finding.count ?? .max) > 5 ? " …" : ""
      add("first: " + finding.first.joined(separator: ", ") + more, .dim)
    }
    lines.append(("", .text))
    if let consequence = finding.consequence {
      add("Core Data: " + consequence.text, .text)
    } else {
      add("Core Data reports no error.", .dim)
    }
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
    switch severity {
    case .error: ("✗", .error)
    case .warning: ("!", .warning)
    case .note: ("·", .dim)
    }
  }
}
