import ManagedModel

/// The models that Swift source declares for SwiftData: every version, with the plan of steps between.
///
/// It is read, not compiled: what could not be seen is named in ``remarks`` and in each version's
/// ``SourceVersion/remarks``, and the rest stands.
public struct SourceModels: Sendable {
  /// The versions, the oldest first: every VersionedSchema, or, where there is none, one of all.
  public let versions: [SourceVersion]
  /// The name of the version that the app uses now.
  public let currentName: String?
  /// The migration plan, where there is one.
  public let plan: SourcePlan?
  /// What could not be read, whichever version it belongs to.
  public let remarks: [SourceRemark]
  /// What comments that begin with `strata:` say.
  public let notes: [SourceRemark]

  /// A file of source.
  public struct File: Sendable {
    /// Its path, by which places name it.
    public var path: String
    /// Its text in UTF-8.
    public var bytes: [UInt8]

    /// Names the bytes.
    public init(path: String, bytes: [UInt8]) {
      self.path = path
      self.bytes = bytes
    }
  }

  /// Reads source; any bytes give something.
  ///
  /// - Parameter name: what the version is called where there is no VersionedSchema.
  public init(_ files: [File], name: String = "current") {
    let read = files.map { SwiftFile(path: $0.path, bytes: $0.bytes) }
    let table = TypeTable(read)
    var reading = SchemaReader(table: table)
    let schemas = reading.schemas()
    let plan = reading.plan(schemas)
    let remarks = read.flatMap(\.remarks) + table.remarks + reading.remarks
    var versions: [SourceVersion] = []
    var readers: [Int: EntityReader] = [:]
    for schema in schemas {
      versions.append(
        SourceVersion(
          name: schema.name, identifier: schema.identifier,
          place: schema.place, listed: schema.listed, scope: schema.path, table: table,
          remarks: schema.remarks, warnings: remarks, readers: &readers))
    }
    if let plan {
      let order = Dictionary(
        plan.versions.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
      let places = versions.enumerated().sorted { one, other in
        (order[one.element.name] ?? -1, one.offset) < (
          order[other.element.name] ?? -1, other.offset
        )
      }
      versions = places.map(\.element)
    }
    var current = plan?.versions.last { name in versions.contains { $0.name == name } }
    let uses = read.flatMap(\.containers)
    if current == nil {
      let named = uses.compactMap(\.schema).compactMap { reading.name(of: $0, schemas) }
      current = named.last ?? versions.last?.name
    }
    if versions.isEmpty {
      let listed = reading.unversioned(uses)
      if !listed.isEmpty {
        versions = [
          SourceVersion(
            name: name, identifier: "1.0.0", place: nil, listed: listed, scope: [],
            table: table, remarks: [], warnings: remarks, readers: &readers)
        ]
        current = name
      }
    }
    self.versions = versions
    self.plan = plan
    currentName = current
    self.remarks = remarks
    notes = read.flatMap { file in
      file.notes.map { SourceRemark(SourcePlace(path: file.path, line: $0.line), $0.text) }
    }
  }

  /// The version that the app uses now.
  public var current: SourceVersion? { versions.first { $0.name == currentName } }

  /// The version of that name, whole or without the types around it, or of that identifier where
  /// only one has it; `nil` where none is meant.
  public func version(named name: String) -> SourceVersion? {
    if let exact = versions.first(where: { $0.name == name }) { return exact }
    for matches: (SourceVersion) -> Bool in [
      { $0.name.hasSuffix("." + name) }, { $0.identifier == name },
    ] {
      let found = versions.filter(matches)
      if found.count == 1 { return found.first }
    }
    return nil
  }
}
