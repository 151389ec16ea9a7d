/// Sentences of Core Data's and the mirror's logs that come with a migration, a model or the mirror, seen in
/// Apple's frameworks and in logs of users.
extension ErrorCatalogue {
  private static func s(
    _ speaker: ErrorSentence.Speaker, _ words: String, _ code: Int? = nil,
    _ own: ErrorSentence.Telling? = nil
  ) -> ErrorSentence { ErrorSentence(speaker, words, code, own) }

  static let laterMigrationSentences: [ErrorSentence] = [
    s(
      .coreData, "Each source entity must have a unique renaming identifier", 134190,
      telling(
        "Two source entities have the same renaming identifier, so Core Data cannot infer which one an entity came from.",
        cause: "An identifier was copied with the entity.",
        advice: "Give each entity its own renaming identifier, or none.")),
    s(
      .coreData, "Each destination entity must have a unique renaming identifier", 134190,
      telling(
        "Two destination entities have the same renaming identifier.",
        cause: "An identifier was copied with the entity.",
        advice: "Give each entity its own renaming identifier, or none.")),
    s(
      .coreData, "Each property must have a unique renaming identifier", 134190,
      telling(
        "Two properties of one entity have the same renaming identifier.",
        cause: "An identifier was copied with the property, or a property was split in two.",
        advice:
          "Keep the identifier on one of them; fill the other with a recipe or a mapping model.")),
    s(
      .coreData,
      "Cannot merge multiple root entity source tables into one destination entity root table",
      134190,
      telling(
        "Several root entities would become one hierarchy, which Core Data does not infer.",
        cause: "The entities got a common parent entity.",
        advice: "Write a recipe or a mapping model for this step.")),
    s(
      .coreData, "Properties cannot be mapped to other property types", 134190,
      telling(
        "An attribute would become a relationship, or a relationship an attribute.",
        cause: "The renaming identifier names a property of another kind.",
        advice: "Remove the identifier, and convert the values with a recipe or a mapping model.")),
    s(
      .coreData, "Collapsing Entity Hierarchy for:", nil,
      telling(
        "An entity and its subentities become one entity. Core Data logs this; it is no error.",
        cause: "The subentities were removed from the model.",
        advice: "Nothing is to be done if the entities were meant to be merged.")),
    s(
      .coreData, "Migration was completed by another client", nil,
      telling(
        "Another process migrated the store first. This one goes on with the result.",
        cause: "An app and its extension opened the store at the same time.",
        advice: "Nothing is to be done.")),
    s(
      .coreData, "Invalid destination data model", 134110,
      telling(
        "The model that the store should be migrated to cannot be used.",
        cause: "A compiled model is damaged, or was made for a newer system.",
        advice: "Build the model again; look for the first error of the log.")),
    s(
      .coreData, "Can't find entity migration description for entity", 134110,
      telling(
        "The inferred mapping has nothing for an entity of the store.",
        cause:
          "The store has an entity that the source model lacks: another configuration, or a model that was edited after it shipped.",
        advice: "Compare the store with the model: its plan names the entity.")),
    s(
      .coreData, "Unsupported entity mapping type", 134110,
      telling(
        "A mapping of a type that the migration in place cannot carry out.",
        cause: "A custom mapping is mixed with a lightweight migration.",
        advice: "Use the mapping model for the whole step.")),
    s(
      .coreData, "missing relationship values on mandatory destination destination", 134110,
      telling(
        "Objects would have no value in a relationship that the new model says is mandatory.",
        cause: "A mandatory relationship was added, or an optional one became mandatory.",
        advice:
          "Make it optional, or fill it with a recipe or a mapping model; the plan names the objects."
      )),
    s(
      .coreData, "missing attribute values on mandatory destination relationship", 134110,
      telling(
        "Objects would have no value where the new model says one is mandatory.",
        cause: "An attribute or a relationship is new or became mandatory.",
        advice: "Give it a default value or make it optional; the plan names the objects.")),
    s(
      .coreData, "Properties cannot be renamed in stores that are used with CloudKit", 134110,
      telling(
        "A property was renamed in a store that CloudKit mirrors, which Core Data refuses.",
        cause: "The new model has a renaming identifier for a mirrored property.",
        advice: "Keep the old name, or add a new property and copy the values in the app.")),
    s(
      .coreData, "CloudKit integration forbids renaming", 134110,
      telling(
        "An entity or a relationship was renamed in a store that CloudKit mirrors, which Core Data refuses.",
        cause: "Older versions of the app on other devices would not know the new name.",
        advice: "Keep the old name, or add a new one and copy the values in the app.")),
    s(
      .coreData, "Can't add destination store", 134110,
      telling(
        "The migration could not open the new file.",
        cause: "The folder cannot be written, or a file of that name is there.",
        advice: "Check the folder, and remove a file that a former migration left.")),
    s(
      .coreData, "Failed to save new store", 134110,
      telling(
        "The migration could not save the new store.",
        cause: "A value breaks a validation rule of the new model, or the disk is full.",
        advice: "Look at the underlying errors: each names an object and a property.")),
    s(
      .coreData, "Migration source and destination URLs must be different", 134182,
      telling(
        "A migration with a mapping model was asked to write over its source.",
        cause: "The same URL was given twice.",
        advice: "Give another destination, and replace the store afterwards.")),
    s(
      .coreData, "More than one source for destination in default mapping policy", 134110,
      telling(
        "The mapping model gives one destination object several source objects.",
        cause: "Two mappings of one name, or a policy that associates an object twice.",
        advice:
          "Give each mapping its own name; associate one source object with each destination object."
      )),
    s(
      .coreData, "More than one relationship destination for a toOne relationship", 134110,
      telling(
        "A mapping gives several objects for a to-one relationship.",
        cause: "The value expression fetches more than one object.",
        advice: "Narrow the expression to one object.")),
    s(
      .coreData, "Unknown/unsupported type for toMany relationship destination", 134110,
      telling(
        "A mapping gives no set for a to-many relationship.",
        cause: "The value expression answers an object of another type.",
        advice: "Let the expression answer a set or an array of objects.")),
    s(
      .coreData, "Unable to delete file (backup external data references URL)", 134110,
      telling(
        "A folder of external data that a former migration left cannot be removed.",
        cause: "Permissions, or another process uses it.",
        advice: "Check the folder beside the store, and try again.")),
    s(
      .coreData, "Mismatch between mapping and source/destination models", nil,
      telling(
        "The mapping model was made for other versions of the models.",
        cause: "A model was edited after its mapping model was made.",
        advice: "Make the mapping model again for these two versions.")),
    s(
      .coreData, "Can't find mapping for name (", nil,
      telling(
        "A value expression names an entity mapping that the mapping model lacks.",
        cause: "A mapping was renamed or removed.", advice: "Correct the name in the expression.")),
    s(
      .coreData, "Can't find relationship for name (", nil,
      telling(
        "A mapping names a relationship that the source entity lacks.",
        cause: "The relationship was renamed, or the mapping is for another version.",
        advice: "Correct the mapping, or make it again for this version.")),
    s(
      .coreData, "Can't find entity named", nil,
      telling(
        "A mapping names an entity that the source model lacks.",
        cause: "The entity was renamed, or the mapping is for another version.",
        advice: "Correct the mapping, or make it again for this version.")),
    s(
      .coreData, "Model already contains an entity mapping named", nil,
      telling(
        "Two entity mappings of one mapping model have one name.", cause: "A mapping was copied.",
        advice: "Give each mapping its own name.")),
    s(
      .coreData, "A store file cannot be migrated backwards with staged migration.", 134506,
      telling(
        "The store was written by a newer version of the app than this one.",
        cause: "An older app opens a store that a newer one migrated.",
        advice: "Update the app, or restore a backup from before the migration.")),
    s(
      .coreData, "Duplicate lightweight migration stages detected.", nil,
      telling(
        "Two lightweight stages lead from and to the same versions.", cause: "A stage was copied.",
        advice: "Remove one of the stages.")),
    s(
      .coreData, "The current model reference and the next model reference cannot be equal", nil,
      telling(
        "A stage leads from a version to one with the same checksum.",
        cause: "The two versions do not differ in anything that is stored.",
        advice: "Remove the stage, or the version that is equal.")),
    s(
      .coreData, "Could not cast value of type 'Swift.Optional<Any>' to", nil,
      telling(
        "A row has no value (NULL) where the class says that the property is not optional. The app ends when it reads that row.",
        cause:
          "A property that is not optional, such as an enum or a struct, was added by a lightweight migration: rows that were there got no value.",
        advice: "Make the property optional, or fill it in a custom stage.")),
  ]

  static let modelSentences: [ErrorSentence] = [
    s(
      .coreData, "Failed to load optimized model at path", nil,
      telling(
        "The optimized model (.omo) was made by another version of the system. Core Data reads the .mom instead.",
        cause: "The app was built with another version of Xcode.", advice: "This is harmless.")),
    s(
      .coreData, "is not among allowed top level class list", nil,
      telling(
        "A secure value transformer refuses the class that was archived.",
        cause:
          "The Transformable uses NSSecureUnarchiveFromData, and its class is not in the list of that transformer.",
        advice: "Register a transformer of your own with allowedTopLevelClasses.")),
    s(
      .coreData, "Declared Objective-C type", nil,
      telling(
        "The custom class of a Transformable is a Swift type that Objective-C does not know.",
        cause: "A type such as [Int64] is entered as the class of the attribute.",
        advice: "Enter NSArray, or no class. Stored values are not affected.")),
    s(
      .coreData,
      "Attempting to retrieve an NSManagedObjectModel version checksum while the model is still editable",
      nil,
      telling(
        "The checksum was read before the model was added to a coordinator, so it can still change.",
        cause: "The app compares checksums before it loads the store.",
        advice: "Read it after the model was used for a coordinator.")),
    s(.coreData, "Can't add the same store twice", 134081),
    s(
      .coreData, "File appeared during sanity check; this seems suspicious", nil,
      telling(
        "The store's file was created between two checks of Core Data.",
        cause: "Another process or thread opens the same store for the first time.",
        advice: "Let one of them create the store, or use a lock file; then open it again.")),
    s(
      .coreData, "Unable to find any managed object models", nil,
      telling(
        "No model is in these bundles.",
        cause:
          "The model is not a member of the target, or the bundle of a framework is not the one that was searched.",
        advice: "Add the model to the target; use the bundle of a class of that framework.")),
    s(
      .coreData,
      "using the iCloud integration options must always be added to the coordinator with the options",
      nil,
      telling(
        "The store was once opened with Core Data's former iCloud sync, which was removed after iOS 10.",
        cause: "The options for it are missing now.",
        advice: "Open it with those options once, or migrate a copy without them.")),
    s(
      .coreData, "Cannot unarchive type from non-NSData object", nil,
      telling(
        "A value transformer got something else than data: column and transformer do not belong together.",
        cause: "The attribute's type changed, or another transformer wrote the values.",
        advice: "Use the transformer that wrote them, and convert the values in a migration.")),
    s(
      .coreData, "improper model with nonsensical relationship definitions", 134060,
      telling(
        "A to-many relationship and its inverse contradict each other in the model.",
        cause: "The inverse of a many-to-many relationship is a to-one.",
        advice: "Correct the inverse in the model.")),
    s(
      .coreData, "Unable to generate optimized model", 134060,
      telling(
        "Core Data could not lay out tables for the model.",
        cause: "Two properties would have one column, or a relationship has no destination.",
        advice: "Look at the reason behind it; rename one of the properties.")),
    s(
      .coreData, "Invalid keypaths found in derived attribute", 134097,
      telling(
        "The expression of a derived attribute cannot be used; the words in brackets name what is wrong with it.",
        cause:
          "Its key path does not exist, has more than two steps, ends without a function, or leads to another derived attribute.",
        advice: "Correct the derivation expression in the model.")),
    s(
      .coreData, "NSPersistentHistoryTrackingKey only supports a max of 100 tombstones per entity",
      nil,
      telling(
        "An entity preserves more than 100 attributes on deletion. Core Data raises an exception.",
        cause: "“Preserve After Deletion” is set for too many attributes.",
        advice: "Set it for the attributes that the app reads from history.")),
    s(
      .coreData,
      "Warning: Persistent History will be removing entries that tracked the following entities being removed",
      nil,
      telling(
        "A migration removes entities, and the history of their objects with them.",
        cause: "The entities are not in the new model.",
        advice: "Nothing is to be done if the app does not need that history.")),
    s(
      .coreData, "Warning: Dropping Transactions prior to TransactionID", nil,
      telling(
        "A migration removes older transactions from the history.",
        cause: "They cannot be read with the new model.",
        advice: "Let consumers of the history begin with a new token.")),
    s(
      .coreData, "Warning: Dropping Changes prior to TransactionID", nil,
      telling(
        "A migration removes older changes from the history.",
        cause: "They cannot be read with the new model.",
        advice: "Let consumers of the history begin with a new token.")),
    s(
      .coreData, "Unexpected change - entity ID (", nil,
      telling(
        "A change in the history has an entity ID that the model does not have.",
        cause: "A migration outside of Core Data left the history as it was.",
        advice: "Check the store: repair removes such changes.")),
  ]

  static let laterCloudKitSentences: [ErrorSentence] = [
    s(.cloudKit, "Failed to create largeBlobDirectoryURL with observed store", 134403),
    s(
      .cloudKit,
      "Failed to initialize the asset storage url because the store was removed from the coordinator",
      134403),
    s(.cloudKit, "The request was aborted because it was deferred by the system", 134419),
    s(
      .cloudKit, "History analysis was aborted because the activity was deferred by the system",
      134419),
    s(.cloudKit, "exportIfNecessaryWithCompletion called re-entrantly", 134410),
    s(.cloudKit, "Found temporary objectID for metadata link", 134410),
    s(.cloudKit, "hit an unhandled exception", 134421),
    s(
      .cloudKit,
      "Setup failed because an unhandled exception was caught during event history truncation",
      134421),
    s(.cloudKit, "Import context cache is stale", 134412),
    s(
      .cloudKit, "Found record metadata that points to missing entity", nil,
      telling(
        "The mirror's bookkeeping has a record of an entity ID that the model does not have.",
        cause: "A migration changed entity IDs without the mirror's tables.",
        advice: "Core Data removes such records; the objects are uploaded again.")),
    s(
      .cloudKit, "Successfully purged record metadata during migration due to corrupted metadatas",
      nil,
      telling(
        "Core Data removed records of the mirror whose entity IDs were wrong.",
        cause: "A former migration changed entity IDs without the mirror's tables.",
        advice: "The objects are uploaded again; nothing is to be done.")),
    s(
      .cloudKit, "Migration discovered mutated entity IDs, precomputing z_ent changes", nil,
      telling(
        "Entity IDs change in this migration, and the mirror's tables are adapted.",
        cause: "Entities were added, removed or renamed.", advice: "This is harmless.")),
    s(
      .cloudKit, "corrupt analyzed history rows, purging", nil,
      telling(
        "Core Data removes rows of the mirror's analysis of the history that do not fit.",
        cause: "A former migration left them.",
        advice: "This is harmless: the history is analyzed again.")),
  ]

  static let laterMeanings: [ErrorMeaning] = [
    ErrorMeaning(
      .cocoa, 134081, nil, "A store was added twice to one coordinator.",
      cause: "The app loads its stores twice, or two store descriptions have one URL.",
      advice: "Load the stores once; give each description its own URL."),
    ErrorMeaning(
      .cocoa, 134092, nil, "The server of a store in another process refused the request.",
      cause: "The store is an XPC store, and its server does not allow this.",
      advice: "Check what the server of the store allows."),
    ErrorMeaning(
      .cocoa, 134093, nil, "The server of a store in another process does not show this object.",
      cause: "The store is an XPC store, and the process has no right to the object.",
      advice: "Check what the server of the store allows."),
    ErrorMeaning(
      .cocoa, 134097, nil, "The expression of a derived attribute cannot be used.",
      cause:
        "Its key path does not exist, or its function is not supported; the exception beneath says which.",
      advice: "Correct the derivation expression in the model."),
    ErrorMeaning(
      .cocoa, 134181, nil, "A query generation (a snapshot of the store) could not be opened.",
      cause: "The -wal was rewritten since the snapshot was taken.",
      advice: "Use the current query generation."),
    ErrorMeaning(
      .cocoa, 134182, nil,
      "Source and destination of a migration with a mapping model are the same file.",
      cause: "The same URL was given twice.",
      advice: "Give another destination, and replace the store afterwards."),
    ErrorMeaning(
      .cocoa, 134183, nil, "A fetch ran out of memory.",
      cause: "Too many objects or values at once.", advice: "Fetch in batches, or fewer properties."
    ),
    ErrorMeaning(
      .cocoa, 134302, nil, "A transaction log of Core Data's former iCloud sync cannot be read.",
      cause: "The document was synced by a system before iOS 10, and the log is damaged.",
      advice: "Migrate a copy of the store without the iCloud options."),
  ]
}
