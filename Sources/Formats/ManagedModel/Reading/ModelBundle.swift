/// The versions of a model as a .xcdatamodeld or .momd keeps them.
///
/// It is made of bytes, so that the caller decides how files are read: ask ``isRelevant(_:)`` which
/// of a folder's files to read. A version that cannot be read keeps its error and hides no other.
public struct ModelBundle: Sendable {
  /// One version of the model.
  public struct Version: Sendable {
    /// The version's name, without extension.
    public let name: String
    /// The path of its file inside the bundle.
    public let path: String
    /// The model, or why it could not be read.
    public let result: Result<Model, CoreDataError>

    /// A version that was read, or could not be.
    package init(name: String, path: String, result: Result<Model, CoreDataError>) {
      self.name = name
      self.path = path
      self.result = result
    }

    /// - Throws: what reading the version ended in.
    public var model: Model { get throws(CoreDataError) { try result.get() } }
  }

  /// The bundle's name, without extension.
  public let name: String
  /// The versions, in natural order of their names: “Model 2” comes before “Model 10”.
  public let versions: [Version]
  /// The name that .xccurrentversion or VersionInfo.plist marks as current, whether or not there is
  /// such a version; the only version's name where neither file says.
  public let currentVersionName: String?
  /// The hashes VersionInfo.plist states: version name to entity name to hash.
  public let statedVersionHashes: [String: [String: VersionHash]]
  /// The checksums VersionInfo.plist states, by version name.
  public let statedVersionChecksums: [String: String]
  /// What was odd about the bundle itself, as sentences.
  public let warnings: [String]

  /// Reads the versions among a bundle's files.
  ///
  /// - Parameters:
  ///   - name: the bundle's file name; an extension is dropped.
  ///   - files: path relative to the bundle, with `/`, to the file's bytes.
  /// - Throws: ``CoreDataError`` of kind unreadable when no file is a version.
  public init(name: String, files: [String: [UInt8]]) throws(CoreDataError) {
    let name = Self.withoutExtension(name)
    var warnings: [String] = []
    var current: String?
    var info = PropertyListValue.null
    for (path, bytes) in files.sorted(by: { $0.key < $1.key }) {
      do {
        switch path {
        case Self.currentVersionFile:
          current = try PropertyList.read(bytes)["_XCCurrentVersionName"]?.string
            .map(Self.withoutExtension)
        case Self.versionInfoFile:
          info = try PropertyList.read(bytes)
        default: break
        }
      } catch {
        warnings.append("\(path) could not be read: \(error.message)")
      }
    }
    current = current ?? info["NSManagedObjectModel_CurrentVersionName"]?.string
    let named = files.keys.sorted().compactMap { path -> (name: String, path: String)? in
      // Later versions of Xcode write contents, and may leave the other file beside it.
      if path.hasSuffix(Self.elements),
        files[String(path.dropLast(Self.elements.count)) + "contents"] != nil
      {
        return nil
      }
      return Self.versionName(path, bundle: name).map { (name: $0, path: path) }
    }
    var last: Model?
    let versions = named.sorted { Self.naturallyPrecedes($0.name, $1.name) }.map { name, path in
      let result = Self.read(path, files[path] ?? []).map { model in
        last.map(model.sharing) ?? model
      }
      last = (try? result.get()) ?? last
      return Version(name: name, path: path, result: result)
    }
    guard !versions.isEmpty else {
      throw CoreDataError(
        .unreadable, "it contains no version of a model",
        hint: "a .xcdatamodeld holds .xcdatamodel folders, a .momd holds .mom files")
    }
    self.name = name
    self.versions = versions
    currentVersionName = current ?? (versions.count == 1 ? versions[0].name : nil)
    statedVersionHashes = (info["NSManagedObjectModel_VersionHashes"]?.dictionary ?? [:])
      .mapValues { entities in
        (entities.dictionary ?? [:]).compactMapValues { value in
          value.data.flatMap { VersionHash(bytes: $0) }
        }
      }
    statedVersionChecksums = (info["NSManagedObjectModel_VersionChecksums"]?.dictionary ?? [:])
      .compactMapValues(\.string)
    self.warnings = warnings
  }

  /// Makes a bundle of versions that were read from something else than a folder of models.
  package init(
    name: String, versions: [Version], currentVersionName: String?, warnings: [String]
  ) {
    self.name = name
    self.versions = versions
    self.currentVersionName = currentVersionName
    statedVersionHashes = [:]
    statedVersionChecksums = [:]
    self.warnings = warnings
  }

  /// The version that is marked as current, or the only one.
  public var currentVersion: Version? {
    versions.first { $0.name == currentVersionName }
  }

  /// The version of that name, with or without its extension.
  ///
  /// - Throws: ``CoreDataError`` of kind usage that lists the versions there are.
  public func version(named name: String) throws(CoreDataError) -> Version {
    let short = Self.withoutExtension(name)
    if let version = versions.first(where: { $0.name == name })
      ?? versions.first(where: { $0.name == short })
    {
      return version
    }
    throw CoreDataError(
      .usage, "the model “\(self.name)” has no version “\(name)”",
      hint: Nearest.hint(ofVersion: short, in: versions.map(\.name)))
  }

  /// The versions whose model has exactly these hashes, as a store of theirs states them.
  public func versions(matching hashes: [String: VersionHash]) -> [Version] {
    versions.filter { (try? $0.model.versionHashes) == hashes }
  }

  /// Whether a file inside a bundle, by its relative path, is one that the bundle is made of.
  ///
  /// The .omo beside a .mom is Apple's private, optimised copy of it and is not needed.
  public static func isRelevant(_ path: String) -> Bool {
    path == currentVersionFile || path == versionInfoFile
      || versionName(path, bundle: "") != nil
  }

  private static let currentVersionFile = ".xccurrentversion"
  /// What Xcode 3 wrote in the place of `contents`.
  package static let elements = "elements"
  private static let versionInfoFile = "VersionInfo.plist"

  /// The version a path inside the bundle holds; a lone `contents` is a bundle of one version.
  private static func versionName(_ path: String, bundle: String) -> String? {
    let parts = path.split(separator: "/", omittingEmptySubsequences: true)
    guard let last = parts.last, let first = parts.first else { return nil }
    switch parts.count {
    case 1 where last == "contents" || last == elements: return bundle
    case 1 where last.hasSuffix(".mom"): return String(last.dropLast(4))
    case 2 where (last == "contents" || last == elements) && first.hasSuffix(".xcdatamodel"):
      return String(first.dropLast(".xcdatamodel".count))
    default: return nil
    }
  }

  private static func read(_ path: String, _ bytes: [UInt8]) -> Result<Model, CoreDataError> {
    Result { () throws(CoreDataError) in
      try path.hasSuffix("contents") ? Model(contents: bytes) : Model(archive: bytes)
    }.mapError { $0.at(path: path) }
  }

  private static func withoutExtension(_ name: String) -> String {
    for suffix in [".xcdatamodeld", ".xcdatamodel", ".momd", ".mom"] where name.hasSuffix(suffix) {
      return String(name.dropLast(suffix.count))
    }
    return name
  }

  /// Compares runs of digits as numbers, however long, and everything else as text: “Model 2”
  /// comes before “Model 10”, 2.7 before 2.21.1.
  package static func naturallyPrecedes(_ a: String, _ b: String) -> Bool {
    let (left, right) = (runs(a), runs(b))
    for (one, other) in zip(left, right) where one != other {
      if one.utf8.first?.isDigit == true, other.utf8.first?.isDigit == true {
        let (first, second) = (one.drop { $0 == "0" }, other.drop { $0 == "0" })
        if first.count != second.count { return first.count < second.count }
        if first != second { return first < second }
      }
      return one < other
    }
    return left.count == right.count ? a < b : left.count < right.count
  }

  private static func runs(_ text: String) -> [String] {
    var result: [String] = []
    var wasDigit: Bool?
    for character in text {
      let isDigit = character.isASCII && character.isNumber
      if isDigit == wasDigit, let last = result.indices.last {
        result[last].append(character)
      } else {
        result.append(String(character))
      }
      wasDigit = isDigit
    }
    return result
  }
}
