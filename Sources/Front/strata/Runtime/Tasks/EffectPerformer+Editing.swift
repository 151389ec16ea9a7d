import Editing
import Interface
import Migration

/// What writes prepared changes.
extension EffectPerformer {
  /// Makes the changes on a private copy.
  func checked(_ order: EditOrder, _ id: TaskID) async throws -> EditCheck {
    try await Self.onQueue("strata.edit.check") { [path, source, mailbox] in
      // A program that has the store open will have it open when the question is answered.
      try StoreReplacement(.edit, of: path).refuseHindered()
      var options = StoreEditing.Options()
      options.isRehearsal = true
      var objects = CheckedObjects(of: order.edit)
      let receipt = try StoreEditing.run(
        source.open(), order.edit, options: options, isCancelled: { Task.isCancelled },
        progress: { mailbox.post(.answer(id, .progress($0))) },
        report: { objects.add($0) })
      return EditCheck(receipt: receipt, objects: objects)
    }
  }

  /// Makes them on a copy that takes the store's place, with our own readers out of the way.
  func edited(_ order: EditOrder, _ id: TaskID) async throws -> EditReceipt {
    let hold = ReaderHold([pages, surveys])
    defer { hold.end() }
    return try await Self.onQueue("strata.edit") { [source, mailbox, following] in
      var options = StoreEditing.Options()
      options.rehearsed = order.rehearsed
      options.confirmsDeletions = { $0.deletions == order.confirmedDeletions }
      options.confirmation = { _ in
        following.stop()
        hold.begin()
        return true
      }
      return try StoreEditing.run(
        source.open(), order.edit, options: options, isCancelled: { Task.isCancelled },
        progress: { mailbox.post(.answer(id, .rescuing(.parts($0)))) })
    }
  }
}
