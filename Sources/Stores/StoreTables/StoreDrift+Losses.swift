extension StoreDrift {
  /// What an app may have lost with tables and columns that the model asks for and that are not there, a sentence
  /// each; what never held anything is left out.
  public var losses: [String] {
    var lost = self.missing
    lost.missingTables.removeAll(where: \.isUnused)
    lost.joins.removeAll(where: \.isUnused)
    return lost.sentences
  }

  /// The same drift with nothing but what is missing.
  private var missing: StoreDrift {
    var missing = StoreDrift()
    (missing.missingTables, missing.missingColumns) = (missingTables, missingColumns)
    missing.joins = joins.filter { $0.found == nil }
    return missing
  }

  /// What is missing first, as a clause; `nil` where nothing is.
  ///
  /// - Parameter isUnused: whether tables count that never held anything.
  package func firstMissing(evenIfUnused isUnused: Bool) -> String? {
    guard let sentence = isUnused ? missing.sentences.first : losses.first else { return nil }
    return sentence.prefix(1).lowercased() + sentence.dropFirst().dropLast()
  }
}
