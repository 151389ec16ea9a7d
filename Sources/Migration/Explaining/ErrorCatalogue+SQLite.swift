extension ErrorCatalogue {
  /// SQLite's primary result codes, with what they mean for a Core Data store.
  static let sqliteMeanings: [ErrorMeaning] = [
    sqlite(
      1, "SQLITE_ERROR", "An SQL statement failed.",
      "Often a missing table or column: the tables do not fit the model.",
      "strata info STORE lists what differs."),
    sqlite(
      2, "SQLITE_INTERNAL", "SQLite met an error of its own.", "A bug, or damaged memory.",
      "Try again; check the file with strata info."),
    sqlite(
      3, "SQLITE_PERM", "The file may not be accessed so.", "Permissions.",
      "Check the permissions of the store and of its folder."),
    sqlite(
      4, "SQLITE_ABORT", "A statement was stopped.", "A rollback while rows were being read.",
      "Run it again."),
    sqlite(
      5, "SQLITE_BUSY", "The database is in use.", "Another process or connection is writing.",
      "Close the other program, or wait."),
    sqlite(
      6, "SQLITE_LOCKED", "A table is in use within the same process.",
      "Two connections that share a cache.", "Finish the other statement first."),
    sqlite(
      7, "SQLITE_NOMEM", "Memory ran out.", "A very large value, or little memory.",
      "Work in smaller batches."),
    sqlite(
      8, "SQLITE_READONLY", "The database is read-only.",
      "It lies in the app's bundle, its folder cannot be written, or it was replaced while open.",
      "Copy the store with its -wal to a folder that can be written."),
    sqlite(
      9, "SQLITE_INTERRUPT", "The statement was interrupted.", "It was cancelled.",
      "Run it again."),
    sqlite(
      10, "SQLITE_IOERR", "Reading or writing the disk failed.",
      "A failing disk, a network volume, or a file that was removed while open.",
      "Copy the store elsewhere and look at the copy."),
    sqlite(
      11, "SQLITE_CORRUPT", "The database is damaged.",
      "Pages are overwritten or cut off; also a -wal of another store beside a replaced one.",
      "strata doctor STORE says what is wrong and what helps; strata dump prints what can be read; strata reset sets it aside."
    ),
    sqlite(
      12, "SQLITE_NOTFOUND", "Something was not found.", "Used within SQLite.",
      "Look at the message."),
    sqlite(
      13, "SQLITE_FULL", "The disk is full.", "A migration needs about the store's size again.",
      "Free some space."),
    sqlite(
      14, "SQLITE_CANTOPEN", "The file cannot be opened.",
      "The folder is missing or cannot be written, so that no -wal or -shm can be made.",
      "Make the folder; check its permissions."),
    sqlite(
      15, "SQLITE_PROTOCOL", "The lock of the -wal could not be taken.",
      "Several programs open the store at the same moment.", "Try again."),
    sqlite(16, "SQLITE_EMPTY", "Not used any more.", "Not used any more.", "Look at the message."),
    sqlite(
      17, "SQLITE_SCHEMA", "The tables changed meanwhile.",
      "Another program altered the store.", "Open the store anew."),
    sqlite(
      18, "SQLITE_TOOBIG", "A value is too large.", "More than a gigabyte in one value.",
      "Keep such values in files (external storage)."),
    sqlite(
      19, "SQLITE_CONSTRAINT", "A constraint is broken.",
      "Duplicates under a uniqueness constraint, or a key that is in use.",
      "strata plan STORE --to MODEL lists the duplicates."),
    sqlite(
      20, "SQLITE_MISMATCH", "A value is of the wrong type.", "A key that is no integer.",
      "strata info STORE lists what differs."),
    sqlite(
      21, "SQLITE_MISUSE", "SQLite was used wrongly.",
      "A connection was used after it was closed, or by two threads.",
      "Keep a context on its own queue."),
    sqlite(
      22, "SQLITE_NOLFS", "The file is too large for this system.", "An old file system.",
      "Move the store."),
    sqlite(
      23, "SQLITE_AUTH", "Access is denied.",
      "The device is locked and the file is protected; apps then often make an empty twin store.",
      "Use a protection class that allows the background, and look for a twin."),
    sqlite(24, "SQLITE_FORMAT", "Not used any more.", "Not used any more.", "Look at the message."),
    sqlite(
      25, "SQLITE_RANGE", "A parameter is out of range.", "A bug in the program.",
      "Look at the message."),
    sqlite(
      26, "SQLITE_NOTADB", "The file is no SQLite database.",
      "It is encrypted, overwritten, or another file.",
      "strata doctor STORE says what it is, and what helps."),
    sqlite(
      27, "SQLITE_NOTICE", "A notice, no failure.", "A -wal was recovered, for one.",
      "Nothing needs doing."),
    sqlite(
      28, "SQLITE_WARNING", "A warning.", "An index was made automatically, for one.",
      "Nothing needs doing."),
  ]

  private static func sqlite(
    _ code: Int, _ name: String, _ meaning: String, _ cause: String, _ advice: String
  ) -> ErrorMeaning {
    ErrorMeaning(.sqlite, code, name, meaning, cause: cause, advice: advice)
  }
}
