extension ErrorCatalogue {
  private typealias M = ErrorMeaning

  static let migrationMeanings: [ErrorMeaning] = [
    M(
      .cocoa, 134110, "NSMigrationError", "The migration failed; the reason says how.",
      cause:
        "Often missing values on a mandatory attribute or relationship, or a constraint violation, in the destination.",
      advice:
        "strata plan STORE --to MODEL names the rows; give a default, make it optional, or fill the values first."
    ),
    M(
      .cocoa, 134111, "NSMigrationConstraintViolationError",
      "The migration met values that a uniqueness constraint forbids.",
      cause: "The new model has a constraint over attributes with duplicates in the store.",
      advice: "strata plan STORE --to MODEL lists the duplicates: merge or change them first."),
    M(
      .cocoa, 134120, "NSMigrationCancelledError", "The migration was cancelled.",
      cause: "The app or the person asked for it.", advice: "Nothing was changed; run it again."),
    M(
      .cocoa, 134130, "NSMigrationMissingSourceModelError",
      "The model that made the store was not found.",
      cause: "That version is not in the app, or a model was edited without a new version.",
      advice:
        "Most stores hold their model: strata model STORE. Else strata find-model STORE PATH… looks through bundles and git history."
    ),
    M(
      .cocoa, 134140, "NSMigrationMissingMappingModelError",
      "There is no mapping between the two models.",
      cause:
        "Nothing can be inferred and no mapping model leads from exactly this version to that; often it goes only step by step.",
      advice: "strata explain STORE MODEL names the property that stands in the way."),
    M(
      .cocoa, 134150, "NSMigrationManagerSourceStoreError",
      "The migration could not read the source store.",
      cause: "It is damaged, missing or locked.", advice: "strata info STORE says what is wrong."),
    M(
      .cocoa, 134160, "NSMigrationManagerDestinationStoreError",
      "The migration could not write the destination store.",
      cause: "The disk is full, or the folder cannot be written.",
      advice: "Free some space and check the folder; strata plan says how much is needed."),
    M(
      .cocoa, 134170, "NSEntityMigrationPolicyError", "A migration policy failed.",
      cause: "The app's own NSEntityMigrationPolicy threw an error.",
      advice: "Look at the underlying error, and at the entity mapping it names."),
    M(
      .cocoa, 134180, "NSSQLiteError", "SQLite failed.",
      cause: "NSSQLiteErrorDomain beneath it holds SQLite's own code.",
      advice: "Look at that code: strata explain --error takes the whole text."),
    M(
      .cocoa, 134190, "NSInferredMappingModelError", "A mapping cannot be inferred.",
      cause:
        "The change is beyond lightweight migration: another type, a to-many become to-one, two hierarchies become one.",
      advice: "strata explain STORE MODEL names the entity, the property and a way out."),
    M(
      .cocoa, 134200, "NSExternalRecordImportError", "An external record could not be imported.",
      cause: "A damaged record beside the store (an old Spotlight feature).",
      advice: "Turn external records off, or remove the record named."),
    M(
      .cocoa, 134301, "NSPersistentHistoryTokenExpiredError",
      "The history token is no longer valid.",
      cause: "The history before it was purged, or the store was replaced.",
      advice: "Drop the token and read everything anew."),
    M(
      .cocoa, 134501, nil, "The history token is of another store.",
      cause: "The store was replaced or restored, and the token was kept.",
      advice: "Drop the token and read everything anew."),
    M(
      .cocoa, 134504, "NSManagedObjectModelReferenceNotFoundError",
      "Staged migration does not know the store's model version.",
      cause:
        "SwiftData's commonest: the store was made by a schema without versions, or a frozen version was edited later.",
      advice:
        "Compare the checksums: strata hash STORE and strata hash MODEL; strata find-model finds the version."
    ),
    M(
      .cocoa, 134505, "NSStagedMigrationFrameworkVersionMismatchError",
      "The store was made by another generation of the framework.",
      cause: "A staged migration was asked of a store that a newer system wrote.",
      advice: "strata info STORE tells the framework's version; use the newer system."),
    M(
      .cocoa, 134506, "NSStagedMigrationBackwardMigrationError",
      "The migration would go back to an older version.",
      cause: "The store is of a later stage than the model.",
      advice: "Use the newer app, or strata migrate STORE --to MODEL for the way back."),
  ]

  /// Codes of CloudKit mirroring. Apple documents none: these four are told as logs print them, all
  /// others of the range as ``cloudRange`` says.
  static let cloudMeanings: [ErrorMeaning] = [
    cloud(
      134400, "Mirroring did not start: there is no usable iCloud account.",
      "Nobody is signed in, or iCloud is restricted.", "Sign in; the store works without iCloud."),
    cloud(
      134417, "A request of the mirror was cancelled: one of its kind is waiting already.",
      "Ordinary when many saves come together.", "Nothing needs doing."),
    cloud(
      134419, "A request of the mirror did not finish and is put off.",
      "The system's scheduler, or the app went into the background.", "It is tried again."),
    cloud(
      134422, "The store is mirrored by another container of the same process.",
      "Two NSPersistentCloudKitContainers opened one file.", "Keep one container for a store."),
  ]

  /// Numbers that mirroring uses.
  static let cloudRange = 134400...134499

  static func undocumentedCloudMeaning(_ code: Int) -> ErrorMeaning {
    cloud(
      code, "An error of CloudKit mirroring that Apple does not document.",
      "The reason beside it, or the CKErrorDomain beneath it, says which.",
      "Read the reason; strata info STORE tells what waits to be uploaded or deleted.")
  }

  private static func cloud(
    _ code: Int, _ meaning: String, _ cause: String, _ advice: String
  ) -> ErrorMeaning {
    M(.cocoa, code, nil, meaning, cause: cause, advice: advice)
  }

  static let validationMeanings: [ErrorMeaning] = [
    rule(
      1550, "NSManagedObjectValidationError", "An object is not valid.",
      "The app's own validation refused it."),
    rule(
      1551, "NSManagedObjectConstraintValidationError",
      "An object breaks a uniqueness constraint.", "Another object has the same values."),
    rule(
      1560, "NSValidationMultipleErrorsError", "Several values are not valid.",
      "NSDetailedErrors lists them."),
    rule(
      1570, "NSValidationMissingMandatoryPropertyError", "A mandatory property has no value.",
      "It was never set, or it was added to the model without a default."),
    rule(
      1580, "NSValidationRelationshipLacksMinimumCountError",
      "A relationship has too few objects.", "Fewer than the model's minimum count."),
    rule(
      1590, "NSValidationRelationshipExceedsMaximumCountError",
      "A relationship has too many objects.", "More than the model's maximum count."),
    rule(
      1600, "NSValidationRelationshipDeniedDeleteError",
      "An object cannot be deleted: a relationship denies it.",
      "The delete rule is Deny and objects are still related."),
    rule(
      1610, "NSValidationNumberTooLargeError", "A number is too large.",
      "It is above the model's maximum."),
    rule(
      1620, "NSValidationNumberTooSmallError", "A number is too small.",
      "It is below the model's minimum."),
    rule(
      1630, "NSValidationDateTooLateError", "A date is too late.",
      "It is after the model's maximum."),
    rule(
      1640, "NSValidationDateTooSoonError", "A date is too early.",
      "It is before the model's minimum."),
    rule(
      1650, "NSValidationInvalidDateError", "A date is not valid.",
      "It is infinite, or not a number."),
    rule(
      1660, "NSValidationStringTooLongError", "A text is too long.",
      "It is longer than the model's maximum length."),
    rule(
      1670, "NSValidationStringTooShortError", "A text is too short.",
      "It is shorter than the model's minimum length."),
    rule(
      1680, "NSValidationStringPatternMatchingError", "A text does not match its pattern.",
      "The model's regular expression refuses it."),
    rule(
      1690, "NSValidationInvalidURIError", "A URI is not valid.",
      "The text is not an absolute URI."),
  ]

  private static func rule(
    _ code: Int, _ name: String, _ meaning: String, _ cause: String
  ) -> ErrorMeaning {
    M(
      .cocoa, code, name, meaning, cause: cause,
      advice:
        "NSValidationErrorKey names the property, NSValidationErrorValue the value; strata model shows the rule."
    )
  }
}
