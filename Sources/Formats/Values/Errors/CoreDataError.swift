/// What went wrong with a model, a store or a migration, worded for a person.
///
/// One type serves the whole engine, so that a caller, the command line and the interface can show
/// any failure the same way: what happened, to which file, entity and property, and what to try.
public struct CoreDataError: Error, Sendable, Equatable {
  /// What the failure means for the person who asked.
  public enum Kind: String, Sendable {
    /// The request itself makes no sense (an unknown entity, two contradicting options).
    case usage
    /// A file is missing, damaged, locked or not what it was taken for.
    case unreadable
    /// The store does not belong to the model.
    case incompatible
    /// Going on would lose values, or break a rule of the destination model.
    case refused
    /// A migration began and could not finish; the store is as it was.
    case failed
    /// The person asked to stop; the store is as it was.
    case cancelled
  }

  /// What the failure means for the person who asked.
  public var kind: Kind
  /// The NSCocoaErrorDomain code Core Data would report, where it has one (134000 and up).
  public var code: Code?
  /// What happened, as a clause without a capital letter or a full stop.
  public var message: String
  /// What is wrong, where the message says first what could not be done for it.
  public var reason: String?
  /// Whether the store is not what it was when it was looked at, so that looking again may help.
  public var isStale = false
  /// The file it happened to.
  public var path: String?
  /// The entity it is about.
  public var entity: String?
  /// The property it is about; with an entity, one of that entity's.
  public var property: String?
  /// What to try; the values of a request that would help are kept apart in it.
  public var advice: Advice?
  /// The words that are wrong, where the failure is one of a text that a person wrote.
  public var mark: TextMark?

  /// Makes an error; give whatever of code, file, entity, property and hint is known.
  public init(
    _ kind: Kind, code: Code? = nil, _ message: String, path: String? = nil, entity: String? = nil,
    property: String? = nil, hint: String? = nil, mark: TextMark? = nil, reason: String? = nil
  ) {
    self.init(
      kind, code: code, message, path: path, entity: entity, property: property,
      advice: hint.map { Advice(stringLiteral: $0) }, mark: mark, reason: reason)
  }

  /// Makes an error whose advice names values.
  public init(
    _ kind: Kind, code: Code? = nil, _ message: String, path: String? = nil, entity: String? = nil,
    property: String? = nil, advice: Advice?, mark: TextMark? = nil, reason: String? = nil
  ) {
    self.kind = kind
    self.code = code
    self.message = message
    self.path = path
    self.entity = entity
    self.property = property
    self.advice = advice
    self.mark = mark
    self.reason = reason
  }

  /// Any failure as one of these: of a given kind, with its description, where it is none.
  package init(_ error: any Error, or kind: Kind) {
    self = error as? CoreDataError ?? CoreDataError(kind, "\(error)")
  }

  /// What to try, as a sentence.
  public var hint: String? {
    get { advice?.text }
    set { advice = newValue.map { Advice(stringLiteral: $0) } }
  }

  /// The same failure, with the file it happened to where none was known below.
  public func at(path: String) -> CoreDataError {
    var copy = self
    copy.path = copy.path ?? path
    return copy
  }

  /// The same failure of a private copy, as one of the file that was copied: in its path, and in the commands
  /// to try.
  package func at(path: String, insteadOf copy: String) -> CoreDataError {
    var error = self
    if error.path == copy { error.path = path }
    error.advice = error.advice?.replacing(ShellText.quoted(copy), with: ShellText.quoted(path))
    return error
  }
}

extension CoreDataError: CustomStringConvertible {
  /// One line: what happened, then the file, entity and property, then Core Data's code.
  public var description: String {
    var places: [String] = []
    if let path { places.append(path) }
    switch (entity, property) {
    case (let entity?, let property?): places.append("\(entity).\(property)")
    case (let entity?, nil): places.append(entity)
    case (nil, let property?): places.append(property)
    case (nil, nil): break
    }
    var line = message
    if !places.isEmpty { line += ": " + places.joined(separator: ", ") }
    if let code { line += " (\(code))" }
    return line
  }
}

extension Error {
  /// What happened, as a clause.
  package var clause: String { CoreDataError(self, or: .failed).message }
}

extension CoreDataError {
  /// A code of NSCocoaErrorDomain as Core Data reports it, named after NSCoreDataErrors:
  /// `.migration` is NSMigrationError.
  public struct Code: RawRepresentable, Sendable, Hashable, ExpressibleByIntegerLiteral,
    CustomStringConvertible
  {
    /// The number.
    public let rawValue: Int

    /// Any number: Core Data has more codes than strata reports.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Any number: Core Data has more codes than strata reports.
    public init(integerLiteral value: Int) { rawValue = value }

    /// The number, for people.
    public var description: String { String(rawValue) }

    /// NSValidationMissingMandatoryPropertyError.
    public static let validationMissingMandatoryProperty: Code = 1570
    /// NSValidationRelationshipLacksMinimumCountError.
    public static let validationRelationshipLacksMinimumCount: Code = 1580
    /// NSValidationRelationshipExceedsMaximumCountError.
    public static let validationRelationshipExceedsMaximumCount: Code = 1590
    /// NSValidationRelationshipDeniedDeleteError.
    public static let validationRelationshipDeniedDelete: Code = 1600
    /// NSValidationNumberTooLargeError.
    public static let validationNumberTooLarge: Code = 1610
    /// NSValidationNumberTooSmallError.
    public static let validationNumberTooSmall: Code = 1620
    /// NSValidationDateTooLateError.
    public static let validationDateTooLate: Code = 1630
    /// NSValidationDateTooSoonError.
    public static let validationDateTooSoon: Code = 1640
    /// NSValidationStringTooLongError.
    public static let validationStringTooLong: Code = 1660
    /// NSValidationStringTooShortError.
    public static let validationStringTooShort: Code = 1670
    /// NSValidationStringPatternMatchingError.
    public static let validationStringPatternMatching: Code = 1680
    /// NSManagedObjectReferentialIntegrityError.
    public static let managedObjectReferentialIntegrity: Code = 133000
    /// NSPersistentStoreInvalidTypeError.
    public static let persistentStoreInvalidType: Code = 134000
    /// NSPersistentStoreIncompatibleSchemaError.
    public static let persistentStoreIncompatibleSchema: Code = 134020
    /// NSPersistentStoreOpenError.
    public static let persistentStoreOpen: Code = 134080
    /// NSPersistentStoreIncompatibleVersionHashError.
    public static let persistentStoreIncompatibleVersionHash: Code = 134100
    /// NSMigrationError.
    public static let migration: Code = 134110
    /// NSMigrationConstraintViolationError.
    public static let migrationConstraintViolation: Code = 134111
    /// NSMigrationCancelledError.
    public static let migrationCancelled: Code = 134120
    /// NSMigrationMissingSourceModelError.
    public static let migrationMissingSourceModel: Code = 134130
    /// NSMigrationMissingMappingModelError.
    public static let migrationMissingMappingModel: Code = 134140
    /// NSMigrationManagerDestinationStoreError.
    public static let migrationManagerDestinationStore: Code = 134160
    /// NSEntityMigrationPolicyError.
    public static let entityMigrationPolicy: Code = 134170
    /// NSSQLiteError.
    public static let sqlite: Code = 134180
    /// NSInferredMappingModelError.
    public static let inferredMappingModel: Code = 134190
    /// NSManagedObjectModelReferenceNotFoundError.
    public static let managedObjectModelReferenceNotFound: Code = 134504
    /// NSStagedMigrationFrameworkVersionMismatchError.
    public static let stagedMigrationFrameworkVersionMismatch: Code = 134505
    /// NSStagedMigrationBackwardMigrationError.
    public static let stagedMigrationBackwardMigration: Code = 134506
  }
}

/// Some words of a text that a person wrote, to be underlined.
public struct TextMark: Sendable, Equatable {
  /// The whole text, as it was written.
  public var text: String
  /// Offsets of UTF-8 bytes in the text; empty at a place where something is missing.
  public var range: Range<Int>

  /// Marks a range of a text, in UTF-8 bytes; what lies outside the text is cut off.
  public init(_ text: String, _ range: Range<Int>) {
    self.text = text
    let count = text.utf8.count
    let start = max(0, min(range.lowerBound, count))
    self.range = start..<max(start, min(range.upperBound, count))
  }

  /// The text before the marked words.
  public var before: String {
    String(decoding: text.utf8.prefix(range.lowerBound), as: UTF8.self)
  }

  /// The marked words.
  public var marked: String {
    String(decoding: text.utf8.prefix(range.upperBound).dropFirst(range.lowerBound), as: UTF8.self)
  }
}

extension CoreDataError {
  /// That the person asked to stop.
  package static func cancelled(_ path: String? = nil) -> CoreDataError {
    CoreDataError(.cancelled, code: .migrationCancelled, "cancelled", path: path)
  }

  /// - Throws: that, where the person did.
  package static func check(
    _ isCancelled: () -> Bool, _ path: String? = nil
  ) throws(CoreDataError) {
    if isCancelled() { throw cancelled(path) }
  }
}
