import Files
import ManagedModel
import ManagedStore
import SQLite

/// Files of external data that come along from the older store, under new names.
final class MergedFiles {
  private let map: ObjectMap
  private let told: MergeTelling
  private let old: ExternalFolder
  private let new: ExternalFolder
  /// Makes the folder for them; `nil` where nothing is to be written.
  private let output: (() throws -> Folder)?
  private var folder: Folder?

  init(_ map: ObjectMap, _ told: MergeTelling, output: (() throws -> Folder)?) {
    (self.map, self.told, self.output) = (map, told, output)
    (old, new) = (ExternalFolder(map.stores.old.files), ExternalFolder(map.stores.new.files))
  }

  private func bytes(_ column: String, of table: String, _ key: Int64) throws -> [UInt8]? {
    let statement = try map.connection.cached(
      "SELECT \(quoted(column)) FROM \(table) WHERE Z_PK = ?")
    return try statement.firstRow([.integer(key)]).first?.blob
  }

  /// Whether two objects have the same data, wherever either keeps it.
  func isSame(
    _ attribute: MergedEntity.Attribute, of entity: MergedEntity, a: Int64, r: Int64
  ) throws -> Bool {
    let one = try bytes(attribute.old, of: "src." + quoted(entity.old.table), a)
    let other = try bytes(attribute.new, of: "now." + quoted(entity.new.table), r)
    guard let one, let other else { return one == other }
    let (former, value) = (digest(one, old), digest(other, new))
    return former == value
  }

  /// Whether the older store's value is the name of a missing file, and the newer store has data.
  func hasContentOnlyInNew(
    _ attribute: MergedEntity.Attribute, of entity: MergedEntity, a: Int64, r: Int64
  ) throws -> Bool {
    guard let one = try bytes(attribute.old, of: "src." + quoted(entity.old.table), a),
      let other = try bytes(attribute.new, of: "now." + quoted(entity.new.table), r)
    else { return false }
    return isMissing(one, old) && !isMissing(other, new)
  }

  private func isMissing(_ column: [UInt8], _ folder: ExternalFolder) -> Bool {
    guard case .file(let name) = MarkedBytes(column), case .missing = folder.place(of: name) else {
      return false
    }
    return true
  }

  /// What distinguishes data from other data; of a missing file its name.
  private func digest(_ column: [UInt8], _ folder: ExternalFolder) -> String {
    switch MarkedBytes(column) {
    case .row(let bytes): return "\(bytes.count) \(ByteText.hex(Digest.sha256(bytes)))"
    case .file(let name):
      guard case .file(let file) = folder.place(of: name), let sha256 = try? file.sha256() else {
        return "missing \(name)"
      }
      return "\(file.size) \(sha256.lowercased())"
    }
  }

  /// Brings the files of all objects of an entity that come in.
  func bringAll(of entity: MergedEntity) throws {
    for attribute in entity.attributes where attribute.allowsFiles {
      let keys = try map.connection.rows(
        """
        SELECT m.a, m.r FROM \(map.rows(of: entity)) AND m.kind > 0
        AND \(MarkedBytes.isFile("o." + quoted(attribute.old)))
        """)
      for row in keys {
        guard let a = row[0].integer, let r = row[1].integer else { continue }
        try bring(attribute, of: entity, a: a, r: r)
      }
    }
  }

  /// Brings the files of some properties of an object.
  func bring(_ names: [String], of entity: MergedEntity, a: Int64, r: Int64) throws {
    for attribute in entity.attributes where attribute.allowsFiles && names.contains(attribute.name)
    {
      try bring(attribute, of: entity, a: a, r: r)
    }
  }

  private func bring(
    _ attribute: MergedEntity.Attribute, of entity: MergedEntity, a: Int64, r: Int64
  ) throws {
    guard let column = try bytes(attribute.old, of: "src." + quoted(entity.old.table), a),
      case .file(let name) = MarkedBytes(column)
    else { return }
    switch old.place(of: name) {
    case .missing:
      // As in the older store: the value names a file that is not there, nor is it another one.
      told.report.missingFiles += 1
      if case .missing = new.place(of: name) { return }
      try set(attribute, of: entity, r, to: UUIDText.random(), in: column, for: name)
    case .unreadable(let error):
      var refusal = error
      refusal.kind = .refused
      throw refusal
    case .file(let file):
      let other = UUIDText.random()
      try copy(file, as: other)
      told.report.files += 1
      try set(attribute, of: entity, r, to: other, in: column, for: name)
    }
  }

  private func set(
    _ attribute: MergedEntity.Attribute, of entity: MergedEntity, _ r: Int64, to other: String,
    in column: [UInt8], for name: String
  ) throws {
    let rest = column.dropFirst(1 + name.utf8.count)
    let named = MarkedBytes.file(name: other).column.dropLast() + rest
    try map.connection.run(
      """
      UPDATE main.\(quoted(entity.new.table)) SET \(quoted(attribute.new)) = ? WHERE Z_PK = ?
      """, [.blob(Array(named)), .integer(r)])
  }

  private func copy(_ file: OpenFile, as name: String) throws {
    guard let output else { return }
    let folder = try self.folder ?? output()
    self.folder = folder
    let made = try folder.create(name)
    try FileSystem.copy(file, into: made) { [told] _ in try told.check() }
    guard try file.sha256() == made.sha256() else {
      throw CoreDataError(
        .failed, "an external data file differs from its original", path: made.path)
    }
    FileAttributes.makeOrdinary(made)
    try made.sync()
  }
}
