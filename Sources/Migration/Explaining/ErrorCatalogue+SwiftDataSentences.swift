extension ErrorCatalogue {
  private static func s(
    _ words: String, isGeneral: Bool = false, _ meaning: String, _ cause: String, _ advice: String
  ) -> ErrorSentence {
    ErrorSentence(
      .swiftData, words, isGeneral: isGeneral,
      telling(meaning, cause: cause, advice: advice))
  }

  /// SwiftData's errors and the sentences of its traps. It has no codes: its errors are cases, and an
  /// NSError made of one says "error 1" whichever it is.
  static let swiftDataSentences: [ErrorSentence] = [
    s(
      "loadIssueModelContainer", "The model container could not open its store.",
      "SwiftData hides what Core Data said: most often the store is of no version of the plan (134504), or a mandatory property has no default (134110).",
      "Look for Core Data's own error above it in the log; strata explain STORE MODEL tells what differs."
    ),
    s(
      "Unresolved error loading container", "The model container could not open its store.",
      "SwiftData hides what Core Data said: most often the store is of no version of the plan (134504), or a mandatory property has no default (134110).",
      "Look for Core Data's own error above it in the log; strata explain STORE MODEL tells what differs."
    ),
    s(
      "Unresolved Cocoa Error loading container", "The model container could not open its store.",
      "Core Data's own error stands beside it.",
      "Read the code beside it; strata explain STORE MODEL tells what differs."),
    s(
      "Could not create ModelContainer", isGeneral: true,
      "The app gave up: its model container could not be made.",
      "The template's fatalError; the error behind the colon is what matters.",
      "Explain what stands behind it."),
    s(
      "backwardMigration", "The store is of a later version than the plan's last.",
      "The app was downgraded, or a version was taken out of the plan.",
      "Use the newer app, or strata migrate STORE --to MODEL for the way back."),
    s(
      "unknownSchema", "The schema is not one of the migration plan's.",
      "The container is made with a schema that the plan does not list.",
      "Make it with the plan's last version: Schema(versionedSchema:)."),
    s(
      "duplicateConfiguration", "Two configurations have the same name or file.",
      "Both are unnamed, or have the same URL.", "Give each its own name and URL."),
    s(
      "configurationSchemaNotFoundInContainerSchema",
      "A configuration has types that the container's schema lacks.",
      "A model was added to the configuration alone.", "List it in the container's schema too."),
    s(
      "configurationFileName", "The configuration's name cannot be a file's.",
      "It is too long, or has characters that a file name cannot have.",
      "Give it a shorter, plain name."),
    s(
      "modelValidationFailure", "An object is not valid.",
      "A value breaks a rule of the model.",
      "Read the underlying error: 1550 to 1690 says which rule."),
    s(
      "missingModelContext", "The object belongs to no context.",
      "It was never inserted, or its context is gone.", "Insert it, and keep the container alive."),
    s(
      "unsupportedPredicate", "The predicate cannot be made SQL.",
      "It calls a function or an optional chain that SQLite cannot do, or a Codable's or enum's member.",
      "Compare stored plain properties; strata rows STORE ENTITY --where tries NSPredicate text."),
    s(
      "unsupportedKeyPath", "The key path is not stored.",
      "It names a computed or transient property.", "Name a stored property."),
    s(
      "unsupportedSortDescriptor", "The sort cannot be made SQL.",
      "It compares a computed property, or by a closure.", "Sort by a stored property."),
    s(
      "historyTokenExpired", "The history token is no longer valid (134301).",
      "The history before it was purged, or the store was replaced.",
      "Drop the token and read everything anew."),
    s(
      "failed to find a currently active container for",
      "An object was made or used while no container knows its type.",
      "The type is not in the container's schema, or the container is gone.",
      "List the type in the schema, and keep the container alive."),
    s(
      "This model instance was destroyed by calling ModelContext.reset",
      "An object was used after its context was reset.",
      "It was kept over the reset, often over a removal of the store.",
      "Fetch it again after the reset."),
    s(
      "This model instance was invalidated because its backing data could no longer be found",
      "An object was used after its row was deleted.",
      "A view kept it, or another context deleted it.",
      "Fetch it again; strata undelete STORE shows what was deleted."),
    s(
      "What kind of backing data is this",
      "An object of one schema version was used with another's.",
      "A migration stage fetches the live class where it needs the version's own.",
      "Use the classes nested in the version that the stage's context is of."),
    s(
      "Expected only Arrays for Relationships",
      "A relationship's type is not what SwiftData expects.",
      "A to-many is declared as a Set, or its inverse is missing.",
      "Declare it as an Array, with @Relationship(inverse:) on one side."),
    s(
      "Could not materialize Objective-C class named",
      "The type of an attribute is unknown to Core Data.",
      "An array or a Codable type is stored, and its class has no Objective-C name.",
      "A warning where values come back; else store it as Data or as a relationship."),
    s(
      "SwiftData.SwiftDataError", isGeneral: true, "SwiftData reports an error without its reason.",
      "Turned into an NSError it is “error 1”, whatever it was.",
      "Print the error itself, not its localizedDescription; look for Core Data's error above it."),
    s(
      "SwiftDataError", isGeneral: true, "SwiftData reports an error without its reason.",
      "Turned into an NSError it is “error 1”, whatever it was.",
      "Print the error itself, not its localizedDescription; look for Core Data's error above it."),
  ]
}
