import ManagedModel
import Migration
import Terminal

/// What a rollback did, as lines.
enum RollbackText {
  static func lines(_ receipt: StoreRollback.Receipt) -> [ReceiptView.Line] {
    typealias Line = ReceiptView.Line
    let contents = receipt.contents
    let version =
      Model.versionName(contents.versionIdentifiers, contents.versionHashes)
      .map { ", version " + $0 } ?? ""
    let name = receipt.backup.path.split(separator: "/").last.map(String.init) ?? ""
    var lines = [
      Line(sign: "✓", role: .success, text: "rolled back to \(name)\(version)"),
      Line(
        sign: "✓", role: .success,
        text: "opens, is intact, and holds what the backup held: "
          + NumberText.bytes(receipt.bytes)),
    ]
    if receipt.isBackupRemoved {
      lines.append(Line(role: .dim, text: "the backup’s own file is gone: it is the store now"))
    }
    if let undone = receipt.undonePath {
      lines.append(Line(text: "what was there before is kept: \(undone)"))
    }
    if let support = receipt.undoneSupportPath {
      lines.append(Line(text: "its external data are kept: \(support)"))
    }
    lines += receipt.notes.map { Line(sign: "·", role: .dim, text: $0) }
    if !receipt.orphaned.isEmpty {
      lines.append(
        Line(
          sign: "·", role: .dim,
          text: NumberText.counted(receipt.orphaned.count, "external data file")
            + (receipt.orphaned.count == 1
              ? " is named by no object now; it stays" : " are named by no object now; they stay")))
    }
    if !receipt.missing.isEmpty {
      lines.append(
        Line(
          sign: "!", role: .warning,
          text: NumberText.counted(receipt.missing.count, "external data file")
            + " of the backup \(receipt.missing.count == 1 ? "is" : "are") missing"))
    }
    lines += [Line(), Line(role: .columnTitle, text: "objects", numbers: ["now"])]
    lines += receipt.contents.counts.sorted { $0.key < $1.key }.map {
      Line(text: $0.key, numbers: [NumberText.grouped($0.value)])
    }
    return lines
  }
}
