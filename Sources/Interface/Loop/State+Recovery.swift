import Migration

/// What an interrupted run left beside the store: a person is asked before anything is done about it.
extension State {
  /// Takes what was found when the store was opened.
  mutating func take(_ found: StoreLeftovers) -> [Effect] {
    guard let first = found.sentences.first else { return [] }
    guard found.isRecoverable, recoveryTask == nil, work == nil, found != askedLeftovers else {
      notice = Notice(first, .warning)
      return []
    }
    askedLeftovers = found
    // Below what is open already, whose text could else hold an answer.
    let above = layers
    layers = []
    let effects = confirm(.recover(found))
    layers += above
    return effects
  }

  /// Has that put right; a person said so.
  mutating func recover() -> [Effect] {
    guard recoveryTask == nil else { return [] }
    return working(as: .state) { state in
      let task = state.tasks.new()
      state.recoveryTask = task
      return [.recover(task)]
    }
  }

  /// The question was answered with no.
  mutating func declineRecovery() {
    notice = Notice(
      "nothing was changed; the next migrate, repair, reset or rollback does it", .warning)
  }

  /// It is done: the store may be another file now, or one that opens.
  mutating func takeRecovered(_ sentences: [String]) -> [Effect] {
    notice = Notice(sentences.first ?? "nothing was left to recover", .warning)
    return reopen()
  }
}
