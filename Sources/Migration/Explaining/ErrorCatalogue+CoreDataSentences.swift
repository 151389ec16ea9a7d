extension ErrorCatalogue {
  private typealias S = ErrorSentence

  private static func s(
    _ words: String, _ code: Int? = nil, _ names: ErrorSentence.Names = .none,
    _ own: ErrorSentence.Telling? = nil
  ) -> ErrorSentence { ErrorSentence(.coreData, words, code, names: names, own) }

  /// Core Data's sentences. Those without a telling of their own are what NSError's description says
  /// of the code in English.
  static let coreDataSentences = openingSentences + migrationSentences + contextSentences

  private static let openingSentences: [ErrorSentence] = [
    s("Unknown store type, format, or version", 134000),
    s("The store type is inconsistent with the data format", 134010),
    s(
      "The model configuration used to open the store is incompatible with the one", 134020),
    s("Save operation could not be completed", 134040),
    s("An error occurred in the persistent store", 134070),
    s("An error occurred while opening the persistent store", 134080),
    s("A timeout error occurred while connecting to the persistent store", 134090),
    s(
      "The model used to open the store is incompatible with the one used to create the store",
      134100),
    s(
      "The managed object model version used to open the persistent store is incompatible", 134100),
    s(
      "Attempt to add read-only file at path", nil, .none,
      telling(
        "The store file cannot be written, so it was opened for reading only.",
        cause: "It lies in the app's bundle, or its permissions forbid writing.",
        advice:
          "Copy it with its -wal and external data to a folder that can be written, or ask for NSReadOnlyPersistentStoreOption."
      )),
    s(
      "Store opened without NSPersistentHistoryTrackingKey but previously had been opened with",
      nil,
      .none,
      telling(
        "The store is opened for reading only: it was written with persistent history before.",
        cause: "NSPersistentHistoryTrackingKey was left out or switched off in one of the targets.",
        advice:
          "Set the option wherever the store is opened; strata history STORE tells who wrote with it."
      )),
    s(
      "This NSPersistentStoreCoordinator has no persistent stores", nil, .none,
      telling(
        "Something was fetched or saved before a store was added, or after adding one failed.",
        cause: "The error of loadPersistentStores was passed over, or it was not waited for.",
        advice: "Look for the error of loading above it in the log: that is the one to explain.")),
    s(
      "Failed to load model named", nil, .none,
      telling(
        "The model is not in the bundle under that name.",
        cause: "The .momd is called otherwise, or belongs to another target or bundle.",
        advice: "Compare the name with the .momd in the app.")),
    s(
      "Failed to stat path", nil, .quoted,
      telling(
        "The store's folder or file is not there yet.",
        cause:
          "A store is made in a folder that does not exist; Core Data makes it and tries again.",
        advice: "Nothing needs doing where the store opens after it; else make the folder first.")),
    s(
      "BUG IN CLIENT OF libsqlite3.dylib: database integrity compromised by API violation", nil,
      .none,
      telling(
        "The store's file was removed, moved or replaced while it was open.",
        cause:
          "A reset, a restore or another process moved the file without closing the store; what is saved afterwards is lost.",
        advice:
          "Remove the store from its coordinator first, and use replacePersistentStore; strata doctor STORE looks at what is there now."
      )),
    s(
      "0xdead10cc", nil, .none,
      telling(
        "The system ended the app: it held a file lock when it was suspended.",
        cause: "A save or migration of a store in a shared container ran on into the background.",
        advice:
          "Ask for background time around it; the store is sound, and SQLite rolls the rest back."
      )),
  ]

  private static let migrationSentences: [ErrorSentence] = [
    s(
      "missing attribute values on mandatory destination attribute", 134110, .none,
      telling(
        "Rows would have no value in an attribute that the new model says is mandatory.",
        cause:
          "A mandatory attribute without a default was added, or an optional one became mandatory.",
        advice:
          "Give it a default or make it optional; strata plan STORE --to MODEL names the rows, a recipe can fill them."
      )),
    s(
      "missing relationship values on mandatory destination relationship", 134110, .none,
      telling(
        "Objects would have nothing at a relationship that the new model says is mandatory.",
        cause: "A mandatory relationship was added, or an optional one became mandatory.",
        advice: "Make it optional; strata plan STORE --to MODEL names the objects.")),
    s(
      "constraint violation during attempted migration", 134111, .none, nil),
    s(
      "Can't find or automatically infer mapping model for migration", 134140),
    s("Can't find mapping model for migration", 134140),
    s("Persistent store migration failed, missing mapping model", 134140),
    s("Can't find model for source store", 134130),
    s("Can not find source model for store", 134130),
    s("Persistent store migration failed, missing source managed object model", 134130),
    s(
      "Can't add source store", 134110, .none,
      telling(
        "The migration could not open the source store.",
        cause:
          "It is damaged, protected, or does not fit the source model; the underlying error says which.",
        advice:
          "strata doctor STORE says what is wrong; strata explain STORE MODEL whether the model fits."
      )
    ),
    s(
      "Can't find source for destination in default mapping policy", 134110, .none,
      telling(
        "A mapping made objects that belong to no source object, and then asked for theirs.",
        cause: "A custom policy made them without associating them with a source.",
        advice:
          "Call the manager's associate for each; strata mapping FILE prints what the mapping does."
      )
    ),
    s("Failed to generate statements to perform migration", 134110),
    s("There was a problem with the source persistent store", 134150),
    s("There was a problem with the destination persistent store", 134160),
    s("Persistent store migration failed while processing entity migration policy", 134170),
    s("Persistent store migration was cancelled before completion", 134120),
    s("An error occurred during persistent store migration", 134110),
    s("Cannot migrate store in-place", 134110),
    s(
      "Source and destination attribute types are incompatible", 134190, .none,
      telling(
        "An attribute has another type in the new model, and nothing can be inferred for it.",
        cause: "Numbers become each other by themselves, nothing else does.",
        advice:
          "Keep the type and add an attribute beside it, or write a recipe: strata plan STORE --to MODEL --write-recipe FILE."
      )),
    s(
      "Can not map from a to-many to a to-one relationship", 134190, .none,
      telling(
        "A to-many relationship became to-one, and nothing says which object stays.",
        cause: "The relationship's type was changed in place.",
        advice: "Add a new to-one beside it, or write a recipe that says which object it is.")),
    s(
      "Unable to use inferred mapping to move external reference into store", 134190, .none,
      telling(
        "Binary data that was allowed outside of the store no longer is, and that is not inferred.",
        cause: "“Allows External Storage” was switched off for an attribute.",
        advice: "Leave it on: it says only that the data may lie outside.")),
    s("Unable to infer mapping for attribute", 134190),
    s("Unable to infer mapping for relationship", 134190),
    s("Type Transformation expects", 134190),
    s(
      "requires data validation during store migration", nil, .none,
      telling(
        "A warning before a migration: a mandatory property may turn out empty in some rows.",
        cause: "It is new without a default, or was optional before.",
        advice: "strata plan STORE --to MODEL counts the rows where it would fail.")),
    s("Cannot use staged migration with an unknown coordinator model version", 134504),
    s("Cannot use staged migration with an unknown model version", 134504),
    s("Cannot use staged migration with an unknown", 134504),
    s(
      "Duplicate version checksums", nil, .none,
      telling(
        "Two versions of the migration plan have the same checksum, and the app is ended.",
        cause:
          "Two versioned schemas list the same live classes, so that both are what these are today; a version without any change does it too.",
        advice:
          "Give each shipped version its own nested copies of its classes; strata hash SOURCES@SchemaV1 prints each version's checksum."
      )),
    s(
      "persistent history token expired", 134301),
    s(
      "not found in token", 134501),
  ]

  private static let contextSentences: [ErrorSentence] = [
    s("Attempt to access an object not found in store", 133000),
    s("CoreData could not fulfill a fault for", 133000),
    s("could not fulfill a fault", 133000),
    s("Cannot save objects with references outside of their own stores", 133010),
    s("merge policy failed - unable to complete merging due to multiple conflicting", 133021),
    s("Could not merge changes", 133020),
    s("One or more constraints were violated", 1551),
    s("Multiple validation errors occurred", 1560),
    s("is a required value", 1570),
    s(
      "Failed to find a unique match for an NSEntityDescription to a managed object subclass", nil,
      .none,
      telling(
        "A class was asked for its entity, and several loaded models claim it, or none does.",
        cause:
          "The model was loaded twice: two containers, or one for each test. Where none claims it, it was not loaded yet.",
        advice:
          "Load the model once and share it, or name the entity: NSEntityDescription.entity(forEntityName:in:)."
      )),
    s(
      "Multiple NSEntityDescriptions claim the NSManagedObject subclass", nil, .quoted,
      telling(
        "Several loaded models claim the same class.",
        cause: "The model was loaded twice: two containers, or one for each test.",
        advice: "Keep one NSManagedObjectModel in a static property and give it to every container."
      )),
    s(
      "No NSEntityDescriptions in any model claim the NSManagedObject subclass", nil, .quoted,
      telling(
        "No loaded model has an entity of that class.",
        cause: "The model is not loaded yet, or the entity's class or module is another.",
        advice: "Load the store first; compare the entity's class: strata model MODEL.")),
    s(
      "could not locate an NSEntityDescription for entity name", nil, .quoted,
      telling(
        "No loaded model has an entity of that name.",
        cause: "A mistyped name, or a version of the model that does not have it.",
        advice: "strata model MODEL lists the entities; strata diff A B what a version lacks.")),
    s(
      "nil is not a legal NSPersistentStoreCoordinator for searching for entity name", nil, .quoted,
      telling(
        "The context has no coordinator: no store was loaded.",
        cause: "Loading failed or was not waited for.",
        advice: "Look for the error of loading above it in the log.")),
    s(
      "A fetch request must have an entity", nil, .none,
      telling(
        "The fetch request knows no entity.", cause: "Its class is claimed by no loaded model.",
        advice: "Load the model before the request is made, or name the entity.")),
    s(
      "must have a valid NSEntityDescription", nil, .none,
      telling(
        "An object was made without an entity.",
        cause: "No loaded model has an entity of that class.",
        advice: "Load the store first; strata model MODEL lists the entities with their classes.")),
    s(
      "Can't merge models with two different entities named", nil, .quoted,
      telling(
        "Two models in the bundle have different entities of one name.",
        cause: "mergedModel took several versions, or an old .mom was left in the app.",
        advice: "Load the .momd by its URL instead; clean the build folder.")),
    s(
      "Illegal attempt to establish a relationship", nil, .quoted,
      telling(
        "Two objects of different contexts were related.",
        cause: "One of them was made or fetched in another context.",
        advice: "Take the other into this context by its objectID.")),
    s(
      "Unacceptable type of value for", nil, .quoted,
      telling(
        "A value of another type was set.", cause: "The class and the model disagree.",
        advice: "strata model MODEL prints the type that the model has.")),
    s(
      "is not key value coding-compliant for the key", nil, .quoted,
      telling(
        "An entity was asked for a property that it does not have.",
        cause: "A mistyped name, or another version of the model is loaded.",
        advice: "strata model MODEL lists the properties; strata diff A B what a version lacks.")),
    s(
      "not found in entity", nil, .none,
      telling(
        "A predicate or sort names a property that the entity does not have.",
        cause: "A mistyped key path, a transient property, or another version of the model.",
        advice: "strata model MODEL lists the properties.")),
    s(
      "'NSKeyedUnarchiveFromData' should not be used to for un-archiving", nil, .none,
      telling(
        "A transformable attribute has no secure transformer: a warning now, an error one day.",
        cause: "Its transformer is empty or the old default.",
        advice: "Set NSSecureUnarchiveFromData or a subclass of it; the data stay as they are.")),
    s(
      "No NSValueTransformer with class name", nil, .quoted,
      telling(
        "The transformer of a transformable attribute is not registered.",
        cause: "Its class is not in the target, or is registered after the model was loaded.",
        advice: "Register it before the store is loaded; strata model MODEL prints its name.")),
    s(
      "Multithreading_Violation_AllThatIsLeftToUsIsHonor", nil, .none,
      telling(
        "A context or object was used on a thread that is not its own.",
        cause: "An object was passed between queues, or perform was left out.",
        advice: "Do all work of a context inside perform; pass objectIDs.")),
    s(
      "Object's persistent store is not reachable from this", nil, .none,
      telling(
        "The object's store was removed from the coordinator.",
        cause: "It was reset or replaced while objects of it were in use.",
        advice: "Reset the contexts when a store is removed.")),
  ]
}
