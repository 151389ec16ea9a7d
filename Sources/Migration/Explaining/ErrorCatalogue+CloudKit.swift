extension ErrorCatalogue {
  private static func rule(
    _ words: String, names: ErrorSentence.Names = .properties, _ meaning: String, _ advice: String
  ) -> ErrorSentence {
    ErrorSentence(
      .cloudKit, words, 134060, names: names,
      telling(
        meaning,
        cause: "The model breaks a rule of mirroring; it is checked when the store is loaded.",
        advice: advice))
  }

  private static func mirror(
    _ words: String, _ code: Int? = nil, _ own: ErrorSentence.Telling? = nil
  ) -> ErrorSentence { ErrorSentence(.cloudKit, words, code, own) }

  private static let additive =
    "Each such change moves the version hash: add a model version and strata plan the migration."

  /// The rules that a mirrored model is checked against, and what mirroring says in logs.
  static let cloudKitSentences: [ErrorSentence] = [
    rule(
      "CloudKit integration requires that all relationships have an inverse",
      "A relationship has no inverse, and CloudKit needs one on both sides.",
      "Declare the inverse on the other entity (optional, too). " + additive),
    rule(
      "CloudKit integration requires that all attributes be optional, or have a default value set",
      "A mandatory attribute has no default, and CloudKit delivers objects in parts.",
      "Give it a default or make it optional; in Swift a default in the declaration. " + additive),
    rule(
      "CloudKit integration requires that all relationships be optional",
      "A relationship is mandatory, and CloudKit delivers related objects one by one.",
      "Make it optional, a to-many too. " + additive),
    rule(
      "CloudKit integration does not support unique constraints",
      "An entity has a uniqueness constraint, which CloudKit cannot keep.",
      "Take out the constraint (@Attribute(.unique), #Unique) and remove duplicates yourself. "
        + additive),
    rule(
      "CloudKit integration does not support ordered relationships",
      "A relationship is ordered, which CloudKit cannot keep.",
      "Make it unordered and keep the place in an attribute. " + additive),
    rule(
      "The following relationships are configured with unsupported delete rules",
      "A relationship's delete rule is Deny, which CloudKit cannot keep.",
      "Use Nullify or Cascade. " + additive),
    rule(
      "CloudKit integration does not support all attribute types",
      "An attribute has a type that CloudKit does not have: undefined or object ID.",
      "Give it a type. " + additive),
    rule(
      "CloudKit integration requires that the value transformers for transformable attributes are available via +[NSValueTransformer valueTransformerForName:] and allow reverse transformation",
      "The transformer of a transformable attribute is not registered, or goes one way only.",
      "Register it before the store is loaded, and allow the reverse."),
    rule(
      "CloudKit integration does not allow relationships to objects that aren't sync'd. The following relationships have destination entities that not in the specified configuration.",
      "A relationship leaves the configuration that is mirrored.",
      "Put both entities into it, or keep the other's UUID in an attribute."),
    rule(
      "CloudKit integration requires that all entities tombstone", names: .none,
      "An entity does not keep its record's name on deletion.",
      "Switch on “Preserve After Deletion” for the attributes named."),
    rule(
      "CloudKit integration requires that all entities can be materialized in a CKRecord",
      names: .none,
      "An entity's record would be larger than CloudKit takes.",
      "Split the entity, or let its binary data lie outside of the store."),
    rule(
      "CloudKit integration does not support ignored relationships",
      "A relationship is marked as ignored by mirroring, which only attributes can be.",
      "Take the mark out of its user info."),
    rule(
      "CloudKit integration does not support encrypted relationships",
      "A relationship is marked as encrypted, which only attributes can be.",
      "Take the mark out of its user info."),
    rule(
      "The following attributes use mergeable storage with CloudKit which is unsupported",
      "An attribute uses mergeable storage, which mirroring does not know.", "Switch it off."),
    mirror(
      "CloudKit integration does not support the", 134060,
      telling(
        "The container's options ask for something that mirroring does not know.",
        cause: "A database scope of another kind.",
        advice: "Use the private, shared or public scope.")),
    mirror(
      "CKAccountStatusNoAccount", 134400),
    mirror(
      "Unable to initialize without an iCloud account", 134400),
    mirror(
      "Unable to initialize without a valid iCloud account", 134400),
    mirror("was cancelled because there is already a pending request of type", 134417),
    mirror(
      "Another instance of this persistent store actively syncing with CloudKit in this process",
      134422),
    mirror(
      "was cancelled because the store was removed from the coordinator", 134407,
      telling(
        "A request of the mirror was cancelled: its store was removed.",
        cause: "The container was let go, or the store was reset while it synced.",
        advice: "Keep one container alive as long as the app runs.")),
    mirror(
      "Never successfully initialized and cannot execute request", nil,
      telling(
        "Mirroring never began for this store, so nothing is sent or fetched.",
        cause:
          "Setting it up failed before: no account, no entitlement, or a model that breaks the rules.",
        advice: "Look for the first error of setting up in the log.")),
    mirror(
      "Failed to set up CloudKit integration for store", nil,
      telling(
        "Mirroring could not begin for this store; the store itself is open.",
        cause:
          "No account, no entitlement, or a model that breaks the rules; the reason stands behind it.",
        advice: "Explain what stands behind it.")),
    mirror(
      "CloudKit push notifications require the 'remote-notification' background mode", nil,
      telling(
        "The app is not told of changes on other devices.",
        cause: "The background mode is missing from the target.",
        advice: "Add Background Modes, Remote notifications.")),
    mirror(
      "Object graph corruption detected", 134060,
      telling(
        "Related objects are in different zones of CloudKit.",
        cause: "One of them was shared without the other.",
        advice: "Share or copy the whole graph; strata object STORE REF shows what hangs together.")
    ),
    mirror(
      "Cannot create or modify field", nil,
      telling(
        "CloudKit's production schema lacks a field that the model has.",
        cause: "The new model was not deployed to production.",
        advice:
          "Deploy the schema in CloudKit's console; fields can be added there and never taken out.")
    ),
    mirror(
      "Cannot create new type", nil,
      telling(
        "CloudKit's production schema lacks a record type that the model has.",
        cause: "The new entity was not deployed to production.",
        advice: "Deploy the schema in CloudKit's console.")),
  ]

  private static func ck(
    _ code: Int, _ name: String, _ meaning: String, _ cause: String, _ advice: String
  ) -> ErrorMeaning {
    ErrorMeaning(.cloudKit, code, "CKError." + name, meaning, cause: cause, advice: advice)
  }

  private static let again = "Nothing needs doing: mirroring tries again."

  /// CKError's codes, with what they mean for a mirrored store.
  static let cloudKitMeanings: [ErrorMeaning] = [
    ck(
      1, "internalError", "CloudKit failed within.", "Often a damaged account or container.", again),
    ck(
      2, "partialFailure", "Some of the records failed, each for its own reason.",
      "CKPartialErrors lists them.",
      "Read the errors beneath it: strata explain --error takes the whole text."),
    ck(3, "networkUnavailable", "There is no network.", "The device is offline.", again),
    ck(4, "networkFailure", "The network failed.", "The connection broke off.", again),
    ck(
      5, "badContainer", "The container is unknown or not the app's.",
      "A mistyped identifier, or it was not added to the App ID.", "Compare the entitlements."),
    ck(
      6, "serviceUnavailable", "CloudKit is not available.", "The service is busy or down.", again),
    ck(7, "requestRateLimited", "Too many requests.", "Many saves at once.", again),
    ck(
      8, "missingEntitlement", "The app has no CloudKit entitlement.", "The capability is missing.",
      "Add iCloud with CloudKit to the target."),
    ck(
      9, "notAuthenticated", "Nobody is signed in to iCloud.", "No account, or it is restricted.",
      "Sign in; the store works without iCloud."),
    ck(
      10, "permissionFailure", "The account may not do that.",
      "Somebody else's zone or record, or a role that lacks the right.",
      "Check the share's permissions."),
    ck(
      11, "unknownItem", "The record is not there.",
      "It was deleted, or its type was never deployed.",
      "Deploy the schema in CloudKit's console."),
    ck(
      12, "invalidArguments", "CloudKit did not understand the request.",
      "A field has another type there than in the model, or is not indexed.",
      "Compare the record type in CloudKit's console with strata model MODEL."),
    ck(13, "resultsTruncated", "There are more results.", "Not used any more.", again),
    ck(
      14, "serverRecordChanged", "The record was changed on another device meanwhile.",
      "Two devices saved the same object.", again),
    ck(
      15, "serverRejectedRequest", "CloudKit refused the request.",
      "Often a field that production does not have.", "Deploy the schema in CloudKit's console."),
    ck(
      16, "assetFileNotFound", "A file to be uploaded is gone.",
      "External data of the store are missing.",
      "strata doctor STORE lists external files that are missing."),
    ck(
      17, "assetFileModified", "A file changed while it was uploaded.", "It was written meanwhile.",
      again),
    ck(
      18, "incompatibleVersion", "The app's version is too old for the container.",
      "The container demands a newer one.", "Update the app."),
    ck(
      19, "constraintViolation", "A unique field has that value already.", "Two records claim it.",
      "Change one of them."),
    ck(
      20, "operationCancelled", "The operation was cancelled.",
      "The app was suspended or the task ended.", again),
    ck(
      21, "changeTokenExpired", "The change token is too old.", "The device was away for long.",
      "Nothing needs doing: mirroring fetches everything anew."),
    ck(
      22, "batchRequestFailed", "The record failed because another of its batch did.",
      "Records of a zone are saved together.", "Look for the other record's error."),
    ck(23, "zoneBusy", "The zone is busy.", "Many devices write at once.", again),
    ck(
      24, "badDatabase", "The operation is not for this database.",
      "A private zone in the public one.",
      "Check the database scope."),
    ck(
      25, "quotaExceeded", "The person's iCloud is full.", "Photos, backups, or this app's data.",
      "Free some space; the store keeps what waits: strata info STORE tells how much."),
    ck(
      26, "zoneNotFound", "The zone is not there.",
      "It was deleted with the app's iCloud data, or never made.",
      again),
    ck(27, "limitExceeded", "The request was too large.", "Many records or bytes at once.", again),
    ck(
      28, "userDeletedZone", "The person deleted the app's iCloud data.",
      "In the system's settings.",
      "Ask whether to upload the store again."),
    ck(
      29, "tooManyParticipants", "The share has too many participants.", "A hundred at most.",
      "Share it otherwise."),
    ck(
      30, "alreadyShared", "The record is in a share already.", "Its parent or zone is shared.",
      "Use that share."),
    ck(
      31, "referenceViolation", "A record refers to one that is not there.",
      "Its target was deleted or not sent yet.", again),
    ck(
      32, "managedAccountRestricted", "The account's administrator forbids it.",
      "A managed account.", "Use another account."),
    ck(
      33, "participantMayNeedVerification", "The participant is not verified.",
      "The share was opened by nobody known.",
      "Accept the share through its link."),
    ck(
      34, "serverResponseLost", "The answer was lost on its way.", "The connection broke off.",
      again),
    ck(
      35, "assetNotAvailable", "A file cannot be fetched.", "It is not uploaded yet, or gone.",
      again),
    ck(
      36, "accountTemporarilyUnavailable", "The iCloud account cannot be used just now.",
      "It must be verified, or its token is old.", "Sign in anew in the system's settings."),
  ]
}
