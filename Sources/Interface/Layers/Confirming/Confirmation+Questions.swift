import ManagedModel
import Migration
import Rescue
import Terminal

/// Every question that is asked.
extension Confirmation {
  private static func name(_ state: State) -> String {
    state.ownStore?.fileName
      ?? state.storePath.split(separator: "/").last.map(String.init) ?? state.storePath
  }

  /// Before the program is left in the middle of something.
  static func quit(_ state: State) -> Confirmation {
    if case .verified = state.migrate.phase {
      return Confirmation(
        title: "Quit?",
        lines: [
          Line(
            text: "The migrated file is verified and waits for the cut-over. Quitting discards it. "
              + "The store stays as it was.")
        ], yes: "discard it and quit", no: "stay", intent: .quit)
    }
    let work = (state.work ?? "something").capitalizedFirst
    return Confirmation(
      title: "Quit?",
      lines: [Line(text: "\(work) is running. Quitting stops it; the store stays as it was.")],
      yes: "stop it and quit", no: "stay", intent: .quit)
  }

  /// Before a verified result is thrown away.
  static let discardResult = Confirmation(
    title: "Discard the result?",
    lines: [Line(text: "The migrated file is removed. The store stays as it was.")],
    yes: "discard it", no: "keep waiting", intent: .discardResult)

  /// Before a migration in place.
  static func migrate(
    _ plan: MigrationPlan, _ options: MigrationOptions, pauses: Bool, _ state: State
  ) -> Confirmation {
    let rows = plan.steps.first?.rows.values.reduce(0, +) ?? 0
    let names = (plan.steps.prefix(1).map(\.from) + plan.steps.map(\.to)).map { "“\($0)”" }
    let way =
      names.count > 2
      ? "in \(names.count - 1) steps: \(names.joined(separator: " → "))"
      : "from \(names.joined(separator: " to "))"
    var lines = [
      Line(
        text: "Migrates \(NumberText.counted(rows, "object")) \(way). A new file is made and "
          + "verified; it then replaces \(name(state)) by one rename.")
    ]
    let losses = plan.losses.filter { $0.values > 0 }
    if !losses.isEmpty {
      let some = losses.prefix(4).map { "\($0.counted) of \($0.name)" }.joined(separator: ", ")
      let more = losses.count > 4 ? " and \(losses.count - 4) more" : ""
      lines.append(Line(label: "Lost", text: some + more, role: .warning))
    }
    if pauses { lines.append(Line(label: "Pause", text: "asks again before the cut-over")) }
    return Confirmation(
      title: "Migrate \(name(state))?", lines: lines, yes: "migrate",
      no: "change nothing", intent: .migrate,
      request: .migration(options, bytesNeeded: plan.bytesNeeded))
  }

  /// Before the cut-over of a verified result.
  static func cutOver(_ receipt: MigrationReceipt, _ state: State) -> Confirmation {
    Confirmation(
      title: "Replace the store?",
      lines: [
        Line(
          text:
            "The new file is verified; \(name(state)) is unchanged so far. The cut-over replaces "
            + "it by the new file (\(NumberText.bytes(receipt.bytes))).")
      ], yes: "replace the store", no: "discard the result", intent: .confirmCutover,
      request: .cutover(MigrationOptions()))
  }

  /// Before a backup takes the store's place again.
  static func rollBack(to entry: BackupEntry, _ state: State) -> Confirmation {
    let objects = entry.objects.map { ", \(NumberText.counted($0, "object"))" } ?? ""
    return Confirmation(
      title: "Roll back \(name(state))?",
      lines: [
        Line(
          text:
            "Restores \(entry.name): version \(entry.version(among: state.versions))\(objects), "
            + "\(NumberText.bytes(entry.backup.bytes)), last changed \(entry.date). A clone of it is "
            + "checked; it then replaces \(name(state)) by one rename."),
        Line(
          label: "After",
          text: entry.backup.origin == .other
            ? "\(entry.name) stays where it is"
            : "\(entry.name) is gone: it is the store then"),
      ], yes: "roll back", no: "change nothing", intent: .rollBack(entry),
      request: .rollback(entry.backup),
      command:
        "strata rollback \(state.storeArgument) --from \(ShellText.quoted(entry.backup.path))")
  }

  /// Before faults are repaired in the store itself.
  ///
  /// - Parameter kinds: the kinds of fault that the order repairs in this store.
  static func repair(
    _ order: RepairOrder, of kinds: Set<FindingKind>, _ state: State
  ) -> Confirmation {
    let names = FindingKind.allCases.filter(kinds.contains).map(\.rawValue).joined(separator: ", ")
    let what =
      RepairRoom.movesFilesAlone(kinds)
      ? "Moves the files of external data that no object names into a folder beside the store. "
        + "The store file itself is not changed."
      : "Repairs \(names) on a copy and verifies it; it then replaces \(name(state)) by one rename."
    var lines = [Line(text: what)]
    if let kept = order.kept {
      lines.append(
        Line(
          label: "Deleted", text: "of equal objects all but the \(kept.rawValue)", role: .warning))
    }
    if kinds.contains(.externalMissing) {
      lines.append(
        Line(label: "Nulled", text: "values whose external files are missing", role: .warning))
    }
    return Confirmation(
      title: "Repair \(name(state))?", lines: lines, yes: "repair",
      no: "change nothing", intent: .rescue(.repair(order)),
      request: .repair(kinds))
  }

  /// Before a new store is made of what can still be read.
  static func salvage(_ order: SalvageOrder, _ state: State) -> Confirmation {
    Confirmation(
      title: "Salvage into a new store?",
      lines: [
        Line(
          text: "Everything that can still be read \(order.words)"
            + "goes into a new store. \(name(state)) is only read."),
        Line(label: "New", text: order.output),
      ], yes: "salvage", no: "make nothing", intent: .rescue(.salvage(order)),
      request: .newStore(path: order.output))
  }

  /// Before a new store is made in which deleted objects are restored.
  static func restore(_ order: RestoreOrder, _ state: State) -> Confirmation {
    Confirmation(
      title: "Restore into a new store?",
      lines: [
        Line(
          text: "A new store gets all that is in \(name(state)), and \(order.choice.words). "
            + "\(name(state)) is only read."),
        Line(label: "New", text: order.output),
      ], yes: "restore", no: "make nothing", intent: .rescue(.restore(order)),
      request: .newStore(path: order.output))
  }

  /// Before what an interrupted run left is put right.
  static func recover(_ leftovers: StoreLeftovers) -> Confirmation {
    Confirmation(
      title: "Recover from an interrupted run?",
      lines: leftovers.sentences.map { Line(text: $0, role: .warning) } + [
        Line(
          text: "y does that now. Only files that the interrupted run wrote down are renamed or "
            + "removed.")
      ], yes: "recover", no: "change nothing", intent: .recover)
  }
}
