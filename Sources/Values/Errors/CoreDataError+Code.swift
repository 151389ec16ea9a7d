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
