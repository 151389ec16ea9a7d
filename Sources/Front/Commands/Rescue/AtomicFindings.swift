import AtomicStores
import Rescue

extension Diagnosis {
  /// Takes in what is wrong with the XML or binary store that a private copy was made of; what is so only in the copy
  /// is left out.
  ///
  /// - Parameter path: where the copy is; any other store has nothing to take.
  /// - Returns: whether it is such a copy.
  @discardableResult
  package mutating func takeAtomicStore(at path: String, modelName: String?) -> Bool {
    guard let origin = AtomicCopy.origin(ofCopyAt: path) else { return false }
    // It has no -wal, and its keys are given out over all entities, with nothing left of those that are gone.
    remove([.walMissing, .deletions])
    // The file has no model. That one was made of its objects is said when it is opened, and is no fault.
    if !origin.source.isGiven { remove([.modelCache]) }
    for fault in origin.faults {
      add(fault.kind.finding, fault.sentence, count: fault.count, modelName: modelName)
    }
    return true
  }
}

extension AtomicFault.Kind {
  /// The kind of finding that it is.
  fileprivate var finding: FindingKind {
    switch self {
    case .damage: .atomicDamage
    case .metadata: .atomicMetadata
    case .classes: .atomicClasses
    case .ids: .atomicIDs
    case .links: .atomicLinks
    case .values: .atomicValues
    }
  }
}
