import ManagedStore
import Migration

extension CloudKitState.Event {
  /// What came of the run, in words: of an error its number, its name and what it means.
  package var outcome: String {
    guard !succeeded, let error else {
      return succeeded ? "succeeded" : end == nil ? "did not end: running, or cut off" : "failed"
    }
    guard let meaning else { return "failed: \(error)" }
    // Other words follow the sentence.
    let words = meaning.meaning.hasSuffix(".") ? meaning.meaning.dropLast() : meaning.meaning[...]
    return "failed: \(error)" + (meaning.name.map { " (\($0))" } ?? "") + ": \(words)"
  }

  /// The mark of what came of the run.
  package var sign: String { succeeded ? "✓" : end == nil ? "…" : "✗" }
}

extension CloudObjectState {
  /// The state as the head of a column or behind a number.
  package var label: String {
    switch self {
    case .synced: "synced"
    case .pendingUpload: "to upload"
    case .pendingDelete: "to delete"
    case .neverExported: "never exported"
    case .unanalysed: "not analysed"
    }
  }
}

extension CloudObject {
  /// What the mirroring knows of it in a line.
  package var line: String { parts.joined(separator: " · ") }

  /// What the mirroring knows of it: its state, the record's name, and what is odd.
  package var parts: [String] {
    var parts = [
      isUncertain
        ? "has changes that may not be analysed yet: the history token cannot be read"
        : state.words,
      record.map { "record \($0)" }
        ?? (hasRecord ? "its record has no name: it waits for its first export" : "no record"),
    ]
    if let zone { parts.append("zone \(zone)") }
    if !exists { parts.append("the object is not in the store") }
    if isToBeDeletedHere { parts.append("was deleted in iCloud, still to be deleted here") }
    return parts
  }
}
