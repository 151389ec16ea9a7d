import Files
import ManagedModel
import SQLite

/// All that an atomic store holds, read once and kept in a private file, so that a store of any size takes the same
/// memory.
package final class AtomicContents {
  /// Where the store is.
  package let path: String
  /// Which kind of store it is.
  package let form: AtomicStoreForm
  /// The store's identity; `nil` where it states none.
  package let uuid: String?
  /// What the store says of itself; `nil` where it is not there or cannot be read.
  package let metadata: [String: PropertyListValue]?
  /// Whether the metadata can be written again as they are.
  let isMetadataPlain: Bool
  /// Objects in it.
  package private(set) var objects = 0
  /// What of the file is not to be had.
  package private(set) var losses: [AtomicFault] = []
  /// What else is wrong with it.
  package private(set) var warnings: [AtomicFault] = []

  let schema: AtomicSchema
  let connection: Connection
  /// Names of entities by their numbers in the private file.
  private(set) var entities: [String] = []
  /// Names of relationships, by their entity's number and their own in the private file.
  private(set) var relationships: [(entity: Int, name: String)] = []
  private let folder: PrivateFolder

  /// Reads a store.
  ///
  /// - Parameter progress: called now and then with the objects so far; it throws to stop.
  /// - Throws: ``CoreDataError`` of kind unreadable where it is no atomic store, or nothing of it can be read.
  package init(path: String, progress: @escaping (Int) throws -> Void = { _ in }) throws {
    self.path = path
    let file = try OpenFile(path)
    guard
      let form = AtomicStoreForm(head: try file.read(at: 0, count: AtomicStoreForm.headSize))
    else {
      throw CoreDataError(
        .unreadable, code: .persistentStoreInvalidType, "neither an XML store nor a binary one",
        path: path)
    }
    self.form = form
    let folder = try PrivateFolder(.disk)
    self.folder = folder
    do {
      let connection = try Connection(
        path: folder.path + "/objects", mode: .create, isDefensive: false)
      self.connection = connection
      try connection.execute(
        """
        PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -8000;
        CREATE TABLE object (place INTEGER PRIMARY KEY, ref TEXT, key INTEGER, entity INTEGER, content BLOB);
        CREATE TABLE written (owner INTEGER, relationship INTEGER, place INTEGER, ref TEXT);
        BEGIN
        """)
      let staging = try ObjectStaging(connection)
      var schema = AtomicSchema()
      var count = 0
      func take(
        _ object: AtomicObject, _ links: [String: AtomicSchema.Link]
      ) throws(CoreDataError) {
        guard schema.add(object, links: links) else {
          throw CoreDataError(
            .unreadable, "the store names more than \(AtomicSchema.mostNames) properties")
        }
        do {
          try staging.add(object)
          count += 1
          if count % 1000 == 0 { try progress(count) }
        } catch let error as SQLiteError {
          throw CoreDataError(sqlite: error, path: path, kind: .failed)
        } catch { throw CoreDataError(error, or: .failed) }
      }
      let lastKey: Int64
      var losses: [AtomicFault] = []
      var (lost, partial) = (0, 0)
      switch form {
      case .xml:
        let reader = try XMLStoreReader.read(file, take)
        isMetadataPlain = reader.isMetadataPlain
        (uuid, metadata, lastKey) = (reader.uuid, reader.metadata, reader.lastKey)
        if let breach = reader.breach {
          losses.append(.init(.damage, "The file is damaged: \(breach)."))
        }
        partial = reader.partialObjects
        lost = reader.lostObjects
      case .binary:
        let reader = try BinaryStoreReader.read(file) { try take($0, [:]) }
        isMetadataPlain = reader.isMetadataPlain
        (uuid, metadata, lastKey) = (reader.uuid, reader.metadata, reader.lastKey)
        if let breach = reader.metadataBreach {
          losses.append(.init(.metadata, "The metadata cannot be read: \(breach)."))
        }
        if let breach = reader.breach {
          losses.append(.init(.damage, "The file is damaged: \(breach)."))
        }
        partial = reader.partialObjects
        lost = reader.lostObjects
      }
      if partial > 0 {
        losses.append(
          .init(
            .damage, "Of \(NumberText.counted(partial, "object")) only a part could be read.",
            count: partial))
      }
      if lost > 0 {
        losses.append(
          .init(.damage, "\(NumberText.counted(lost, "object")) could not be read.", count: lost))
      }
      self.schema = schema
      self.entities = staging.entities
      self.relationships = staging.relationships
      objects = count
      try staging.settle(lastKey: lastKey)
      self.losses = losses + staging.losses
      warnings = staging.warnings
      if metadata?["NSStoreModelVersionHashes"] == nil,
        !losses.contains(where: { $0.kind == .metadata })
      {
        warnings.append(
          .init(
            .metadata,
            "The metadata have no version hashes: Core Data opens the store only with NSIgnorePersistentStoreVersioningOption, and it is not known of which model it is."
          ))
      }
    } catch let error as SQLiteError {
      throw CoreDataError(sqlite: error, path: path, kind: .failed)
    } catch let error as CoreDataError {
      throw error.at(path: path)
    }
  }

  /// The version hashes that the store states, by entity; empty where it states none.
  package var versionHashes: [String: VersionHash] {
    let stated = metadata?["NSStoreModelVersionHashes"]?.dictionary ?? [:]
    return stated.compactMapValues { $0.data.flatMap(VersionHash.init(bytes:)) }
  }

  /// Names of the entities that the store knows: those of the hashes, else those of its objects.
  package var entityNames: [String] {
    let stated = versionHashes.keys
    return (stated.isEmpty ? Array(schema.entities.keys) : Array(stated)).sorted()
  }
}

/// Puts objects into the private file.
private final class ObjectStaging {
  private(set) var entities: [String] = []
  private(set) var relationships: [(entity: Int, name: String)] = []
  /// What of the file cannot be kept as it stands.
  private(set) var losses: [AtomicFault] = []
  /// What else is wrong with it.
  private(set) var warnings: [AtomicFault] = []
  private let connection: Connection
  private let object: Statement
  private let link: Statement
  private var numbers: [String: Int] = [:]
  /// Numbers of relationships by their names, for each entity.
  private var linkNumbers: [[String: Int]] = []
  private var place: Int64 = 0

  init(_ connection: Connection) throws {
    self.connection = connection
    object = try connection.prepare("INSERT INTO object VALUES (?, ?, ?, ?, ?)")
    link = try connection.prepare("INSERT INTO written VALUES (?, ?, ?, ?)")
  }

  func add(_ object: AtomicObject) throws {
    place += 1
    let entity = number(of: object.entity)
    self.object.clear()
    try self.object.bind(.integer(place), at: 0)
    try self.object.bind(.text(object.reference), at: 1)
    if let key = Self.key(object.reference) { try self.object.bind(.integer(key), at: 2) }
    try self.object.bind(.integer(Int64(entity)), at: 3)
    try self.object.bind(.blob(object.encoded), at: 4)
    try self.object.step()
    for (name, references) in object.relationships {
      let number = number(of: name, entity)
      for (index, reference) in references.enumerated() {
        link.clear()
        try link.bind(.integer(place), at: 0)
        try link.bind(.integer(Int64(number)), at: 1)
        try link.bind(.integer(Int64(index)), at: 2)
        try link.bind(.text(reference), at: 3)
        try link.step()
      }
    }
  }

  private func number(of entity: String) -> Int {
    if let known = numbers[entity] { return known }
    numbers[entity] = entities.count
    entities.append(entity)
    linkNumbers.append([:])
    return entities.count - 1
  }

  private func number(of relationship: String, _ entity: Int) -> Int {
    if let known = linkNumbers[entity][relationship] { return known }
    linkNumbers[entity][relationship] = relationships.count
    relationships.append((entity, relationship))
    return relationships.count - 1
  }

  /// The number in `z102`, or in a key that is a number; `nil` for any other name.
  private static func key(_ reference: String) -> Int64? {
    let digits = reference.hasPrefix("z") ? reference.dropFirst() : reference[...]
    guard let first = digits.utf8.first, (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(first)
    else { return nil }
    return Int64(digits)
  }

  /// Gives a number to each object that has none of its own, and makes references of names.
  func settle(lastKey: Int64) throws {
    try connection.execute(
      "COMMIT; BEGIN; CREATE INDEX byRef ON object (ref); CREATE INDEX byKey ON object (key)")
    // The first keeps a number that several have.
    let repeated = try connection.rows(
      """
      SELECT place FROM object o WHERE key IS NOT NULL
      AND EXISTS (SELECT 1 FROM object p WHERE p.key = o.key AND p.place < o.place)
      """
    ).compactMap { $0.first?.integer }
    for place in repeated {
      try connection.run("UPDATE object SET key = NULL WHERE place = ?", [.integer(place)])
    }
    let names =
      try connection.value(
        "SELECT count(*) - count(DISTINCT ref) FROM object")?.integer ?? 0
    if names > 0 {
      losses.append(
        .init(
          .ids,
          "\(NumberText.counted(names, "object")) \(names == 1 ? "has" : "have") an id that another has, too, and \(names == 1 ? "gets" : "get") a new one: references to it are taken for the first.",
          count: Int(names)))
    }
    let highest = try connection.value("SELECT max(key) FROM object")?.integer ?? 0
    if lastKey > 0, lastKey < highest {
      warnings.append(
        .init(
          .ids,
          "The counter of ids is \(lastKey), and the highest id is \(highest): Core Data would give ids out a second time."
        ))
    }
    var next = max(highest, lastKey)
    for row in try connection.rows("SELECT place FROM object WHERE key IS NULL ORDER BY place") {
      guard let place = row.first?.integer, next < Int64.max else { break }
      next += 1
      try connection.run(
        "UPDATE object SET key = ? WHERE place = ?", [.integer(next), .integer(place)])
    }
    try connection.execute(
      """
      CREATE TABLE edge (relationship INTEGER, owner INTEGER, destination INTEGER, place INTEGER);
      INSERT INTO edge SELECT w.relationship, o.key,
        (SELECT d.key FROM object d WHERE d.ref = w.ref ORDER BY d.place LIMIT 1), w.place
      FROM written w JOIN object o ON o.place = w.owner ORDER BY w.relationship, o.key, w.place;
      DROP TABLE written;
      """)
    let missing =
      try connection.value("SELECT count(*) FROM edge WHERE destination IS NULL")?.integer ?? 0
    if missing > 0 {
      losses.append(
        .init(
          .links,
          "\(NumberText.counted(missing, "reference")) to objects that are not in the file: left out.",
          count: Int(missing)))
      try connection.execute("DELETE FROM edge WHERE destination IS NULL")
    }
    try connection.execute(
      """
      CREATE INDEX byOwner ON edge (relationship, owner, place);
      CREATE INDEX byDestination ON edge (relationship, destination, owner);
      COMMIT
      """)
  }
}
