import AtomicStores
import ManagedModel
import Migration

extension StoreMigration {
  /// Carries a plan out, and has the result read by the second reader as well, where python3 is.
  ///
  /// What migrates and what verifies share one schema: a name that both have wrong is found here.
  ///
  /// - Throws: what the run throws; ``SecondReaderError`` where the readers disagree.
  @discardableResult
  public static func runAndRead(
    _ plan: MigrationPlan, options: MigrationOptions = MigrationOptions(),
    isCancelled: @escaping () -> Bool = { false },
    progress: @escaping (MigrationProgress) -> Void = { _ in }
  ) throws -> MigrationReceipt {
    let receipt = try run(
      plan, options: options, progress: progress, isCancelled: isCancelled)
    try SecondReader.expectAgreement(at: receipt.resultPath)
    return receipt
  }
}

extension SecondReader {
  /// Reads the store at a path with both readers, where python3 is.
  ///
  /// - Throws: ``SecondReaderError`` where they do not agree.
  public static func expectAgreement(at path: String) throws {
    guard isAvailable else { return }
    let found = try disagreements(at: path)
    guard found.isEmpty else {
      throw SecondReaderError.message(
        "\(found.count) disagreements about \(path):\n" + found.prefix(10).joined(separator: "\n"))
    }
  }

  /// Reads an XML or binary store with strata, which makes a private store of it, and has the second reader compare the
  /// two, where python3 is.
  ///
  /// - Throws: ``SecondReaderError`` where they are not equal; what reading throws.
  public static func expectAgreement(onAtomic path: String, model: Model) throws {
    guard isAvailable else { return }
    let copy = try AtomicCopy(of: path, model: model)
    try expectAgreement(at: copy.path)
    try expectEqual(atomic: path, copy.path)
  }

  /// Has the second reader compare an XML or binary store with one that was made of it, where python3 is.
  ///
  /// - Throws: ``SecondReaderError`` where they are not equal.
  public static func expectEqual(atomic path: String, _ made: String) throws {
    guard isAvailable else { return }
    let found = try differences(ofAtomic: path, from: made)
    guard found.isEmpty else {
      throw SecondReaderError.message(
        "\(found.count) differences of \(made) from \(path):\n"
          + found.prefix(10).joined(separator: "\n"))
    }
  }
}
