import ManagedModel
import Migration
import Terminal

/// A question before something that changes a store, makes one or throws a result away: what will
/// happen, and what its two answers do.
///
/// `y` is yes; `n`, Escape and `q` are no; Enter is neither, so that no text that is pasted, and no
/// key that is pressed once too often, answers it.
struct Confirmation: Sendable, Equatable {
  /// A paragraph of what will happen.
  struct Line: Sendable, Equatable {
    /// What the paragraph is about, where several facts stand below each other.
    var label = ""
    var text: String
    var role = Theme.Role.text
  }

  var title: String
  var lines: [Line]
  /// What `y` does, and what the store is after a no, in a few words.
  var yes: String
  var no: String
  /// What is done after a yes.
  var intent: Intent
  /// What has to be looked up before it can be answered; `nil` where all is known.
  var request: Footprint.Request?
  /// The command line that does the same.
  var command: String?

  /// Whether the question is pointless once what runs has ended.
  var isAboutRun: Bool {
    switch intent {
    case .quit, .discardResult: true
    default: false
    }
  }

  /// All that is said: what will happen, what is kept, the room that it takes, the command.
  func lines(_ footprint: Footprint?) -> [Line] {
    var all = lines
    if request != nil {
      all += footprint.map(facts) ?? [Line(text: "looking at the folder …", role: .dim)]
    }
    if let command { all.append(Line(label: "Command", text: command, role: .code)) }
    return all
  }

  private func facts(_ footprint: Footprint) -> [Line] {
    var facts: [Line] = []
    switch request {
    case .migration, .cutover, .repair:
      let backup = footprint.backup.map {
        "\($0.name), \(NumberText.bytes($0.bytes)): a hard link to the present file, or a copy "
          + "where the file system has no hard links"
      }
      facts.append(Line(label: "Backup", text: backup ?? "none"))
    case .rollback:
      let backup = footprint.backup.map {
        "\($0.name), \(NumberText.bytes($0.bytes)): the present store; roll back to it to undo this"
      }
      facts.append(Line(label: "Backup", text: backup ?? "none: no store is there now"))
    case .newStore, nil: break
    }
    facts.append(
      Line(
        label: "On disk", text: room(footprint), role: footprint.isTooLarge ? .warning : .text))
    let leftovers = footprint.leftovers
    if !leftovers.isEmpty {
      facts.append(
        Line(
          label: leftovers.isRecoverable ? "First" : "Note",
          text: leftovers.sentences.joined(separator: " "), role: .warning))
    }
    return facts
  }

  private func room(_ footprint: Footprint) -> String {
    let free = footprint.bytesFree.map { "; \(NumberText.bytes($0)) free" } ?? ""
    let bytes = NumberText.bytes(footprint.bytesNeeded)
    guard footprint.bytesNeeded > 0 else { return "no more than now" + free }
    return switch request {
    case .newStore: "up to \(bytes) more" + free
    case .migration, .cutover, .rollback, .repair, nil: "up to \(bytes) more while it runs" + free
    }
  }
}

extension State {
  /// Asks a question over what is there.
  mutating func confirm(_ confirmation: Confirmation) -> [Effect] {
    show(ConfirmLayer(confirmation)) { $0.begin(in: &$1) }
  }
}
