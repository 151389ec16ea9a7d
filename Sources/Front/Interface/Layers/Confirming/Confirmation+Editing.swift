import Comparison
import ManagedModel
import ManagedStore
import Terminal

extension Confirmation {
  /// Objects that are listed one by one.
  private static let mostListed = 8

  /// Before prepared changes are written; a copy has them already.
  static func write(_ order: EditOrder, _ check: EditCheck, _ known: Known) -> Confirmation {
    let receipt = check.receipt
    var lines = [
      Line(
        text: "Writes \(order.words): \(NumberText.counted(receipt.changed, "object")) changed, "
          + "\(NumberText.grouped(receipt.deleted)) deleted. A copy is edited and compared with the store; it then replaces "
          + "\(name(known)) by one rename.")
    ]
    let asked = Set(order.edit.objects.map(\.id) + order.edit.deletions)
    let own = check.changes.filter { ($0.b ?? $0.a).map(asked.contains) == true }
    lines += listed(own.filter { $0.kind != .delete }, "Changed", known)
    lines += listed(own.filter { $0.kind == .delete }, "Deleted", known, role: .warning)
    let others = check.changes.filter { ($0.b ?? $0.a).map(asked.contains) != true }
    lines += along(others.filter { $0.kind == .delete }, "With them", role: .warning)
    lines += along(others.filter { $0.kind != .delete }, "Linked", role: .text)
    lines.append(Line(label: "Rules", text: "✓ the model's rules are kept", role: .success))
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
      Line(label: "Time", text: "about \(NumberText.seconds(receipt.seconds)), as on the copy"))
    let deletions = receipt.mirrored?.deletions ?? 0
    return Confirmation(
      title: "Write \(order.words) to \(name(known))?", lines: lines,
      yes: deletions > 0 ? "write…" : "write", no: "change nothing",
      intent: deletions > 0
        ? .confirmDeletions(order, count: deletions) : .rescue(.edit(order)),
      request: .edit(bytesNeeded: receipt.bytesNeeded),
      command: known.prepared.command(known.storeArgument))
  }

  private static func listed(
    _ changes: [ObjectChange], _ label: String, _ known: Known, role: Theme.Role = .text
  ) -> [Line] {
    let shown = changes.prefix(mostListed).map { change in
      let summary = change.kind == .delete ? "" : "  " + change.summary(known.store)
      return Line(label: label, text: change.title + summary, role: role)
    }
    let more = changes.count - shown.count
    return shown
      + (more > 0 ? [Line(label: label, text: "and \(NumberText.grouped(more)) more")] : [])
  }

  /// What goes along, or is changed from the other side, by entity.
  private static func along(
    _ changes: [ObjectChange], _ label: String, role: Theme.Role
  ) -> [Line] {
    let counts = Dictionary(grouping: changes, by: \.entity).sorted { $0.key < $1.key }
    guard !counts.isEmpty else { return [] }
    let text = counts.map { entity, changes in
      let first = changes.prefix(3).compactMap { ($0.b ?? $0.a)?.description }
      return "\(NumberText.grouped(changes.count)) \(entity) ("
        + first.joined(separator: ", ") + (changes.count > 3 ? " …" : "") + ")"
    }
    let why = role == .text ? ": the other side of relationships" : ", by delete rules"
    return [Line(label: label, text: text.joined(separator: ", ") + why, role: role)]
  }
}
