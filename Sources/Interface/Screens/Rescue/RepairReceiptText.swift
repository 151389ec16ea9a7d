import ManagedModel
import Migration
import Rescue
import Terminal

/// What was put right in a store, as lines of a receipt.
enum RepairReceiptText {
  typealias Line = ReceiptView.Line

  static func lines(_ receipt: RepairReceipt) -> [Line] {
    let isDone = receipt.resultPath != nil
    var lines = [
      Line(
        sign: "✓", role: .success,
        text: isDone
          ? "repaired in \(NumberText.seconds(receipt.seconds)), "
            + "\(NumberText.seconds(receipt.verificationSeconds)) of them to verify"
          : "nothing to repair without a decision")
    ]
    if let path = receipt.resultPath {
      lines.append(Line(role: .dim, text: "\(path)  \(NumberText.bytes(receipt.bytes))"))
    }
    if let backup = receipt.backupPath {
      lines += [
        Line(text: "backup  \(backup)"),
        Line(
          text:
            "roll back  b on 4 Migrate, or: strata rollback \(ShellText.quoted(receipt.storePath))"
        ),
      ]
    }
    if let folder = receipt.orphanFolder {
      lines.append(Line(text: "unreferenced files are now in  \(folder)"))
    }
    if !receipt.kinds.isEmpty {
      lines += [Line(), Line(role: .columnTitle, text: "repaired", numbers: ["changes"])]
      for kind in receipt.kinds {
        lines.append(
          Line(
            sign: "✓", role: .success, text: kind.name, numbers: [NumberText.grouped(kind.count)])
        )
        lines += kind.first.map { Line(role: .dim, text: "  " + $0.words) }
        if kind.count > kind.first.count {
          lines.append(Line(role: .dim, text: "  … w writes all of them to a file"))
        }
      }
    }
    if !receipt.verified.isEmpty {
      lines += [Line(), Line(role: .columnTitle, text: "verified", numbers: ["compared"])]
      lines += receipt.verified.map {
        Line(sign: "✓", role: .success, text: $0.what, numbers: [NumberText.grouped($0.count)])
      }
    }
    if !receipt.left.isEmpty {
      lines += [Line(), Line(role: .columnTitle, text: "what is left")]
      lines += receipt.left.map {
        Line(sign: $0.mark.sign, role: $0.mark.role, text: $0.sentence)
      }
    }
    if !receipt.notes.isEmpty { lines.append(Line()) }
    return lines + receipt.notes.map { Line(sign: "·", role: .dim, text: $0) }
  }
}

extension RepairChange {
  /// `Step/p5.recipe: Recipe/p88888 → nothing`
  package var words: String {
    let object = [entity, key.map { "p\($0)" }].compactMap { $0 }.joined(separator: "/")
    let place = [object, property ?? ""].filter { !$0.isEmpty }.joined(separator: ".")
    let values = "\(Self.short(old)) → \(Self.short(new))"
    return place.isEmpty ? values : place + ": " + values
  }

  private static func short(_ text: String?) -> String {
    guard let text else { return "nothing" }
    return text.count > 80 ? text.prefix(79) + "…" : text
  }
}
