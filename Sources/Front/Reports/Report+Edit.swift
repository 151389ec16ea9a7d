import Editing
import ManagedModel
import Migration

extension Report {
  /// What an edit changed, or what it would.
  package init(_ receipt: EditReceipt) {
    let notes = Section([Line](notes: receipt.notes))
    guard !receipt.isNothing else {
      self.init([Section([Line("nothing to do: the store already has these values")]), notes])
      return
    }
    let isDone = receipt.resultPath != nil
    var head = [
      Line(
        isDone ? .success : .none,
        "\(NumberText.counted(receipt.changed, "object")) changed, \(NumberText.grouped(receipt.deleted)) deleted in \(NumberText.seconds(receipt.seconds)), \(NumberText.seconds(receipt.verificationSeconds)) of them to verify"
      )
    ]
    if let result = receipt.resultPath {
      head.append(Line("\(result), \(NumberText.bytes(receipt.bytes))", as: .detail))
      head += Self.sum("result", receipt.checksums.result)
      head += Self.backup(receipt.backupPath, sum: receipt.checksums.backup, of: receipt.storePath)
    }
    if !isDone {
      head += [
        Line(.note, "\(receipt.roomSentence)"),
        Line("nothing was changed: this was a dry run"),
      ]
    }
    if let transaction = receipt.transaction {
      head.append(
        Line(.note, "history: transaction \(transaction.description) of the author strata"))
    }
    if let mirrored = receipt.mirrored { head.append(Line(.warning, "\(mirrored.sentence)")) }
    self.init([
      Section(head),
      Section(
        "objects", columns: ["changed", "deleted"],
        receipt.entities.map {
          Line(
            "\($0.entity)",
            numbers: [NumberText.grouped($0.changed), NumberText.grouped($0.deleted)])
        }), Self.compared("verified", receipt.verified), notes,
    ])
  }
}

extension EditReceipt {
  /// The room that it takes and that there is, as a sentence.
  package var roomSentence: String {
    let room = bytesFree.map { ", and \(NumberText.bytes($0)) are free" } ?? ""
    return "It takes about \(NumberText.bytes(bytesNeeded)) beside the store\(room)."
  }
}
