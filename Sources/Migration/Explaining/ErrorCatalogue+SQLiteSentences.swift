extension ErrorCatalogue {
  private static func s(
    _ words: String, _ code: Int, _ names: ErrorSentence.Names = .none,
    _ own: ErrorSentence.Telling? = nil
  ) -> ErrorSentence { ErrorSentence(.sqlite, words, code, names: names, own) }

  private static let misfit =
    "The tables were changed by hand or by a migration that ended half-way, or the model is of another version."

  /// SQLite's messages. Those without a telling of their own are what sqlite3_errmsg says of a code.
  static let sqliteSentences: [ErrorSentence] = [
    s(
      "UNIQUE constraint failed: ANSCKRECORDMETADATA", 2067, .none,
      telling(
        "The mirror's bookkeeping would have two records for one object.",
        cause:
          "A migration changed entity IDs or keys without the tables of CloudKit mirroring, so that records point to wrong objects.",
        advice:
          "Migrate the store with strata migrate from a backup: it renumbers and removes the mirror's rows as Core Data does."
      )),
    s(
      "UNIQUE constraint failed:", 2067, .columns,
      telling(
        "Two rows have the same value where each must have its own.",
        cause:
          "A uniqueness constraint over duplicates: a migration that adds one, two contexts that save the same, or CloudKit's bookkeeping out of step.",
        advice:
          "strata plan STORE --to MODEL lists the duplicates; strata repair STORE --fix uniqueness --keep newest keeps one of each."
      )),
    s(
      "NOT NULL constraint failed:", 1299, .columns,
      telling(
        "A row has no value where one must be.",
        cause:
          "Core Data writes no such constraint: the table was made or altered by another program.",
        advice: "strata info STORE lists what differs from Core Data's tables.")),
    s(
      "CHECK constraint failed:", 275, .table,
      telling(
        "A value breaks a CHECK of its table.",
        cause:
          "Core Data writes no such constraint: the table was made or altered by another program.",
        advice: "strata info STORE lists what differs from Core Data's tables.")),
    s(
      "FOREIGN KEY constraint failed", 787, .none,
      telling(
        "A row refers to one that is not there.",
        cause:
          "Core Data declares no foreign keys: the table was made by another program, or the check was switched on for it.",
        advice: "strata doctor STORE finds links that lead nowhere.")),
    s(
      "PRIMARY KEY must be unique", 1555, .none, nil),
    s("constraint failed", 19),
    s(
      "no such table:", 1, .table,
      telling(
        "A table is missing.", cause: misfit,
        advice:
          "strata doctor STORE lists the tables that are missing; strata find-model tells which version made it."
      )),
    s(
      "no such column:", 1, .column,
      telling(
        "A column is missing.", cause: misfit,
        advice:
          "strata explain STORE MODEL tells what differs; strata doctor STORE lists the columns.")),
    s(
      "has no column named", 1, .table,
      telling(
        "A column is missing.", cause: misfit,
        advice: "strata doctor STORE lists the columns that are missing.")),
    s(
      "duplicate column name:", 1, .table,
      telling(
        "A column was to be added that is there already.",
        cause: "A migration in place was interrupted and begins again.",
        advice: "Put the backup back; strata doctor STORE says what state the tables are in.")),
    s(
      "no such function: NSCoreData", 1, .none,
      telling(
        "A trigger of a derived attribute calls a function that only Core Data has.",
        cause: "Another program writes to the store.",
        advice: "Write through Core Data or strata: both know the function.")),
    s(
      "malformed database schema", 11, .quoted,
      telling(
        "SQLite cannot read the list of tables.",
        cause: "A damaged page, or a statement that this SQLite does not know.",
        advice:
          "strata doctor STORE says what is wrong; strata salvage STORE --output FILE saves what can be read."
      )),
    s("database disk image is malformed", 11),
    s("missing from index", 11),
    s("attempt to write a readonly database", 8),
    s("database table is locked", 6),
    s("database schema is locked", 6),
    s("database is locked", 5),
    s("disk I/O error", 10),
    s("database or disk is full", 13),
    s("unable to open database file", 14),
    s("locking protocol", 15),
    s("database schema has changed", 17),
    s("string or blob too big", 18),
    s("datatype mismatch", 20),
    s("library routine called out of sequence", 21),
    s("bad parameter or other API misuse", 21),
    s("authorization denied", 23),
    s("column index out of range", 25),
    s("file is encrypted or is not a database", 26),
    s("file is not a database", 26),
    s("access permission denied", 3),
    s("SQL logic error", 1),
  ]

  private static func extended(
    _ code: Int, _ name: String, _ meaning: String, _ cause: String, _ advice: String
  ) -> ErrorMeaning {
    ErrorMeaning(.sqlite, code, "SQLITE_" + name, meaning, cause: cause, advice: advice)
  }

  private static let copyOut = "Copy the store with its -wal to a folder that can be written."
  private static let look = "strata doctor STORE says what is wrong, and what helps."

  /// Extended codes that stores meet; others are told by their last byte.
  static let extendedSQLiteMeanings: [ErrorMeaning] = [
    extended(
      261, "BUSY_RECOVERY", "Another program is recovering the -wal.",
      "It crashed before, and both open the store.",
      "Wait and open it again."),
    extended(
      517, "BUSY_SNAPSHOT", "The state that was read is no longer the last.",
      "Another connection wrote between reading and writing.", "Begin the transaction anew."),
    extended(
      264, "READONLY_RECOVERY", "A -wal must be recovered, and the file is read-only.",
      "The app crashed or was ended with a -wal left over, and the store is now opened for reading only.",
      "Open it once for writing, or copy it with its -wal; strata reads it as it is."),
    extended(
      520, "READONLY_CANTLOCK", "The -shm cannot be locked: the folder is read-only.",
      "The store lies in the app's bundle or on a read-only volume.", copyOut),
    extended(
      776, "READONLY_ROLLBACK", "A journal must be rolled back, and the file is read-only.",
      "A program crashed while it wrote.", copyOut),
    extended(
      1032, "READONLY_DBMOVED", "The file was moved or removed while it was open.",
      "A reset or restore replaced it without closing the store.",
      "Remove the store from its coordinator before its file is touched."),
    extended(
      1544, "READONLY_DIRECTORY", "The folder cannot be written.",
      "Permissions, or the app's bundle.", copyOut),
    extended(
      266, "IOERR_READ", "Reading the disk failed.", "A failing disk or a network volume.", look),
    extended(
      522, "IOERR_SHORT_READ", "The file ended before it should.",
      "It is cut off, or a -wal of another store lies beside it.", look),
    extended(
      778, "IOERR_WRITE", "Writing the disk failed.", "A full or failing disk.", "Free some space."),
    extended(
      1034, "IOERR_FSYNC", "The disk did not take what was written.", "A failing disk.", look),
    extended(
      6922, "IOERR_VNODE", "The file was removed or replaced while it was open.",
      "A reset or restore moved it without closing the store.",
      "Remove the store from its coordinator before its file is touched."),
    extended(
      7178, "IOERR_AUTH", "The file may not be read just now.",
      "The device is locked and the file is protected.",
      "Use a protection class that allows the background."),
    extended(
      267, "CORRUPT_VTAB", "A virtual table is damaged.",
      "The tables of an index of places or words.", look),
    extended(
      779, "CORRUPT_INDEX", "An index does not fit its table.", "A damaged page.",
      "strata repair STORE makes indexes anew."),
    extended(
      526, "CANTOPEN_ISDIR", "The path is a folder.", "A wrong path.", "Name the file in it."),
    extended(
      275, "CONSTRAINT_CHECK", "A value breaks a CHECK.", "The table was made by another program.",
      "strata info STORE lists what differs."),
    extended(
      787, "CONSTRAINT_FOREIGNKEY", "A row refers to one that is not there.",
      "The table was made by another program.", "strata doctor STORE finds links that lead nowhere."
    ),
    extended(
      1299, "CONSTRAINT_NOTNULL", "A row has no value where one must be.",
      "The table was made by another program.", "strata info STORE lists what differs."),
    extended(
      1555, "CONSTRAINT_PRIMARYKEY", "Two rows have the same key.",
      "Z_PRIMARYKEY counts less than the table holds, so that keys are given twice.",
      "strata repair STORE --fix primary-key puts the count right."),
    extended(
      2067, "CONSTRAINT_UNIQUE", "Two rows have the same value where each must have its own.",
      "Duplicates under a uniqueness constraint.",
      "strata plan STORE --to MODEL lists the duplicates; strata repair STORE --fix uniqueness --keep newest keeps one of each."
    ),
    extended(
      283, "NOTICE_RECOVER_WAL", "A -wal was recovered.",
      "The app was ended before it was folded in.",
      "Nothing needs doing."),
    extended(
      539, "NOTICE_RECOVER_ROLLBACK", "A journal was rolled back.",
      "A program crashed while it wrote.",
      "Nothing needs doing."),
    extended(
      284, "WARNING_AUTOINDEX", "An index was made automatically.", "A query had none to use.",
      "Nothing needs doing; an index in the model is faster."),
  ]
}
