import Files
import ManagedModel
import SQLite
import Salvage

/// What is left of a damaged store: its pages, and what they show about its tables.
package struct SalvageSource {
  /// Which -wal is laid over the main file.
  package enum LogChoice: Sendable, Equatable {
    /// The one beside it; one that does not belong to it is refused.
    case own
    /// The one beside it, where it belongs to it.
    case ownIfFitting
    /// None.
    case none
    /// This one, whatever it is of.
    case file(String)

    /// Whether somebody says which it is.
    var isNamed: Bool { if case .file = self { true } else { false } }
  }

  /// The pages.
  let image: DatabaseImage
  /// The log that was laid over them; `nil` where none was.
  package let logPath: String?
  /// What sqlite_master says, as far as it can be read.
  let objects: [SchemaList.Object]
  /// Whether all of sqlite_master was read.
  package let isSchemaWhole: Bool
  /// Whether it shows any table of Core Data's.
  package var hasTables: Bool {
    objects.contains { $0.object.type == "table" && $0.object.sql?.contains("Z_ENT") == true }
  }
  let foundModel = FoundModel()
  /// Which page belongs to which table.
  let trees: TreeMap
  /// What a person should know, as sentences.
  package private(set) var notes: [String] = []
  /// Whether something that belongs to the store is not in what is read of it, such as frames that are damaged or cut
  /// off, a -journal that is not restored; or something is that may be another store's.
  package private(set) var isPartial = false
  /// Whether rows may be missing from any table though nobody deleted them, and nothing says of which.
  private(set) var hidesRows = false
  /// Whether another store's -wal was beside the store and was left out: its own one, if it had one, is not there.
  package private(set) var lacksOwnLog = false
  /// Why rows that no tree references may never have been in this store, as a clause; `nil` where nothing
  /// speaks against them.
  package private(set) var distrust: String?
  /// Whether pages of two stores are mixed, or of two times of one, or its -wal may be another store's.
  package private(set) var isMixed = false
  /// Whether the bytes of any value, and of any key, may be others than they were.
  private(set) var isGarbled = false

  /// Looks at a store's files; nothing is changed, and SQLite is not asked.
  ///
  /// - Parameters:
  ///   - choice: which -wal is laid over the main file.
  ///   - takesRenamedJournal: whether a -journal that lost its name is rolled back, where the store has none
  ///     and nothing speaks against it.
  /// - Throws: ``CoreDataError`` where a file cannot be read, nothing in it looks like a database, or the -wal
  ///   does not belong to the main file and nobody said what to do.
  package init(
    path: String, log choice: LogChoice = .own, takesRenamedJournal: Bool = true
  ) throws {
    let path = FileSystem.canonical(path)
    try StoreFiles(path: path).refuseNotDownloaded()
    guard let status = FileSystem.status(path), status.kind == .file else {
      throw CoreDataError(
        .unreadable, FileSystem.status(path) == nil ? "there is no such file" : "not a file",
        path: path, hint: "Check the path of the store.")
    }
    try StoreFiles(path: path).refuseWhileWritten()
    let log: String?
    switch choice {
    case .own, .ownIfFitting: log = try Self.log(of: path, &notes)
    case .none: log = nil
    case .file(let file):
      guard try FileSystem.present(file)?.kind == .file else {
        throw CoreDataError(
          .usage, "there is no such file", path: file,
          hint: "Name the -wal that belongs to the store.")
      }
      log = file
      notes.append("\(file) was applied to the main file, as requested.")
    }
    let journal = try RenamedJournal(beside: path, isTaken: takesRenamedJournal)
    let journalPath = journal.path ?? path + "-journal"
    var image = try DatabaseImage(path: path, log: log, journal: journalPath, isRealigned: true)
    if let shift = image.shift {
      notes.append(shift.note)
      if case .lineFeeds(_, let cells, let pages) = shift, cells + pages > 0 {
        notes.append(
          "Of \(NumberText.counted(cells, "row")) and \(NumberText.counted(pages, "page")) it is not known where the byte was: they are left out."
        )
        (isPartial, hidesRows) = (true, true)
      }
    }
    if let renamed = journal.path, image.shift != nil {
      notes.append(
        "\(FileSystem.name(of: renamed)) was left out: bytes of the main file were shifted."
      )
      (isPartial, hidesRows) = (true, true)
    } else {
      notes += journal.notes
    }
    if let note = image.journal?.note { notes.append(note) }
    if journal.isNeeded || image.journal?.leavesHalf == true {
      (isPartial, hidesRows) = (true, true)
    }
    if try image.isMainSavedAsText() {
      notes.append(Self.savedAsText)
      distrust = "the file was saved as text, and bytes of its rows were replaced"
      (isPartial, hidesRows, isGarbled) = (true, true, true)
    }
    if choice == .none,
      let left = LeftOutLog(of: path, journal: journalPath, main: image)
    {
      notes.append(left.note)
      if left.mayBeOwn { (isPartial, hidesRows) = (true, true) } else { lacksOwnLog = true }
    }
    if let log, image.log?.newest.isEmpty == false {
      let main = try DatabaseImage(path: path, log: nil, journal: journalPath, isRealigned: true)
      let kinship = LogKinship(image, main: main)
      if let found = try kinship?.contradiction() {
        switch choice {
        case .own: throw Self.foreign(log, of: path, found)
        case .ownIfFitting:
          image = main
          notes.append(
            "\(FileSystem.name(of: log)) was left out: it does not belong to the store (\(found.words))."
          )
          lacksOwnLog = true
        case .none: break
        case .file:
          notes.append(
            "\(FileSystem.name(of: log)) does not belong to this state of the main file (\(found.words)): rows may be of another store."
          )
        }
      } else if try kinship?.hasKeysBeyondCounters() == true {
        notes.append("\(FileSystem.name(of: log)): \(Self.keysBeyondCounters)")
        (isMixed, isPartial, hidesRows) = (true, true, true)
      } else if !choice.isNamed, let count = try kinship?.unvouchedObjects(), count > 0 {
        // The log of a small store, or of one whose objects were all saved anew, looks no other: nothing is
        // held against it.
        notes.append("\(FileSystem.name(of: log)): \(Self.unvouched(count))")
      }
    }
    let isLogApplied = image.log?.newest.isEmpty == false
    if log != nil, !isLogApplied, image.pageCount == 0 { throw Self.nothing(path, image) }
    guard image.looksLikeDatabase, try !image.isMainEncrypted() else {
      throw try Self.unknown(path, image)
    }
    if let shift = image.log?.shift, let log {
      notes.append("\(FileSystem.name(of: log)): \(shift.note)")
      if case .lineFeeds(_, _, let unknown) = shift, unknown > 0 {
        notes.append(
          "\(FileSystem.name(of: log)): in \(NumberText.counted(unknown, "frame")) it is not known where the bytes stood: they are left out."
        )
        (isPartial, hidesRows) = (true, true)
      }
    }
    if let frames = image.log?.frames, let log {
      let count = { (state: LogFrame.State) in frames.count { $0.state == state } }
      if image.log?.followsHeader == false {
        notes.append(
          "\(FileSystem.name(of: log)): its header does not match its frames; \(NumberText.counted(count(.committed), "frame")) that are consistent with each other were used."
        )
      }
      if count(.mended) > 0 {
        notes.append(
          "\(FileSystem.name(of: log)): one bit was wrong in \(NumberText.counted(count(.mended), "frame")); the checksum shows which, and it was corrected."
        )
      }
      if count(.wrong) > 0 {
        notes.append(
          "\(FileSystem.name(of: log)): \(NumberText.counted(count(.wrong), "frame")) are damaged; rows in them may be wrong."
        )
        (isPartial, hidesRows) = (true, true)
      }
      if count(.uncommitted) > 0 {
        notes.append(
          "\(FileSystem.name(of: log)): \(NumberText.counted(count(.uncommitted), "frame")) of a save that was never finished were left out."
        )
      }
      if image.log?.isCut == true {
        notes.append("\(FileSystem.name(of: log)) is cut off: what followed is lost.")
        isPartial = true
      }
    }
    logPath = isLogApplied ? log : nil
    self.image = image
    let list = try SchemaList(image)
    objects = list.objects
    isSchemaWhole = list.isWhole
    let tables = objects.filter {
      $0.object.type == "table" && $0.root > 0 && !$0.object.isWithoutRowID
    }.map(\.root)
    var trees = try TreeMap(
      image, roots: [1] + tables, isComplete: isSchemaWhole, isForAll: true)
    let mixed = try Self.mixed(image, list, hasHoles: !trees.holes.isEmpty)
    trees.doubt = mixed != nil ? .all : isMixed ? .frames : .none
    if mixed != nil { try trees.adoptStrays() }
    self.trees = trees
    if let mixed {
      notes.append(mixed)
      distrust = "pages of two stores are mixed, and rows may belong to the other one"
      (isMixed, isPartial, hidesRows) = (true, true, true)
    }
    if let log, isLogApplied {
      let count = try rowsOfLog()
      if count > 0 {
        notes.append(
          "\(count == 1 ? "1 row is" : "\(NumberText.grouped(count)) rows are") read from \(FileSystem.name(of: log)): it does not contradict the main file, but a -wal does not say which store it belongs to."
        )
      }
    }
  }

  /// What is reported where another store's -wal was left out.
  static let lackedOwnLog =
    "If the store had a -wal of its own, what was saved only in that one is missing."

  /// What is reported of a -wal that may be another store's.
  package static let keysBeyondCounters =
    "It has objects with keys beyond the store's counters (Z_MAX), as only a -wal of another store has, or rows that were added by SQL without Core Data."

  /// What is reported about a -wal of which nothing shows whose it is.
  package static func unvouched(_ count: Int) -> String {
    "Nothing in it contradicts the main file, but nothing shows that it belongs to this store either: no object on its pages is in the main file with the same values. \(count == 1 ? "1 object" : "\(count) objects") in it may be of another store."
  }

  /// What is reported about a file that was saved as text.
  package static let savedAsText =
    "The file was opened as text and saved: bytes that were not valid text became EF BF BD, and their values are lost."

  /// How many rows of tables stand in frames of the -wal that are read.
  private func rowsOfLog() throws -> Int {
    var count = 0
    for (number, _) in image.log?.newest ?? [:] where number > 1 {
      guard trees.role(of: number) == .leaf, trees.owner(of: number) > 1,
        let page = try image.page(number), case .frame = page.origin
      else { continue }
      count +=
        TreePage(page.bytes, number: number, usable: image.usable)?.cells(in: page.bytes).count ?? 0
    }
    return count
  }

  /// Pages that hold nothing that a page can, where the schema does not say whose they were.
  package func pagesOfNothing() throws -> Int {
    guard !isSchemaWhole else { return 0 }
    var count = 0
    // The first page is no table's but the schema's, which is known to be gone.
    for number in 2..<max(2, image.pageCount + 1) where trees.role(of: number) == .unknown {
      guard let kind = try image.kind(of: number), TreePage.Kind(rawValue: kind) == nil,
        let page = try image.page(number), try !trees.isFreeOrOfSchema(number)
      else { continue }
      // What is too long for a row begins with the number of the page that follows.
      let next = page.bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      if next > image.pageCount || !page.bytes.contains(where: { $0 != 0 }) { count += 1 }
    }
    return count
  }

  /// Pages that the header counts and that are not there, where the schema does not say whose they were.
  package var missingPages: Int {
    guard !isSchemaWhole, image.header.isMagic, image.log?.newest.isEmpty != false else { return 0 }
    return max(0, image.header.pages - image.pageCount)
  }

  /// How its texts are written.
  package var encoding: FileHeader.Encoding { image.header.encoding }

  /// Pages that stand where their table has other keys.
  package var pagesOutOfPlace: Int { trees.outOfPlace.count }

  /// Whether the database is somebody else's: all of its list of tables was read, and none is Core Data's; or
  /// nothing was ever put into it.
  package var isForeign: Bool {
    guard !objects.isEmpty else { return image.pageCount == 1 && trees.holes.isEmpty }
    return isSchemaWhole
      && !objects.contains { $0.object.type == "table" && $0.object.name.hasPrefix("Z_") }
  }

  /// The entries that leaves of the indexes hold, each with its index, its table and the key of its row: only where
  /// all of sqlite_master was read, and the index leaves no row out.
  ///
  /// - Parameter names: the indexes that are read; `nil` for all.
  package func entriesOfIndexes(
    _ names: Set<String>? = nil,
    _ body: (_ index: String, _ table: String, _ key: Int64, borrowing Record) throws -> Void
  ) throws {
    guard isSchemaWhole else { return }
    let tables = Set(objects.filter { $0.object.type == "table" }.map(\.object.name))
    for entry in objects where entry.object.type == "index" && entry.root > 1 {
      guard names?.contains(entry.object.name) != false, let sql = entry.object.sql,
        !sql.uppercased().contains(" WHERE "),
        let table = Self.table(ofIndex: sql), tables.contains(table)
      else { continue }
      try IndexTree.leaves(of: entry.root, in: image) { leaf in
        var entries = IndexEntries(image)
        try entries.entries(of: leaf) { key, record in
          try body(entry.object.name, table, key, record)
        }
      }
    }
  }

  /// Which of some keys a table has by an index that leaves no row out.
  ///
  /// - Returns: `nil` where no such index can be read to its end.
  func keys(among keys: Set<Int64>, ofIndexesOn table: String) throws -> Set<Int64>? {
    guard isSchemaWhole, trees.doubt == .none else { return nil }
    for entry in objects where entry.object.type == "index" && entry.root > 1 {
      let sql = entry.object.sql
      let own = sql.map(Self.table(ofIndex:)) ?? Self.table(ofOwnIndex: entry.object.name)
      guard own == table, sql?.uppercased().contains(" WHERE ") != true else { continue }
      var found: Set<Int64> = []
      let isWhole = try IndexTree.rows(of: entry.root, in: image) { record in
        guard record.count > 1, let key = record.integer(record.count - 1), keys.contains(key)
        else { return }
        found.insert(key)
      }
      if isWhole { return found }
    }
    return nil
  }

  /// The table of an index that SQLite makes itself, by its name.
  private static func table(ofOwnIndex name: String) -> String? {
    let start = "sqlite_autoindex_"
    guard name.hasPrefix(start), let end = name.lastIndex(of: "_") else { return nil }
    return end > start.endIndex ? String(name[start.endIndex..<end]) : nil
  }

  /// The table that an index is on, by its statement as Core Data writes it.
  static func table(ofIndex sql: String) -> String? {
    let words = sql.split(whereSeparator: { $0 == " " || $0 == "(" })
    guard let place = words.firstIndex(where: { $0.uppercased() == "ON" }),
      place + 1 < words.count
    else { return nil }
    return words[place + 1].trimmingQuotes
  }

  /// How many columns each table has, by its own statement.
  ///
  /// - Throws: `SQLiteError` where no database can be made to ask.
  func columnCounts() throws -> [String: Int] {
    let connection = try Connection(path: ":memory:", mode: .create)
    var counts: [String: Int] = [:]
    for entry in objects where entry.object.type == "table" && !entry.object.isSQLites {
      guard let sql = entry.object.sql, sql.prefix(13).uppercased() == "CREATE TABLE ",
        (try? connection.run(sql)) != nil
      else { continue }
      counts[entry.object.name] =
        try connection.rows("PRAGMA table_info(\(quoted(entry.object.name)))").count
    }
    return counts
  }

  /// Whether all of sqlite_master was read and lists no table of that name.
  func lacksTable(_ name: String) -> Bool {
    isSchemaWhole && !objects.contains { $0.object.type == "table" && $0.object.name == name }
  }

  /// A text of a record, whatever the database's encoding.
  static func text(_ record: borrowing Record, _ column: Int, _ image: DatabaseImage) -> String? {
    guard record.kind(column) == .text, let bytes = record.content(column) else { return nil }
    return image.header.encoding.text(bytes)
  }

  /// The log to lay over the main file: its own, else one that lost its name.
  static func log(of path: String, _ notes: inout [String]) throws -> String? {
    let own = path + "-wal"
    if let status = try FileSystem.present(own), status.size > LogHeader.size {
      guard try !WriteAheadLog(besideStore: path).isOlderThanStore else {
        notes.append("The -wal is older than the store beside it, and was left out.")
        return nil
      }
      return own
    }
    guard let stray = StrayLog.all(beside: path).first(where: { $0.kind == .log }) else {
      return nil
    }
    notes.append("\(stray.name) was used as the store's -wal, which is missing.")
    return (FileSystem.parent(of: path) ?? ".") + "/" + stray.name
  }
}

extension Substring {
  /// Without the quotes of an SQL name.
  fileprivate var trimmingQuotes: String {
    guard let first, "\"`[".contains(first), count > 2 else { return String(self) }
    return String(dropFirst().dropLast())
  }
}
