import ManagedModel
import Migration
import Reports
import Rescue
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
      all += footprint.map(facts) ?? [Line(text: "checking the folder …", role: .dim)]
    }
    if let command { all.append(Line(label: "Command", text: command, role: .code)) }
    return all
  }

  private func facts(_ footprint: Footprint) -> [Line] {
    var facts: [Line] = []
    switch request {
    case .migration, .cutover, .repair, .edit:
      let backup = footprint.backup.map {
        "\($0.name), \(NumberText.bytes($0.bytes)): a hard link to the current file, or a copy "
          + "where the file system has no hard links"
      }
      facts.append(Line(label: "Backup", text: backup ?? "none"))
    case .rollback:
      let backup = footprint.backup.map {
        "\($0.name), \(NumberText.bytes($0.bytes)): the current store; roll back to it to undo this"
      }
      facts.append(Line(label: "Backup", text: backup ?? "none: there is no store now"))
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
    guard footprint.bytesNeeded > 0 else { return "no additional space" + free }
    return switch request {
    case .newStore: "up to \(bytes) more" + free
    case .migration, .cutover, .rollback, .repair, .edit, nil:
      "up to \(bytes) more while it runs" + free
    }
  }
}

extension State {
  /// Asks a question over what is there.
  mutating func confirm(_ confirmation: Confirmation) -> [Effect] {
    show(ConfirmLayer(confirmation)) { $0.begin(in: &$1) }
  }
}

/// Every question that is asked.
extension Confirmation {
  static func name(_ known: Known) -> String {
    known.ownStore?.fileName
      ?? known.storePath.split(separator: "/").last.map(String.init) ?? known.storePath
  }

  /// Before the program is left in the middle of something.
  static func quit(_ state: State) -> Confirmation {
    if state.work == nil { return leave(state.known, "quit", .quit) }
    if case .verified = state.migrate.phase {
      return Confirmation(
        title: "Quit?",
        lines: [
          Line(
            text: "The migrated file is verified and waits for the cut-over. Quitting discards it. "
              + "The store stays unchanged.")
        ], yes: "discard it and quit", no: "stay", intent: .quit)
    }
    let work = (state.work ?? "something").capitalizedFirst
    return Confirmation(
      title: "Quit?",
      lines: [Line(text: "\(work) is running. Quitting stops it; the store stays unchanged.")],
      yes: "stop it and quit", no: "stay", intent: .quit)
  }

  /// Before prepared changes are lost with the view of the store.
  static func leave(_ known: Known, _ verb: String, _ intent: Intent) -> Confirmation {
    Confirmation(
      title: "\(verb.capitalizedFirst) without writing?",
      lines: [
        Line(
          text:
            "\(known.prepared.words) \(known.prepared.entries.count == 1 ? "is" : "are") prepared but not written: C lists, W writes. The store is unchanged."
        )
      ], yes: "discard and \(verb)", no: "stay", intent: intent)
  }

  /// Before a verified result is thrown away.
  static let discardResult = Confirmation(
    title: "Discard the result?",
    lines: [Line(text: "The migrated file is removed. The store stays unchanged.")],
    yes: "discard it", no: "keep waiting", intent: .discardResult)

  /// Before a migration in place.
  static func migrate(
    _ plan: MigrationPlan, _ options: MigrationOptions, pauses: Bool, _ known: Known
  ) -> Confirmation {
    let rows = plan.steps.first?.rows.values.reduce(0, +) ?? 0
    let losses = plan.losses.filter { $0.values > 0 }
    // Objects that go are not migrated.
    let gone = losses.reduce(0) {
      $0 + ($1.property == nil && !$1.isOfFile && $1.misfit == nil ? $1.values : 0)
    }
    let objects =
      gone > 0 && gone <= rows
      ? "\(NumberText.grouped(rows - gone)) of \(NumberText.counted(rows, "object"))"
      : NumberText.counted(rows, "object")
    let names = (plan.steps.prefix(1).map(\.from) + plan.steps.map(\.to)).map { "“\($0)”" }
    let way =
      names.count > 2
      ? "in \(names.count - 1) steps: \(names.joined(separator: " → "))"
      : "from \(names.joined(separator: " to "))"
    var lines = [
      Line(
        text: "Migrates \(objects) \(way). A new file is written and "
          + "verified, and then replaces \(name(known)) by one rename.")
    ]
    if !losses.isEmpty {
      let some = losses.prefix(4).map { "\($0.counted) of \($0.name)" }.joined(separator: ", ")
      let more = losses.count > 4 ? " and \(losses.count - 4) more" : ""
      lines.append(Line(label: "Lost", text: some + more, role: .warning))
    }
    if !known.prepared.isEmpty {
      lines.append(
        Line(
          label: "Dropped",
          text: "\(known.prepared.words) prepared but not written; W writes first", role: .warning))
    }
    if pauses { lines.append(Line(label: "Pause", text: "asks again before the cut-over")) }
    return Confirmation(
      title: "Migrate \(name(known))?", lines: lines, yes: "migrate",
      no: "change nothing", intent: .migrate,
      request: .migration(options, bytesNeeded: plan.bytesNeeded))
  }

  /// Before the cut-over of a verified result.
  static func cutOver(_ receipt: MigrationReceipt, _ known: Known) -> Confirmation {
    Confirmation(
      title: "Replace the store?",
      lines: [
        Line(
          text:
            "The new file is verified; \(name(known)) is unchanged so far. The cut-over replaces "
            + "it by the new file (\(NumberText.bytes(receipt.bytes))).")
      ], yes: "replace the store", no: "discard the result", intent: .confirmCutover,
      request: .cutover(MigrationOptions()))
  }

  /// Before a backup takes the store's place again.
  static func rollBack(to entry: BackupEntry, _ known: Known) -> Confirmation {
    let objects = entry.objects.map { ", \(NumberText.counted($0, "object"))" } ?? ""
    return Confirmation(
      title: "Roll back \(name(known))?",
      lines: [
        Line(
          text:
            "Restores \(entry.name): version \(entry.version(among: known.versions))\(objects), "
            + "\(NumberText.bytes(entry.backup.bytes)), last changed \(entry.date). A clone of it is "
            + "checked, and then replaces \(name(known)) by one rename."),
        Line(
          label: "After",
          text: entry.backup.origin == .other
            ? "\(entry.name) stays where it is"
            : "\(entry.name) is removed: the store then has its content"),
      ], yes: "roll back", no: "change nothing", intent: .rollBack(entry),
      request: .rollback(entry.backup),
      command:
        known.command("rollback", "--from \(ShellText.quoted(entry.backup.path))"))
  }

  /// Before faults are repaired in the store itself.
  ///
  /// - Parameter kinds: the kinds of fault that the order repairs in this store.
  static func repair(
    _ order: RepairOrder, of kinds: Set<FindingKind>, _ known: Known
  ) -> Confirmation {
    let names = FindingKind.allCases.filter(kinds.contains).map(\.rawValue).joined(separator: ", ")
    let what =
      RepairRoom.movesFilesAlone(kinds)
      ? "Moves the files of external data that no object references into a folder beside the store. "
        + "The store file itself is not changed."
      : "Repairs \(names) on a copy, which is verified and then replaces \(name(known)) by one rename."
    var lines = [Line(text: what)]
    if let kept = order.kept {
      lines.append(
        Line(
          label: "Deleted", text: "all but the \(kept.rawValue) of equal objects", role: .warning))
    }
    if kinds.contains(.externalMissing) {
      lines.append(
        Line(label: "Nulled", text: "values whose external files are missing", role: .warning))
    }
    return Confirmation(
      title: "Repair \(name(known))?", lines: lines, yes: "repair",
      no: "change nothing", intent: .rescue(.repair(order)),
      request: .repair(kinds))
  }

  /// Before a new store is made of what can still be read.
  static func salvage(_ order: SalvageOrder, _ known: Known) -> Confirmation {
    Confirmation(
      title: "Salvage into a new store?",
      lines: [
        Line(
          text: "What can still be read \(order.words)"
            + "goes into a new store. \(name(known)) is only read."),
        Line(label: "New", text: order.output),
      ], yes: "salvage", no: "write nothing", intent: .rescue(.salvage(order)),
      request: .newStore(path: order.output))
  }

  /// Before a new store is made in which deleted objects are restored.
  static func restore(_ order: RestoreOrder, _ known: Known) -> Confirmation {
    Confirmation(
      title: "Restore into a new store?",
      lines: [
        Line(
          text: "The new store gets what \(name(known)) has, and \(order.choice.words). "
            + "\(name(known)) is only read."),
        Line(label: "New", text: order.output),
      ], yes: "restore", no: "write nothing", intent: .rescue(.restore(order)),
      request: .newStore(path: order.output))
  }

  /// Before what an interrupted run left is put right.
  static func recover(_ leftovers: StoreLeftovers) -> Confirmation {
    Confirmation(
      title: "Recover from an interrupted run?",
      lines: leftovers.sentences.map { Line(text: $0, role: .warning) } + [
        Line(
          text: "y recovers now. Only files that the interrupted run recorded are renamed or "
            + "removed.")
      ], yes: "recover", no: "change nothing", intent: .recover)
  }
}
