import Files
import ManagedModel
import SQLite
import StoreTables

extension Store {
  /// Reads a part of a value as bytes, from the row or from its file of external data.
  ///
  /// - Returns: `nil` where the object or the value is not there; a file that is missing or cannot be read is a part of no
  ///   bytes whose ``StoredContent/location`` says so.
  /// - Throws: ``CoreDataError`` for an unknown entity or attribute, or when SQLite fails.
  public func content(
    of property: String, in id: ObjectID, from offset: Int = 0, count: Int
  ) throws -> StoredContent? {
    let (table, attribute, column) = try place(of: property, in: id)
    guard database.contains(table.table) else { return nil }
    let offset = max(0, offset)
    let count = max(0, count)
    return try reading {
      // Cast, a text would be bytes of the database's own encoding.
      let isUTF8 = try connection.value("PRAGMA encoding")?.text == "UTF-8"
      let bytes = isUTF8 ? "CAST(\(column) AS BLOB)" : "strata_bytes(\(column))"
      let head = try connection.rows(
        """
        SELECT typeof(\(column)), length(\(bytes)), substr(\(bytes), 1, 300) FROM \(quoted(table.table)) WHERE Z_PK = ?
        """, [.integer(id.key)])
      guard let row = head.first, row.count == 3, let type = row[0].text, type != "null",
        let length = row[1].integer
      else { return nil }
      var skipped = 0
      if type == "blob", attribute.allowsExternalBinaryDataStorage, let head = row[2].blob {
        switch MarkedBytes(head) {
        case .file(let name): return try externalContent(name, from: offset, count: count)
        case .row(let own): skipped = head.count - own.count
        }
      }
      let total = max(0, Int(length) - skipped)
      let part = try connection.value(
        """
        SELECT substr(\(bytes), ?, ?) FROM \(quoted(table.table)) WHERE Z_PK = ?
        """,
        [
          .integer(Int64(min(offset, total) + skipped + 1)), .integer(Int64(min(count, total))),
          .integer(id.key),
        ])
      return StoredContent(
        total: total, offset: min(offset, total), bytes: part?.blob ?? [],
        isText: type != "blob")
    }
  }

  /// Where a text next occurs in a value, as an offset in its bytes; letters of ASCII count the
  /// same in either case.
  ///
  /// - Parameters:
  ///   - offset: the search begins here; backwards, it ends before here.
  ///   - isCancelled: asked between pieces; `true` ends in a ``CoreDataError`` of kind cancelled.
  /// - Throws: ``CoreDataError`` as ``content(of:in:from:count:)`` does.
  public func find(
    _ text: String, in property: String, of id: ObjectID, from offset: Int,
    backwards: Bool = false, isCancelled: () -> Bool = { false }
  ) throws -> Int? {
    let needle = ByteNeedle(String(decoding: text.utf8.prefix(1_000), as: UTF8.self))
    guard !needle.isEmpty else { return nil }
    let piece = 4 << 20
    var found: Int?
    var start = backwards ? 0 : max(0, offset)
    while true {
      try CoreDataError.check(isCancelled, path)
      guard
        let part = try content(of: property, in: id, from: start, count: piece + needle.count - 1),
        !part.bytes.isEmpty
      else { return found }
      if backwards {
        var from = 0
        while let place = part.bytes.withUnsafeBufferPointer({ needle.first(in: $0, from: from) }),
          start + place < offset
        {
          found = start + place
          from = place + 1
        }
        if start + piece >= offset { return found }
      } else if let place = part.bytes.withUnsafeBufferPointer({ needle.first(in: $0, from: 0) }) {
        return start + place
      }
      start += piece
      if start >= part.total { return found }
    }
  }

  private func place(
    of property: String, in id: ObjectID
  ) throws -> (EntityTable, Attribute, column: String) {
    let table = try knownTable(of: id.entity)
    guard let entry = table.attribute(named: property) else {
      throw unknownProperty(
        property, in: id.entity,
        try columns(of: id.entity).filter {
          if case .attribute = $0.kind { true } else { false }
        })
    }
    return (table, entry.attribute, quoted(entry.column))
  }

  private func externalContent(
    _ name: String, from offset: Int, count: Int
  ) throws -> StoredContent {
    func without(_ location: DataValue.Location) -> StoredContent {
      StoredContent(total: 0, offset: 0, bytes: [], isText: false, location: location)
    }
    switch ExternalFolder(files).place(of: name) {
    case .missing: return without(.missing(name: name))
    case .unreadable(let error):
      return without(.unreadable(name: name, reason: error.message))
    case .file(let file):
      return StoredContent(
        total: file.size, offset: min(offset, file.size),
        bytes: try file.read(at: offset, count: count), isText: false,
        location: .file(name: name))
    }
  }
}

/// A part of what one attribute of one object holds, in bytes: of text, its UTF-8.
public struct StoredContent: Sendable, Equatable {
  /// Bytes of the whole value.
  public var total: Int
  /// Where the part begins.
  public var offset: Int
  /// The part.
  public var bytes: [UInt8]
  /// Whether SQLite keeps it as text.
  public var isText: Bool
  /// Where the value is.
  public var location = DataValue.Location.row

  /// A part of bytes that are somewhere.
  package init(
    total: Int, offset: Int, bytes: [UInt8], isText: Bool,
    location: DataValue.Location = .row
  ) {
    (self.total, self.offset, self.bytes) = (total, offset, bytes)
    (self.isText, self.location) = (isText, location)
  }

  /// Where a text next occurs in the part, as ``Store/find(_:in:of:from:backwards:isCancelled:)`` finds it in
  /// the whole.
  package func place(of text: String, from start: Int, backwards: Bool) -> Int? {
    let needle = ByteNeedle(String(decoding: text.utf8.prefix(1_000), as: UTF8.self))
    guard !needle.isEmpty else { return nil }
    return bytes.withUnsafeBufferPointer { bytes in
      guard backwards else {
        return needle.first(in: bytes, from: max(0, start - offset)).map { $0 + offset }
      }
      var found: Int?
      var from = 0
      while let place = needle.first(in: bytes, from: from), place + offset < start {
        found = place + offset
        from = place + 1
      }
      return found
    }
  }
}

extension Store {
  /// Most bytes of a row that is reported as a statement.
  private static let insertLimit = 1 << 20

  /// The INSERT statement that makes an object's row as it is, under the names of SQLite.
  ///
  /// - Throws: ``CoreDataError`` where there is no such object, or its row is larger than 1 MB.
  package func insertStatement(for id: ObjectID) throws -> String {
    let table = try knownTable(of: id.entity)
    let columns = database.tables[table.table]?.map(\.name) ?? []
    return try reading {
      let sizes = columns.map { "ifnull(length(\(quoted($0))), 0)" }.joined(separator: " + ")
      let size = try connection.value(
        "SELECT \(sizes.isEmpty ? "0" : sizes) FROM \(quoted(table.table)) WHERE Z_PK = ?",
        [.integer(id.key)])
      guard let bytes = size?.integer else {
        throw CoreDataError(.usage, "there is no object \(id)", path: path)
      }
      guard bytes <= Self.insertLimit else {
        throw CoreDataError(.refused, "the row has \(bytes) bytes: too many for a statement")
      }
      let values = columns.map { "quote(\(quoted($0)))" }.joined(separator: " || ', ' || ")
      let text = try connection.value(
        "SELECT \(values) FROM \(quoted(table.table)) WHERE Z_PK = ?", [.integer(id.key)])?.text
      let names = columns.map(quoted).joined(separator: ", ")
      return "INSERT INTO \(quoted(table.table)) (\(names)) VALUES (\(text ?? ""));"
    }
  }
}
