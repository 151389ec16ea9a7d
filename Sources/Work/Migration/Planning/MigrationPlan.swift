import ManagedModel
import ManagedStore
import Mapping

/// Everything a migration would do to one store, found out without writing a byte.
public struct MigrationPlan: Sendable, Equatable {
  /// How the result comes about.
  public enum Strategy: String, Sendable {
    /// A clone of the store is altered by SQL.
    case inPlace = "in-place"
    /// Objects are copied into a new file.
    case copy
  }

  /// Path of the store the plan was made for.
  public var storePath: String
  /// The steps from version to version, one after the other.
  public var steps: [MigrationStep]
  /// What would be lost; running is refused until each loss is allowed.
  public var losses: [Loss]
  /// What the destination would not accept; running is refused while any is no mere warning.
  public var checks: [DataCheck]
  /// Where the result is to go; `nil`: in the place of the store.
  package var output: String?
  /// Size of the store with its -wal, in bytes.
  public var storeBytes: Int
  /// Bytes that must be free beside the store (or beside the output) while it runs.
  public var bytesNeeded: Int
  /// Bytes that are free there; `nil` where the system does not say.
  public var bytesFree: Int?
  /// Seconds that running it may take: a rough guess from the store's size, on the safe side.
  public var secondsEstimated: Double = 0
  /// What keeps a result from being put where it is to be, as things are now: a program that uses the
  /// store, a folder that may not be written.
  package var hindrances: [CoreDataError] = []
  /// Remarks that are neither losses nor failures: rules that were assumed, pending uploads.
  public var notes: [String]
  /// The destination model's own archive where it came as one: it goes into the store as it is.
  public var destinationArchive: [UInt8]?
  /// The destination model with the entities of all configurations, where the store is of one.
  package var wholeDestination: Model?
  /// Swift policies for the classes that the mappings name.
  public var policies = PolicyBindings()

  /// How the result comes about: by copying where one of the steps does.
  public var strategy: Strategy { steps.contains { $0.strategy == .copy } ? .copy : .inPlace }

  /// Whether the store is of the destination model already.
  public var isNothingToDo: Bool { steps.allSatisfy { $0.mapping.kind == .none } }

  /// Whether a stage's code runs before the step's data are looked at.
  func isEdited(before index: Int) -> Bool {
    steps[...index].contains { $0.handlers?.willMigrate != nil }
      || steps[..<index].contains { $0.handlers?.didMigrate != nil }
  }

  /// Checks that keep the plan from being run.
  public var failures: [DataCheck] { checks.filter { !$0.isWarning } }

  /// Whether ``StoreMigration/run(_:options:progress:isCancelled:)`` has something to do and takes the
  /// plan: no check fails, no loss is left that is not allowed, and there is space.
  ///
  /// - Parameter allowed: as ``MigrationOptions/allowedLosses`` has them.
  public func canRun(allowing allowed: Set<String>) -> Bool {
    !isNothingToDo && isAcceptable(allowing: allowed)
  }

  /// The same where no loss is allowed.
  public var canRun: Bool { canRun(allowing: []) }

  /// Whether nothing stands in the way of the plan, be there something to do or not.
  package func isAcceptable(allowing allowed: Set<String>) -> Bool {
    failures.isEmpty && unallowedLosses(allowed).isEmpty && obstacles.isEmpty
  }

  /// What has nothing to do with models and data, and would end a run all the same: too little space, a
  /// program that uses the store, a folder that may not be written. As things were when the plan was made.
  public var obstacles: [CoreDataError] {
    guard !isNothingToDo else { return [] }
    var replacement = StoreReplacement(.migration, of: storePath)
    replacement.output = output
    do {
      try replacement.refuseSpace(needed: bytesNeeded, free: bytesFree)
      return hindrances
    } catch {
      return hindrances + [error]
    }
  }

  /// What is wrong with the store where there is nothing to do, as sentences.
  public func faults(allowing allowed: Set<String>) -> [String] {
    unallowedLosses(allowed).compactMap(\.suggestion)
      + failures.map { check in
        [check.entity, check.property].compactMap { $0 }.joined(separator: ".") + ": "
          + check.summary
      }
  }

  /// Losses that the given allowances leave.
  public func unallowedLosses(_ allowed: Set<String>) -> [Loss] {
    losses.filter { !$0.isAllowed(by: allowed) }
  }
}

/// One object of a mapping, before and after.
public struct MappingPreview: Sendable, Equatable {
  /// A property with its value as text.
  public struct Property: Sendable, Equatable {
    /// Name of the property.
    public var name: String
    /// Its value, as text.
    public var value: String
  }

  /// Name of the entity mapping.
  public var mapping: String
  /// The source object; `nil` where the result is made of several.
  public var source: ObjectID?
  /// The entity that it becomes.
  public var destination: String
  /// What the mapping reads of it.
  public var before: [Property]
  /// What becomes of it.
  public var after: [Property]
  /// Names of the source's properties that expressions, conditions and new objects are computed from; the others
  /// are copied.
  public var computedFrom: Set<String> = []
}

/// Values or objects of this store that a migration would drop.
public struct Loss: Sendable, Equatable {
  /// Name of the source entity: the one that declares the property, or whose objects go.
  public var entity: String
  /// `nil` when whole objects go; an element of a composite attribute by its path.
  public var property: String?
  /// Values, links or objects that would go; never 0.
  public var values: Int
  /// The first of them, as text.
  public var samples: [String] = []
  /// What was probably meant: a renaming identifier that is missing.
  public var suggestion: String?
  /// Whether a recipe says so itself: such a loss needs no further leave.
  public var isIntended = false
  /// Whether what goes are frames of the -wal that are not in the store: rows nobody can read.
  public var isOfLog = false
  /// Whether what goes are pages of a -journal under another name: objects as they were before a save that
  /// the store may hold half of.
  public var isOfJournal = false
  /// What of a number does not fit its attribute's new type: the store keeps it as it is, and Core Data
  /// cuts it off whenever it reads it. `nil` where whole values or objects go.
  public var misfit: NumberMisfit?

  /// What frames of the -wal are allowed by.
  package static let logName = "wal"
  /// What pages of a -journal are allowed by.
  package static let journalName = "journal"
  /// Whether what goes stands in a file beside the store.
  package var isOfFile: Bool { isOfLog || isOfJournal }

  /// What is counted, of one.
  package var singular: String {
    isOfLog ? "frame" : isOfJournal ? "page" : property == nil ? "object" : "value"
  }

  /// What is counted: objects, values, frames of the -wal, or pages of the -journal.
  public var noun: String {
    (values == 1 ? singular : singular + "s")
      + (isOfLog ? " of the -wal" : isOfJournal ? " of the -journal" : "")
      + (misfit.map { " " + $0.clause } ?? "")
  }

  /// Whether both are of one thing, so that their values add up.
  func isSame(as other: Loss) -> Bool { name == other.name && misfit == other.misfit }

  /// What `--allow-loss` takes: `Entity`, `Entity.property` or `Entity.composite.element`, `wal` for
  /// frames that are not applied, and `journal` for pages that are not restored.
  public var name: String { property.map { "\(entity).\($0)" } ?? entity }

  /// A whole entity's name allows the loss of its properties too, a composite attribute's that of its
  /// elements.
  public func isAllowed(by allowed: Set<String>) -> Bool {
    isIntended || allowances.contains(where: allowed.contains)
  }

  /// All names that allow it, its own first.
  package var allowances: [String] {
    let paths = property.map { sequence(first: $0, next: ElementPath.composite) }
    return (paths?.map { "\(entity).\($0)" } ?? []) + [entity]
  }
}

/// A rule of the destination model that this store's data would break.
public struct DataCheck: Sendable, Equatable {
  /// Core Data's code: 134110 or 134111; of a warning, the one that a save would meet (1550–1690),
  /// or 134110.
  public var code: CoreDataError.Code
  /// Name of the destination entity.
  public var entity: String
  /// Name of the property, or names of a constraint's properties; `nil` for the entity itself.
  public var property: String?
  /// Objects that break the rule; 0 where the tables themselves do.
  public var rows: Int
  /// The first few of those objects, as they are called in the source.
  public var first: [ObjectID] = []
  /// What is wrong, as a clause.
  public var message: String
  /// What to do about it, as a sentence.
  public var hint: String
  /// Whether the migration runs all the same: Core Data does not look for it while it migrates, but
  /// these objects are not in order, or will fail to save.
  public var isWarning = false
  /// NSPredicate text that takes exactly those objects among those of the source's entity; `nil`
  /// where none is known.
  public var predicate: String?

  /// Whether a value is missing that a recipe, or an edit of the mapping, can compute.
  package var lacksValue: Bool { code == .migration && property != nil }

  /// The hint with what it names kept apart; `nil` where it names nothing.
  package var advice: Advice?

  /// What is asked of each row, in SQL: one rule asks the same of the rows of every subentity.
  var asked: [String] = []

  /// Whether it is one rule that both break.
  func asks(as other: DataCheck) -> Bool {
    code == other.code && isWarning == other.isWarning && asked == other.asked
  }

  /// What refuses a migration for it.
  ///
  /// - Parameter time: when the rows were looked at, where it was not before the run.
  func refusal(_ time: String = "", path: String? = nil, advice: Advice) -> CoreDataError {
    let first = first.map(\.description).joined(separator: ", ")
    return CoreDataError(
      .refused, code: code,
      message + (rows == 0 ? "" : ", in \(rows) rows\(time)")
        + (first.isEmpty ? "" : " (first: \(first))"),
      path: path, entity: entity, property: property, advice: advice)
  }

  /// What is wrong, in how many rows, and Core Data's code: one line for a person.
  public var summary: String {
    message + (rows == 0 ? "" : ", in " + NumberText.counted(rows, "row")) + " (\(code))"
  }
}

extension Loss {
  /// NSPredicate text that takes the objects of the source's entity whose value would be lost; `nil`
  /// where all of them would.
  package func predicate(in source: Model) -> String? {
    guard let property else { return nil }
    let name = PredicateText.name(property)
    let isToMany = source.relationship(named: property, of: entity)?.isToMany ?? false
    return isToMany ? "\(name).@count > 0" : "\(name) != nil"
  }
}

extension MigrationPlan {
  /// A guess at how long a migration takes, from what it must read and write.
  ///
  /// Measured once, on two cores and a solid disk: 360,000 rows in 112 MB took 3.1 seconds, half of
  /// them for comparing every value afterwards. These rates give 5.8.
  static func secondsEstimated(bytes: Int, rows: Int) -> Double {
    Double(max(0, bytes)) / bytesPerSecond + Double(max(0, rows)) / rowsPerSecond
  }

  private static let bytesPerSecond = 40e6
  private static let rowsPerSecond = 120e3
}

/// One pair of versions on the path from the store's own to the destination.
public struct MigrationStep: Sendable, Equatable {
  /// Name of the version the step begins at, else the store's file name or a model's path.
  public var from: String
  /// Name of the version the step leads to.
  public var to: String
  /// The model the store has before the step.
  public var source: Model
  /// The model it has afterwards.
  public var destination: Model
  /// What becomes of each entity.
  public var mapping: MappingModel
  /// Objects that each entity mapping takes, by the mapping's name; known when it is planned.
  public var rows: [String: Int]
  /// How the step is carried out.
  public var strategy: MigrationPlan.Strategy = .inPlace
  /// First objects of the mappings that compute something, before and after.
  public var previews: [MappingPreview] = []
  /// Code of a custom stage that runs before and after the step.
  var handlers: StageHandlers?
  /// The label of the stage that the step is of.
  var stage: String?

  /// Makes a step that is not planned yet.
  public init(
    from: String, to: String, source: Model, destination: Model, mapping: MappingModel,
    rows: [String: Int] = [:]
  ) {
    self.from = from
    self.to = to
    self.source = source
    self.destination = destination
    self.mapping = mapping.indexed
    self.rows = rows
  }
}

/// What can be said of a plan at once: by which steps it goes, and how many objects there are.
///
/// What would be lost, and what the destination would not accept, takes a look at every row.
public struct PlanOutline: Sendable, Equatable {
  /// The steps; the ``MigrationStep/rows`` of each have the mappings whose objects are counted so far.
  public private(set) var steps: [MigrationStep]

  /// Whether the objects of all mappings are counted.
  package var isCounted: Bool {
    steps.allSatisfy { step in
      step.mapping.entityMappings.allSatisfy { step.rows[$0.name] != nil }
    }
  }

  init(_ steps: [MigrationStep]) { self.steps = steps }

  /// With the objects that each mapping takes, as far as these show.
  ///
  /// - Parameter counts: objects of exactly each entity of the version that the first step begins at.
  func counted(_ counts: [String: Int], _ policies: PolicyBindings) -> PlanOutline {
    var outline = self
    var known = counts
    for (index, step) in steps.enumerated() where step.mapping.kind != .none {
      var next: [String: Int?] = [:]
      for mapping in step.mapping.entityMappings {
        let rows = mapping.source == nil ? 0 : mapping.source.flatMap { known[$0] }
        outline.steps[index].rows[mapping.name] = rows
        guard let destination = mapping.destination else { continue }
        next[destination] = .some(
          rows.flatMap { rows in next[destination, default: 0].map { $0 + rows } })
      }
      // What comes of a mapping with conditions is known by carrying it out.
      guard step.isInferredOnly(policies) else { break }
      known = next.compactMapValues { $0 }
    }
    return outline
  }

  /// Reports what is known of a plan, and then what is counted in no time.
  static func tell(_ plan: MigrationPlan, of store: Store, to report: (PlanOutline) -> Void) {
    let outline = PlanOutline(plan.steps)
    report(outline)
    store.earlyCounts { report(outline.counted($0, plan.policies)) }
  }
}
