extension Finding {
  /// Whether a repair needs an entity to be named for it.
  package var asksForEntity: Bool { remedy == .repairByEntity }
}

/// What a repair does about each kind of fault.
extension FindingKind {
  /// How far a repair can use itself.
  package enum Repair: Sendable, Equatable {
    /// It does not mend such a fault.
    case none
    /// It can be put right without guessing at the user's data.
    case certain
    /// There is a choice in it: done only where it is asked for by name.
    case choice
  }

  /// How far a repair can go about the kind.
  package var repair: Repair {
    switch self {
    case .indexWrong, .freelist, .pointerMap, .metadata, .modelCache, .primaryKey, .entityNumbers,
      .entityUnknown, .joinName, .indexMissing, .triggers, .history, .historyColumns,
      .toOneDangling, .joinDangling, .joinNull, .oneToOne, .order, .externalOrphaned:
      .certain
    case .uniqueness, .externalMissing, .tableMissing: .choice
    default: .none
    }
  }

  /// The kinds that a repair mends, in the order in which they are listed.
  package static var repaired: [FindingKind] { allCases.filter { $0.repair != .none } }

  /// Whether SQLite reads such a store with all its rows, so that there is something to be repaired.
  var isBeyondRepair: Bool {
    switch self {
    case .walUnreadable, .journalHot, .journalUnreadable: true
    default: isOfFile || losesPages || losesFrames || losesJournal
    }
  }

  /// Whether it is rebuilt from the model.
  var asksForModel: Bool { self == .metadata || self == .modelCache || self == .tableMissing }

  /// Whether the file has to be rewritten for it.
  var asksForNewFile: Bool { self == .freelist || self == .pointerMap }
}
