import ManagedModel

/// The versions of an app's model in the order in which they came.
///
/// The order is the natural one of their names: “Model” before “Model 2” before “Model 10”, 2.7
/// before 2.21.1.
public struct ModelVersions: Sendable, Equatable {
  /// One version of the model.
  public struct Version: Sendable, Equatable {
    /// The version's name; with its bundle's before it where two bundles have different versions of
    /// one name.
    public package(set) var name: String
    /// The model itself.
    public let model: Model
    /// Hash of each entity: computed once, since they are compared often.
    public let hashes: [String: VersionHash]
    /// Where it was read, as ``ModelReference`` takes it; `nil` for one that was made.
    public let path: String?
    /// The keyed archive it was read from, where it came as one.
    public let archive: [UInt8]?

    /// Makes a version of a model.
    public init(name: String, model: Model, path: String? = nil, archive: [UInt8]? = nil) {
      self.name = name
      self.model = model
      hashes = model.versionHashes
      self.path = path
      self.archive = archive
    }
  }

  /// The versions that could be read, in order.
  public let versions: [Version]
  /// Why others could not be read; none of them hides the rest.
  public let unreadable: [CoreDataError]
  /// Where they were read; `nil` for versions that were made.
  public let path: String?

  /// Most versions that a way is looked for through.
  package static let limit = 1000

  /// Puts versions in order.
  public init(_ versions: [Version], unreadable: [CoreDataError] = [], path: String? = nil) {
    self.versions = versions.enumerated().sorted { a, b in
      a.element.name == b.element.name
        ? a.offset < b.offset : ModelBundle.naturallyPrecedes(a.element.name, b.element.name)
    }.map(\.element)
    self.unreadable = unreadable
    self.path = path
  }

  /// The versions with exactly these hashes, in order.
  public func versions(matching hashes: [String: VersionHash]) -> [Version] {
    versions.filter { $0.hashes == hashes }
  }

  /// The versions that may have made a store with these hashes: those of one configuration, too, as
  /// long as no version has just these.
  package func versions(making hashes: [String: VersionHash]) -> [Version] {
    let exact = versions(matching: hashes)
    guard exact.isEmpty else { return exact }
    return versions.filter { !$0.model.configurations(matching: hashes, of: $0.hashes).isEmpty }
  }

  /// The version that most entities of a store fit; `nil` where none fits any.
  public func nearest(
    to hashes: [String: VersionHash]
  ) -> (version: Version, matching: Int, of: Int)? {
    var best: (version: Version, matching: Int, of: Int)?
    for version in versions {
      let matching = hashes.count { version.hashes[$0.key] == $0.value }
      let of = Set(hashes.keys).union(version.hashes.keys).count
      guard matching > 0 else { continue }
      if let best, matching * best.of <= best.matching * of { continue }
      best = (version, matching, of)
    }
    return best
  }
}
