import Files
import ManagedModel
import ManagedStore
import ModelSearch

/// What of a store's faults is to be mended, found by looking alone.
struct RepairPlan {
  /// The faults that are mended.
  let faults: [Finding]
  /// Every error and warning that was there before.
  let before: Diagnosis

  /// - Throws: ``CoreDataError`` of kind unreadable where only salvaging helps, of kind refused where a
  ///   model is needed and not there.
  init(
    of path: String, _ options: RepairOptions, isCancelled: @escaping () -> Bool
  ) throws {
    try options.check()
    before = try Diagnosis(
      of: path, model: options.model, modelName: options.modelName, isCancelled: isCancelled)
    // The -wal of the store as it is does not fit the repaired one.
    if let fault = before.findings.first(where: {
      $0.severity == .error && $0.kind.isBeyondRepair || $0.kind == .notDownloaded
    }) {
      throw CoreDataError(
        .unreadable, code: .persistentStoreOpen,
        "not repaired: \(fault.sentence.asClause) [\(fault.kind.rawValue)]", path: path,
        advice: fault.command.map { "What helps: \($0)" } ?? fault.advice)
    }
    if before.modelSource == nil, let refusal = before.refusal { throw refusal }
    guard before.isComplete else {
      let reason =
        before.findings.first { $0.kind == .unchecked }?.sentence
        ?? "The store could not be checked completely."
      throw CoreDataError(
        .unreadable, "not repaired: \(reason.asClause)", path: path,
        advice: "\(.deed("diagnosis"), of: [ShellText.quoted(path)]) shows what is wrong with it.")
    }
    if let fault = before.findings.first(where: { $0.kind == .versionHashes }) {
      throw CoreDataError(
        .refused, code: .persistentStoreIncompatibleVersionHash, fault.sentence.asClause,
        path: path, advice: "Give the model that made the store with \(.model), or leave it out.")
    }
    if options.names(.tableMissing), !options.isForced,
      let fault = before.findings.first(where: {
        $0.kind == .tableMissing && ![.repair, .repairByModel].contains($0.remedy)
      })
    {
      let place = StorePlace(path: path, model: options.modelName)
      let recovery: Advice =
        fault.remedy.command(for: fault.kind, place).map { "What may recover its rows: \($0). " }
        ?? ""
      throw CoreDataError(
        .refused, code: .persistentStoreIncompatibleSchema,
        "not repaired: \(fault.sentence.asClause)", path: path,
        advice: "\(recovery)To create it empty, use \(.force).")
    }
    let isRaw = before.modelSource == .raw
    let mended = before.findings.filter { finding in
      options.mends(finding.kind) && finding.isMendable
        && (options.names(finding.kind) || !finding.isLeftUnasked)
    }
    // What is made of a model needs one; the rest does not wait for it.
    faults = mended.filter { !isRaw || !$0.kind.asksForModel || options.names($0.kind) }
    if isRaw { try requireModel(for: faults.isEmpty ? mended : faults, path) }
  }

  /// The kinds that are mended.
  var kinds: Set<FindingKind> { Set(faults.map(\.kind)) }

  private func requireModel(for faults: [Finding], _ path: String) throws {
    guard let fault = faults.first(where: { $0.kind.asksForModel }) else { return }
    throw CoreDataError(
      .refused,
      "not repaired: \(fault.sentence.asClause), and there is no model to rebuild it from",
      path: path, advice: "Give the model that made the store with \(.model).")
  }
}

extension Finding {
  /// Whether nothing is wrong with what it says, and a repair would change rows all the same: one-to-ones
  /// as Core Data's own migrations leave them, and a store of a framework that kept no model in it.
  fileprivate var isLeftUnasked: Bool {
    severity == .note && ![.externalOrphaned, .indexMissing, .joinNull].contains(kind)
  }

  /// Whether it is one of the faults of its kind that can be mended.
  fileprivate var isMendable: Bool {
    // An object of an abstract entity could be of any of those below it.
    !(kind == .entityUnknown && severity == .warning)
  }
}

extension String {
  /// A sentence as a part of another.
  var asClause: String {
    guard let first else { return "" }
    // Names of Core Data's tables begin as they do.
    let isName = dropFirst().first.map { $0.isUppercase || $0 == "_" } ?? false
    let text = (isName ? String(first) : first.lowercased()) + dropFirst()
    return text.hasSuffix(".") ? String(text.dropLast()) : text
  }
}
