import Files
import ManagedModel
import SQLite
import StoreTables

/// Writes objects into a new store; it never touches one that is there.
///
/// The store grows in a private folder beside its place and gets its names in ``finish()``, with its
/// external data, so that half a store is never mistaken for one; without `finish()` it goes away with the
/// writer.
///
///     let writer = try StoreWriter(creating: "Recipes.sqlite", model: model)
///     let julia = try writer.insert("Person", attributes: ["name": .string("Julia")])
///     try writer.insert(
///       "Recipe", attributes: ["title": .string("Carrot soup")], toOne: ["author": julia])
///     try writer.finish()
///
/// One caller at a time. Objects may refer to ones that are inserted later, by the keys that they
/// will have; nothing checks that they come.
public final class StoreWriter {
  /// Bytes from which a value that may be kept outside is: Core Data's limit is about 100 KB.
  public static let externalThreshold = 100 * 1024

  /// The path that the store gets when it is finished.
  public let path: String
  /// The store's identity, as its metadata and the URIs of its objects have it.
  public let uuid: String
  /// Objects written so far.
  public private(set) var count = 0

  /// Whether objects may break a uniqueness constraint: its index is left out then.
  package var allowsBrokenConstraints = false
  /// Indexes that ``finish()`` left out.
  package private(set) var brokenConstraints: [String] = []

  private let schema: StoreSchema
  private let output: PendingOutput
  /// Names of the folder of external data and of the one in it that Core Data uses.
  private let dataNames: (support: String, inner: String)
  private let file: NewFile
  private var connection: Connection?
  private var insertions: [String: EntityInsertion] = [:]
  private var lastKeys: [String: Int64] = [:]
  private var pending = 0
  /// Files of large values that were written.
  package private(set) var externalCount = 0
  private static let batch = 20_000

  /// - Parameters:
  ///   - path: must not exist yet.
  ///   - uuid: the store's identity as upper-case text; a random one when `nil`.
  /// - Throws: ``CoreDataError`` when the file or one that would be taken for the store's exists, when
  ///   another process is writing it, or when it cannot be written.
  public convenience init(creating path: String, model: Model, uuid: String? = nil) throws {
    try self.init(creating: path, model: model, uuid: uuid, metadata: [:])
  }

  /// The same with metadata of a store that the new one is made of: see ``StoreCreation``.
  package init(
    creating path: String, model: Model, uuid: String?, metadata: [String: PropertyListValue]
  ) throws {
    try NewStorePlace.require(path)
    try EntityNumbering.requireRoom(for: model, path: path)
    self.path = path
    self.uuid = uuid ?? UUIDText.random()
    let files = StoreFiles(path: path)
    dataNames = (
      FileSystem.name(of: files.supportFolder), FileSystem.name(of: files.externalDataFolder)
    )
    output = try PendingOutput(for: path)
    file = try output.folder.create(FileSystem.name(of: path))
    FileAttributes.makeOrdinary(file)
    // Nothing is lost by a crash in a file that is nobody's yet.
    (connection, schema) = try StoreCreation.connection(
      at: file.path, model: model, uuid: self.uuid, withIndexes: false,
      setup: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -12000;",
      isMade: true, metadata: metadata)
  }

  deinit {
    // SQLite closes its files before their folder is removed.
    insertions = [:]
    connection = nil
  }

  /// The key that the next object of the entity will get: keys run through a whole hierarchy.
  public func nextKey(of entity: String) -> Int64 {
    (lastKeys[schema.model.root(of: entity)] ?? 0) + 1
  }

  /// Adds one object; properties that are not named are NULL, defaults are the caller's business.
  ///
  /// - Parameters:
  ///   - key: its primary key, above those given before; the next free one when `nil`.
  ///   - positions: place in the ordered inverse of a to-one, counted from 0; without one the
  ///     object comes after those inserted before.
  ///   - toMany: many-to-many relationships, given on one side, in order where ordered; and
  ///     to-many ones without an inverse, whose objects must have been inserted.
  /// - Throws: ``CoreDataError``: usage for an unknown entity, property or unfitting value.
  @discardableResult
  public func insert(
    _ entity: String, key: Int64? = nil, attributes: [String: AttributeValue] = [:],
    toOne: [String: ObjectID] = [:], positions: [String: Int] = [:],
    toMany: [String: [ObjectID]] = [:]
  ) throws -> ObjectID {
    try insert(
      entity, key: key, attributes: attributes, unfit: [:], toOne: toOne, positions: positions,
      toMany: toMany)
  }

  /// The same with values that are not of their attributes' types, which are kept as text.
  package func insert(
    _ entity: String, key: Int64?, attributes: [String: AttributeValue], unfit: [String: String],
    toOne: [String: ObjectID], positions: [String: Int], toMany: [String: [ObjectID]] = [:]
  ) throws -> ObjectID {
    try writing { connection in
      let insertion = try insertion(of: entity, connection)
      let last = lastKeys[insertion.root] ?? 0
      let key = key ?? last + 1
      guard key > last else {
        throw CoreDataError(
          .usage, "the key \(key) is not greater than those before it", entity: entity)
      }
      var values = insertion.row(key)
      for (name, value) in attributes {
        guard let slot = insertion.attributes[name] else {
          throw insertion.unknown(name, as: "attribute")
        }
        values[slot.index] = try column(value, slot, entity: entity, key: key)
      }
      for (name, text) in unfit {
        guard let slot = insertion.attributes[name] else {
          throw insertion.unknown(name, as: "attribute")
        }
        values[slot.index] = .text(text)
      }
      for (name, id) in toOne {
        guard let slot = insertion.toOnes[name] else {
          throw insertion.unknown(name, as: "to-one relationship")
        }
        guard let number = schema.numbers[id.entity],
          schema.model.isKind(id.entity, of: slot.destination)
        else {
          throw CoreDataError(
            .usage, "\(id) is no \(slot.destination)", entity: entity, property: name)
        }
        values[slot.index] = .integer(id.key)
        if let index = slot.entityIndex { values[index] = .integer(number) }
        if let index = slot.orderIndex {
          values[index] = .integer(
            positions[name].map { OrderKey.of(position: $0) } ?? OrderKey.of(key: key))
        }
      }
      try begin(connection)
      try insertion.statement.bind(values)
      try insertion.statement.step()
      for (name, ids) in toMany {
        guard let link = insertion.links[name] else {
          throw insertion.unknown(name, as: "to-many relationship without a to-one inverse")
        }
        try link.write(ids, of: key)
      }
      try written(key, insertion, connection)
      return ObjectID(entity: entity, key: key)
    }
  }

  /// Adds links of a to-many that is not kept in a to-one inverse, once its objects are inserted.
  ///
  /// - Parameters:
  ///   - keys: objects that the relationship can reference, in its order.
  ///   - inversePositions: the owner's place among those of each object, from 0, where the inverse is ordered; by the
  ///     owner's key if there is none.
  package func link(
    _ relationship: String, of owner: ObjectID, to keys: [Int64], inversePositions: [Int?]
  ) throws {
    try writing { connection in
      let insertion = try insertion(of: owner.entity, connection)
      guard let link = insertion.links[relationship] else {
        throw insertion.unknown(relationship, as: "to-many relationship without a to-one inverse")
      }
      try begin(connection)
      try link.write(keys, of: owner.key, inversePositions: inversePositions)
      pending += 1
    }
  }

  /// Adds the next object of a form, which has its values and links in the order of the form.
  package func insert(_ form: RowForm, _ row: RowForm.Row) throws {
    try writing { connection in
      let insertion = form.insertion
      let key = (lastKeys[insertion.root] ?? 0) + 1
      let statement = insertion.statement
      try insertion.begin(key)
      for (slot, value) in zip(form.attributes, row.attributes) where value != .null {
        try statement.bind(
          try column(value, slot, entity: insertion.entity, key: key), at: slot.index)
      }
      try form.bind(row.links, of: key)
      try begin(connection)
      try statement.step()
      for (link, keys) in zip(form.toManys, row.toManys) { try link.write(keys, of: key) }
      try written(key, insertion, connection)
    }
  }

  /// The form in which many objects of an entity are added: see ``RowForm``.
  package func form(
    of entity: String, attributes: [String], links: [RowForm.Link], toManys: [String]
  ) throws -> RowForm {
    try writing { connection in
      try RowForm(
        try insertion(of: entity, connection), attributes: attributes, links: links,
        toManys: toManys)
    }
  }

  /// Writes a file of external data that no object names.
  package func addUnnamedFile(_ bytes: [UInt8], number: Int) throws {
    try writing { _ in
      try writeExternal(bytes, named: externalName(entity: "", key: Int64(number), attribute: ""))
    }
  }

  private func writeExternal(_ bytes: [UInt8], named name: String) throws {
    let file = try output.folder.makeFolder(dataNames.support).makeFolder(dataNames.inner)
      .create(name)
    externalCount += 1
    FileAttributes.makeOrdinary(file)
    try file.append(bytes)
    try file.sync()
  }

  private func begin(_ connection: Connection) throws {
    if pending == 0 { try connection.execute("BEGIN") }
  }

  private func written(
    _ key: Int64, _ insertion: EntityInsertion, _ connection: Connection
  ) throws {
    lastKeys[insertion.root] = key
    count += 1
    pending += 1
    if pending >= Self.batch {
      try connection.execute("COMMIT")
      pending = 0
    }
  }

  /// Makes the indexes, computes derived attributes that were not given, writes the last keys, and
  /// puts the file in its place, synced and in WAL mode as Core Data leaves its stores, without a
  /// -wal.
  ///
  /// - Throws: ``CoreDataError`` of kind failed, also where a uniqueness constraint does not hold.
  public func finish() throws {
    try writing { connection in
      if pending == 0 { try connection.execute("BEGIN") }
      // In an order of its own, that of a dictionary being another on every run: SQLite's pages show it.
      for (root, key) in lastKeys.sorted(by: { $0.key < $1.key }) {
        try PrimaryKeys(connection).raise(schema.numbers[root] ?? 0, to: key)
      }
      // With the last rows: a commit after each index writes what the next one changes again.
      brokenConstraints = try schema.makeIndexes(
        on: connection, fills: true, leavesOutBroken: allowsBrokenConstraints)
      try connection.execute("COMMIT")
      pending = 0
      try connection.execute("PRAGMA journal_mode = WAL;")
    }
    // The last handle on a store in WAL mode takes the -wal along when it is closed.
    insertions = [:]
    connection = nil
    try file.sync()
    try file.requireName()
    if let support = try output.folder.folder(dataNames.support) {
      try support.folder(dataNames.inner)?.sync()
      try support.sync()
    }
    try output.finish(with: [dataNames.support])
  }

  private func insertion(of entity: String, _ connection: Connection) throws -> EntityInsertion {
    if let known = insertions[entity] { return known }
    let made = try EntityInsertion(entity, schema: schema, connection: connection)
    insertions[entity] = made
    return made
  }

  private func writing<T>(_ body: (Connection) throws -> T) throws -> T {
    guard let connection else {
      throw CoreDataError(.usage, "the store is finished", path: path)
    }
    do {
      return try body(connection)
    } catch let error as SQLiteError {
      throw CoreDataError(sqlite: error, path: path, kind: .failed)
    } catch let error as CoreDataError {
      throw error.at(path: path)
    }
  }

  /// A value as its column holds it.
  private func column(
    _ value: AttributeValue, _ slot: EntityInsertion.AttributeSlot, entity: String, key: Int64
  ) throws -> Value {
    guard case .bytes(let bytes) = value, slot.attribute.allowsExternalBinaryDataStorage,
      bytes.count > Self.externalThreshold
    else { return try slot.attribute.column(of: value, in: entity, isRanged: false) }
    let name = externalName(entity: entity, key: key, attribute: slot.attribute.name)
    try writeExternal(bytes, named: name)
    return .blob(MarkedBytes.file(name: name).column)
  }

  /// A UUID made of what it names, so that the same objects give the same files.
  private func externalName(entity: String, key: Int64, attribute: String) -> String {
    let digest = Digest.sha256(Array("\(uuid)/\(entity)/\(key)/\(attribute)".utf8))
    return UUIDText.text(UUIDText.version4(digest.prefix(16)))
  }
}
