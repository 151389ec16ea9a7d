import ManagedModel

/// The models that Swift source declares for SwiftData: every version, with the plan of steps between.
///
/// It is read, not compiled: what could not be seen is named in ``remarks`` and in each version's
/// ``SourceVersion/remarks``, and the rest stands.
public struct SourceModels: Sendable {
  /// The versions, the oldest first: every VersionedSchema, and behind them the schemas of containers
  /// that are none of these. Without either: one of all classes.
  public let versions: [SourceVersion]
  /// The name of the version that the app uses now: the schema of its container, else the last
  /// version. `nil` where its ``containers`` have different schemas.
  public let currentName: String?
  /// The containers whose stores are kept, one of each schema; those in memory only, in previews and
  /// in tests are left out. Empty where the source makes none.
  public let containers: [SourceContainer]
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
  /// - Parameter name: what the version is called that has no VersionedSchema.
  public init(_ files: [File], name: String = "current") {
    let read = files.map { SwiftFile(path: $0.path, bytes: $0.bytes) }
    let table = TypeTable(read)
    var reading = SchemaReader(table: table)
    let schemas = reading.schemas()
    let plan = reading.plan(
      schemas,
      named: read.flatMap(\.containers.containers).filter { !$0.isInMemory }.compactMap(\.plan))
    let listings = reading.listings(read, schemas)
    let remarks = read.flatMap(\.remarks) + table.remarks + reading.remarks
    var readers: [Int: EntityReader] = [:]
    func made(
      _ name: String, _ identifier: String = "1.0.0", at place: SourcePlace? = nil, listed: [Int],
      _ scope: [String] = [], _ own: [SourceRemark] = []
    ) -> SourceVersion {
      SourceVersion(
        name: name, identifier: identifier, place: place, listed: listed, scope: scope,
        table: table, remarks: own, warnings: remarks, readers: &readers)
    }
    var versions = schemas.map {
      made($0.name, $0.identifier, at: $0.place, listed: $0.listed, $0.path, $0.remarks)
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
    // A container whose classes are those of a version is of that version.
    var containers: [SourceContainer] = []
    var others: [(version: SourceVersion, place: SourcePlace)] = []
    var met: Set<Set<Int>> = []
    for listing in listings where listing.version != nil || met.insert(Set(listing.listed)).inserted
    {
      if let named = listing.version {
        containers.append(SourceContainer(version: named, place: listing.place))
        continue
      }
      let own = made(name, listed: listing.listed)
      if let same = versions.last(where: { $0.hasClasses(of: own) }) {
        containers.append(SourceContainer(version: same.name, place: listing.place))
      } else if !others.contains(where: { $0.version.hasClasses(of: own) }) {
        others.append((own, listing.place))
      }
    }
    let names = others.map { Self.stem(of: $0.place.path) }
    for (index, (own, place)) in others.enumerated() {
      var own = own
      if others.count > 1 {
        let isAlone = names.count { $0 == names[index] } == 1
        own.name = names[index] + (isAlone ? "" : "-\(place.line)")
      }
      if versions.contains(where: { $0.name == own.name }) { own.name += " (\(place))" }
      versions.append(own)
      containers.append(SourceContainer(version: own.name, place: place))
    }
    if versions.isEmpty, !reading.classes.isEmpty {
      versions = [made(name, listed: reading.classes)]
    }
    self.containers = containers.reduce(into: []) { all, one in
      if !all.contains(where: { $0.version == one.version }) { all.append(one) }
    }
    switch self.containers.count {
    case 0: currentName = plan?.versions.last ?? versions.last?.name
    case 1: currentName = self.containers[0].version
    default: currentName = nil
    }
    self.versions = versions
    self.plan = plan
    self.remarks = remarks
    notes = read.flatMap { file in
      file.notes.map { SourceRemark(SourcePlace(path: file.path, line: $0.line), $0.text) }
    }
  }

  /// A file's name without its ending.
  private static func stem(of path: String) -> String {
    let name = path.split(separator: "/").last ?? ""
    return String(name.hasSuffix(".swift") ? name.dropLast(6) : name)
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

/// A SchemaMigrationPlan as Swift source has it.
public struct SourcePlan: Sendable, Equatable {
  /// A step from one version to another.
  public struct Stage: Sendable, Equatable {
    /// Whether code of the app's own runs before or after it.
    public var isCustom: Bool
    /// Whether that code runs before the step as well, while the store is of the version before.
    public var runsBefore: Bool
    /// Names of properties that the code assigns, as far as it stands in the stage itself.
    public var assigned: Set<String>
    /// Name of the version that it begins with.
    public var from: String
    /// Name of the version that it leads to.
    public var to: String
    /// Where it is declared.
    public var place: SourcePlace
  }

  /// The plan's name.
  public var name: String
  /// Where it is declared.
  public var place: SourcePlace
  /// Names of the versions, the oldest first.
  public var versions: [String]
  /// The steps, in order.
  public var stages: [Stage]
  /// Whether SwiftData goes through stages: where the list of them is empty, it infers one step from
  /// the model in the store, and the versions of the plan do not matter.
  public var isStaged: Bool

  /// The stage between two versions.
  public func stage(from: String, to: String) -> Stage? {
    stages.first { $0.from == from && $0.to == to }
  }
}

/// A line of a file of Swift source.
public struct SourcePlace: Sendable, Hashable {
  /// The file's path, as it was given.
  public var path: String
  /// The line, from 1.
  public var line: Int

  /// Names a line.
  public init(path: String, line: Int) {
    self.path = path
    self.line = line
  }
}

extension SourcePlace: CustomStringConvertible {
  /// As compilers write it: `path:line`.
  public var description: String { "\(path):\(line)" }
}

/// What the reader of Swift source could not see, or took for granted, at a place.
public struct SourceRemark: Sendable, Equatable {
  /// Where it is.
  public var place: SourcePlace
  /// What it is, as a clause.
  public var message: String

  init(_ place: SourcePlace, _ message: String) {
    self.place = place
    self.message = message
  }
}

extension SourceRemark: CustomStringConvertible {
  /// `path:line: message`.
  public var description: String { "\(place): \(message)".printable }
}
