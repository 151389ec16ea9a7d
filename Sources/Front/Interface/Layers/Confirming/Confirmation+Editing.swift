import Comparison
import ManagedModel
import ManagedStore
import Terminal

extension Confirmation {
  /// Objects that are listed one by one before the other facts.
  private static let mostListed = 8

  /// Before prepared changes are written; a copy has them already.
  static func write(_ order: EditOrder, _ check: EditCheck, _ known: Known) -> Confirmation {
    let receipt = check.receipt
    var lines = [
      Line(
        text: "Writes \(order.words): \(NumberText.counted(receipt.changed, "object")) changed, "
          + "\(NumberText.grouped(receipt.deleted)) deleted. A copy is edited, compared with the store, and then replaces "
          + "\(name(known)) by one rename.")
    ]
    let changed = listed(check.objects.asked.filter { $0.kind != .delete }, "Changed", known)
    let deleted = listed(
      check.objects.asked.filter { $0.kind == .delete }, "Deleted", known, role: .warning)
    lines += changed.first + deleted.first
    lines += along(check.objects.along, "With them", ", by delete rules", role: .warning)
    lines += along(check.objects.linked, "Linked", ": the other side of relationships", role: .text)
    lines.append(
      Line(
        label: "Rules",
        text: "✓ kept; predicates and the app's own code are not checked",
        role: .success))
    if let mirrored = receipt.mirrored {
      lines.append(Line(label: "iCloud", text: mirrored.sentence, role: .warning))
    }
    lines += receipt.notes.map { Line(label: "Note", text: $0) }
    lines.append(
      Line(
        label: "Undo",
        text: "b on 4 Migrate rolls back to the backup that is kept; so does strata rollback "
          + known.storeArgument))
    lines.append(
      Line(
        label: "Time", text: "about \(NumberText.seconds(receipt.seconds)), as long as on the copy")
    )
    lines += changed.rest + deleted.rest
    let deletions = receipt.mirrored?.deletions ?? 0
    return Confirmation(
      title: "Write \(order.words) to \(name(known))?", lines: lines,
      yes: deletions > 0 ? "write…" : "write", no: "change nothing",
      intent: deletions > 0
        ? .confirmDeletions(order, count: deletions) : .rescue(.edit(order)),
      request: .edit(bytesNeeded: receipt.bytesNeeded),
      command: known.prepared.arguments.map { known.command("edit", $0) })
  }

  /// All of them: the first, with how many more there are, and those for the end of the text.
  private static func listed(
    _ changes: [ObjectChange], _ label: String, _ known: Known, role: Theme.Role = .text
  ) -> (first: [Line], rest: [Line]) {
    let all = changes.map { change in
      let summary = change.kind == .delete ? "" : "  " + change.summary(known.store)
      return Line(label: label, text: change.title + summary, role: role)
    }
    let rest = Array(all.dropFirst(mostListed))
    let more =
      rest.isEmpty
      ? []
      : [Line(label: label, text: "and \(NumberText.grouped(rest.count)) more, listed at the end")]
    return (all.prefix(mostListed) + more, rest)
  }

  /// What goes along, or is changed from the other side, by entity.
  private static func along(
    _ others: [CheckedObjects.Others], _ label: String, _ why: String, role: Theme.Role
  ) -> [Line] {
    guard !others.isEmpty else { return [] }
    let text = others.map { group in
      "\(NumberText.grouped(group.count)) \(group.entity) ("
        + group.first.map(\.description).joined(separator: ", ")
        + (group.count > group.first.count ? " …" : "") + ")"
    }
    return [Line(label: label, text: text.joined(separator: ", ") + why, role: role)]
  }
}
