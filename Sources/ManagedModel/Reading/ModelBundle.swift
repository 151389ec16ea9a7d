/// The versions of a model as a .xcdatamodeld or .momd keeps them.
///
/// It is made of bytes, so that the caller decides how files are read: ask ``isRelevant(_:)`` which
/// of a folder's files to read. A version that cannot be read keeps its error and hides no other.
public struct ModelBundle: Sendable {
  public struct Version: Sendable {
    /// The version's name, without extension.
    public let name: String
    /// The path of its file inside the bundle.
    public let path: String
    public let result: Result<Model, CoreDataError>

    /// - Throws: what reading the version ended in.
    public var model: Model { get throws { try result.get() } }
  }

  /// The bundle's name, without extension.
  public let name: String
  /// The versions, in natural order of their names.
  public let versions: [Version]
  public let currentVersionName: String?
  /// The hashes VersionInfo.plist states: version name to entity name to hash.
  public let statedVersionHashes: [String: [String: VersionHash]]
  /// The checksums VersionInfo.plist states, by version name.
  public let statedVersionChecksums: [String: String]

  /// - Parameters:
  ///   - name: the bundle's file name; an extension is dropped.
  ///   - files: path relative to the bundle, with `/`, to the file's bytes.
  public init(name: String, files: [String: [UInt8]]) throws {
    self.name = name
    versions = []
    currentVersionName = nil
    statedVersionHashes = [:]
    statedVersionChecksums = [:]
  }

  /// The version that is marked as current, or the only one.
  public var currentVersion: Version? { nil }

  /// The version of that name, with or without its extension.
  ///
  /// - Throws: ``CoreDataError`` of kind usage that lists the versions there are.
  public func version(named name: String) throws -> Version {
    throw CoreDataError(.usage, "no version “\(name)”")
  }

  /// Whether a file inside a bundle, by its relative path, is one that the bundle is made of.
  public static func isRelevant(_ path: String) -> Bool { false }
}
