extension ErrorCatalogue {
  private typealias M = ErrorMeaning

  static let fileMeanings: [ErrorMeaning] = [
    M(
      .cocoa, 4, "NSFileNoSuchFileError", "A file does not exist.",
      cause: "The store's folder was never made, or the path is of another container.",
      advice: "Make the folder before adding the store, and check the path."),
    M(
      .cocoa, 256, "NSFileReadUnknownError", "The store file could not be opened.",
      cause: "SQLite refused it; the underlying NSSQLiteErrorDomain code says why.",
      advice: "Look at the underlying error: strata explain --error takes the whole text."),
    M(
      .cocoa, 257, "NSFileReadNoPermissionError", "The store file may not be read.",
      cause: "Permissions, the sandbox, or file protection while the device is locked.",
      advice: "Check the permissions, and the protection class for work in the background."),
    M(
      .cocoa, 259, "NSFileReadCorruptFileError", "The file is no store of the expected form.",
      cause: "It is damaged, encrypted, empty, or a -wal of another store lies beside it.",
      advice: "strata info STORE says what the file is; strata reset sets it aside."),
    M(
      .cocoa, 260, "NSFileReadNoSuchFileError", "The store file does not exist.",
      cause: "A wrong path, or the store was moved or never made.",
      advice: "Check the path; strata reset STORE --model MODEL makes an empty one."),
    M(
      .cocoa, 512, "NSFileWriteUnknownError", "The store could not be written.",
      cause: "The underlying POSIX or SQLite error says why.",
      advice: "Look at the underlying error."),
    M(
      .cocoa, 513, "NSFileWriteNoPermissionError", "The store may not be written.",
      cause: "The store lies in the app's bundle, or its folder is read-only.",
      advice: "Copy the store, with its -wal and external data, to a folder that can be written."),
    M(
      .cocoa, 516, "NSFileWriteFileExistsError", "A file of that name exists.",
      cause: "A store was moved or copied onto another.",
      advice: "Use replacePersistentStore, or choose another name."),
    M(
      .cocoa, 640, "NSFileWriteOutOfSpaceError", "The disk is full.",
      cause: "A migration needs about the store's size again.",
      advice: "Free some space; strata plan says how much is needed."),
    M(
      .cocoa, 642, "NSFileWriteVolumeReadOnlyError", "The file system is read-only.",
      cause: "A disk image, or a volume mounted for reading.",
      advice: "Copy the store, with its -wal and external data, elsewhere."),
  ]

  static let contextMeanings: [ErrorMeaning] = [
    M(
      .cocoa, 132000, "NSManagedObjectContextLockingError", "A context could not be locked.",
      cause: "A context was used from a thread that is not its own.",
      advice: "Do all work of a context inside perform or performAndWait."),
    M(
      .cocoa, 132010, "NSPersistentStoreCoordinatorLockingError",
      "The coordinator could not be locked.",
      cause: "The coordinator is used from several threads without perform.",
      advice: "Do the work inside the coordinator's perform or performAndWait."),
    M(
      .cocoa, 133000, "NSManagedObjectReferentialIntegrityError",
      "An object could not be fulfilled: its row is gone.",
      cause: "The row was deleted by another context, another process or by hand.",
      advice: "Refresh or reset the context; strata doctor STORE finds links that lead nowhere."),
    M(
      .cocoa, 133010, "NSManagedObjectExternalRelationshipError",
      "An object is linked to one in another store.",
      cause: "The two objects were assigned to different stores.",
      advice: "Assign both to one store, or keep the other's URI in an attribute."),
    M(
      .cocoa, 133020, "NSManagedObjectMergeError",
      "Saving met a row that was changed meanwhile.",
      cause: "Two contexts or processes saved one object under the error merge policy.",
      advice: "Set a merge policy; NSPersistentStoreSaveConflictsErrorKey lists the objects."),
    M(
      .cocoa, 133021, "NSManagedObjectConstraintMergeError",
      "Saving met an object that breaks a uniqueness constraint.",
      cause: "Two objects have the same values of the constrained attributes.",
      advice: "Set NSMergeByPropertyObjectTrumpMergePolicy, or look for the duplicate first."),
  ]

  static let storeMeanings: [ErrorMeaning] = [
    M(
      .cocoa, 134000, "NSPersistentStoreInvalidTypeError", "The store type is unknown.",
      cause: "The file is no store, or a custom store class was not registered.",
      advice: "strata info STORE says what the file really is."),
    M(
      .cocoa, 134010, "NSPersistentStoreTypeMismatchError",
      "The store is of another type than it was opened as.",
      cause: "An SQLite store was opened as XML or binary, or the reverse.",
      advice: "Open it with its own type; strata info STORE tells it."),
    M(
      .cocoa, 134020, "NSPersistentStoreIncompatibleSchemaError",
      "The tables do not fit the model.",
      cause:
        "They were changed by hand, a migration was left half done, or a deferred one unfinished.",
      advice: "strata doctor STORE lists the tables and columns that differ."),
    M(
      .cocoa, 134030, "NSPersistentStoreSaveError", "Saving failed.",
      cause: "The store could not be written; the underlying error says why.",
      advice: "Look at the underlying error: often a full disk or a read-only file."),
    M(
      .cocoa, 134040, "NSPersistentStoreIncompleteSaveError",
      "Saving failed for some of several stores.",
      cause: "One of the coordinator's stores could not be written.",
      advice: "NSAffectedStoresErrorKey names the stores: save again when they can be written."),
    M(
      .cocoa, 134050, "NSPersistentStoreSaveConflictsError",
      "Saving met rows that were changed underneath.",
      cause: "Another context or process saved the same objects, and no merge policy resolves it.",
      advice: "Set a merge policy, or refresh the objects and save again."),
    M(
      .cocoa, 134060, "NSCoreDataError", "A general error of Core Data; the reason says which.",
      cause:
        "Often a model that breaks CloudKit's rules: an ordered relationship, a uniqueness constraint, a mandatory attribute without default, a relationship without inverse.",
      advice: "Read the reason: it names the rule and the properties."),
    M(
      .cocoa, 134070, "NSPersistentStoreOperationError", "An operation on the store failed.",
      cause: "Permissions, file protection, a lock, or a store that was removed meanwhile.",
      advice: "Look at the underlying error; check who holds the file."),
    M(
      .cocoa, 134080, "NSPersistentStoreOpenError", "The store could not be opened.",
      cause: "A missing folder, missing permissions, file protection, or a damaged file.",
      advice: "strata doctor STORE says what is wrong with it, and what helps."),
    M(
      .cocoa, 134090, "NSPersistentStoreTimeoutError",
      "The store could not be reached in time.",
      cause: "Another process holds a lock on it.",
      advice: "Close the other program, or raise NSPersistentStoreTimeoutOption."),
    M(
      .cocoa, 134091, "NSPersistentStoreUnsupportedRequestTypeError",
      "The store does not know this kind of request.",
      cause: "A batch or history request was sent to a store that is not SQLite.",
      advice: "Send it to an SQLite store only (affectedStores)."),
    M(
      .cocoa, 134100, "NSPersistentStoreIncompatibleVersionHashError",
      "The model is not the one that made the store.",
      cause:
        "The model was edited without a new version, the app was downgraded, or no migration was asked for.",
      advice:
        "strata explain STORE MODEL says which properties differ; strata find-model finds the version that made it."
    ),
  ]
}
