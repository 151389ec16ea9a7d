import Migration
import Rescue

/// What screen 5 does about a store: each kind has its bar, its log and its report.
package enum RescueWork: Sendable, Equatable {
  /// A new store of everything that can still be read.
  case salvage(SalvageOrder)
  /// A look for deleted objects and older versions; Browse shows them then, if it was asked to.
  case search(thenShow: Bool)

  /// What runs, in a word.
  var noun: String {
    switch self {
    case .salvage: "salvage"
    case .search: "search"
    }
  }

  /// What runs, for sentences.
  var name: String {
    switch self {
    case .search: "the search for deleted objects"
    default: "the " + noun
    }
  }

  /// What it does, for the head of its bar.
  func title(_ store: String) -> String {
    switch self {
    case .salvage(let order): "salvaging into \(order.output)"
    case .search: "looking for deleted objects in \(store)"
    }
  }

  /// What stopping it leaves.
  var left: String {
    switch self {
    case .salvage: "nothing was left of the new store"
    case .search: "the store was only read"
    }
  }

  /// What can be said while it runs.
  var foot: String {
    switch self {
    case .salvage: "the damaged store is only read; ^C stops and leaves nothing of the new one"
    case .search: "the store is only read; ^C stops"
    }
  }

  /// Whether something else takes the store's place.
  var changesStore: Bool { false }
}

/// What a person asks of a salvage.
package struct SalvageOrder: Sendable, Equatable {
  /// Where the new store is to be.
  package var output: String
  /// Path of the model that made the store, where the store itself no longer has it.
  package var model: String?

  /// A salvage into a new file.
  package init(output: String, model: String? = nil) {
    self.output = output
    self.model = model
  }
}

/// How far a rescue is: a complete picture each time.
package enum RescueProgress: Sendable, Equatable {
  /// One thing is done: what, how much of it from 0 to 1, and seconds since it began.
  case single(String, Double, elapsed: Double)
  /// Several, as a migration does them.
  case parts(MigrationProgress)

  /// Part of the whole that is done, 0…1.
  var fraction: Double {
    switch self {
    case .single(_, let fraction, _): fraction
    case .parts(let progress): progress.fraction
    }
  }
}

/// What a rescue did.
package enum RescueReceipt: Sendable, Equatable {
  /// What was saved of a damaged store.
  case salvaged(SalvageReport, seconds: Double)

  /// The file that was made.
  var output: String {
    switch self {
    case .salvaged(let report, _): report.outputPath
    }
  }
}

/// A receipt that can be written to a file.
package enum WrittenReceipt: Sendable, Equatable {
  /// Of a migration, or of a rehearsal.
  case migration(MigrationReceipt)
  /// Of a rescue.
  case rescue(RescueReceipt)
}
