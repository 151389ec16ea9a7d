import ManagedModel
import Rescue

/// What is wrong with a store, as doctor found it, and what can be had of it.
package struct StoreCondition: Sendable, Equatable {
  /// What was found, the gravest first; what was deleted comes before faults whose repair takes something from it.
  package var findings: [Finding]
  /// Whether anything can be read, if only by salvaging.
  package var isReadable: Bool
  /// Whether the objects were looked at, too.
  package var isComplete: Bool

  /// A condition of these findings.
  package init(findings: [Finding] = [], isReadable: Bool = true, isComplete: Bool = true) {
    (self.isReadable, self.isComplete) = (isReadable, isComplete)
    self.findings = findings
    if let deletions = findings.firstIndex(where: { $0.kind == .deletions }),
      let late = findings.firstIndex(where: { $0.isRepaired && $0.kind.takesFromDeletedObjects }),
      late < deletions
    {
      self.findings.insert(self.findings.remove(at: deletions), at: late)
    }
  }

  /// What shows that objects were deleted; `nil` where nothing does.
  var deletions: Finding? { findings.first { $0.kind == .deletions } }

  /// What doctor shows.
  package init(_ diagnosis: Diagnosis) {
    self.init(
      findings: diagnosis.findings, isReadable: diagnosis.isReadable,
      isComplete: diagnosis.isComplete)
  }

  /// Whether it is a store to which something happened, and not something else altogether.
  package var isOfStore: Bool { findings.contains { $0.severity == .error } }

  /// How many there are of each severity, in a line.
  var summary: String {
    let counts = Finding.Severity.allCases.compactMap { severity -> String? in
      let count = findings.count { $0.severity == severity }
      return count == 0 ? nil : NumberText.counted(count, severity.rawValue)
    }
    return counts.isEmpty ? "nothing" : counts.joined(separator: ", ")
  }
}

/// What of an entity's objects can be had.
package struct EntityHolding: Sendable, Equatable {
  /// Objects that are lost with their pages.
  package enum Loss: Sendable, Equatable {
    /// So many, or no more than so many.
    case atMost(Int)
    /// Some, and nobody knows how many.
    case unknown
  }

  /// Its name.
  package var entity: String
  /// Objects that can be read.
  package var live: Int
  /// Objects that can be read in part alone.
  package var damaged = 0
  /// Objects that are lost; `nil` where none is.
  package var lost: Loss?
  /// Keys that were given out and are in no row, of the hierarchy that the entity is at the top of.
  package var unused: Int?
  /// What of these was not found when somebody looked; `nil` where everything was.
  package var missed: Undeletion.Missed?
  /// Objects that were deleted and still stand in the file; `nil` if not looked for yet.
  package var deleted: Int?
  /// Older versions of objects; `nil` if not looked for yet.
  package var older: Int?

  /// An entity of which so many objects can be read.
  package init(entity: String, live: Int, lost: Loss? = nil) {
    (self.entity, self.live, self.lost) = (entity, live, lost)
  }

  /// Objects of it that are known to be lost, at most.
  fileprivate var told: Int { if case .atMost(let count)? = lost { count } else { 0 } }

  /// Adds to what is lost.
  package mutating func lose(_ count: Int?) {
    switch (lost, count) {
    case (_, nil), (.unknown?, _): lost = .unknown
    case (nil, let count?): lost = count > 0 ? .atMost(count) : nil
    case (.atMost(let sum)?, let count?):
      let (both, isTooMany) = sum.addingReportingOverflow(max(0, count))
      lost = isTooMany ? .unknown : .atMost(both)
    }
  }
}

extension [EntityHolding] {
  /// Of the entities of one hierarchy, where any may have lost objects: no more than its counter of keys
  /// leaves open.
  ///
  /// - Parameters:
  ///   - root: the entity at the top, which what is open goes to.
  ///   - open: how many keys were given out that no object has; `nil` where the counter is gone.
  package mutating func bound(root: String, to open: Int?) {
    for place in indices where open == nil || self[place].lost == .unknown {
      self[place].lost = open == nil ? .unknown : nil
    }
    guard let open, let place = firstIndex(where: { $0.entity == root }) ?? indices.first else {
      return
    }
    self[place].lose(Swift.max(0, open - reduce(0) { $0 + $1.told }))
  }
}
